"""Soft decoding: the least cost, the largest score, the same class."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from fewbits.classify.decoders import Nearest, Soft, _reliability
from fewbits.classify.decoders import _soft as module
from fewbits.classify.decoders._reliability import (
    Reliabilities,
    pair_costs,
    reliabilities,
)
from fewbits.classify.decoders._soft_near import compare_near
from fewbits.codes import unpack


def check(case, found, nearest_of):
    _, rows, ties = nearest_of(case.costs)
    np.testing.assert_array_equal(found.rows, rows)
    np.testing.assert_array_equal(found.ties, ties)


@given(data=st.data())
def test_finds_the_least_cost(drawn, nearest_of, data):
    case = drawn(data)
    if len(case.scores):
        check(case, Soft().decode(case.book, case.scores), nearest_of)


@given(data=st.data())
def test_finds_the_largest_score(drawn, data):
    """Where scores are whole numbers, both sums are exact, ties included."""
    case = drawn(data)
    signs = 2.0 * unpack(case.book.codes, case.book.n_bits) - 1
    if len(case.scores):
        rows = (case.scores @ signs.T).argmax(axis=1)
        np.testing.assert_array_equal(Soft().decode(case.book, case.scores).rows, rows)


@given(data=st.data())
def test_near_classes_are_enough(drawn, data):
    case = drawn(data)
    said = reliabilities(case.scores, 0)
    everything = module.compare_all(case.book, said)
    found, rest = compare_near(case.book, said)
    near = np.setdiff1d(np.arange(len(case.scores)), rest)
    for field in ("distances", "rows", "ties"):
        plain = getattr(everything, field)[near]
        np.testing.assert_array_equal(getattr(found, field)[near], plain)


def test_among_many_both_ways_are_used(make, nearest_of, monkeypatch):
    monkeypatch.setattr(module, "_FEW", 1000)
    case = make(6000, 40, 200, 4, largest=100, noise=1.5)
    rest = compare_near(case.book, reliabilities(case.scores, 0))[1]
    assert 0 < len(rest) < 200
    check(case, Soft().decode(case.book, case.scores), nearest_of)


def test_blocks_do_not_matter(make, nearest_of, monkeypatch):
    case = make(700, 20, 100, 1, largest=2)
    monkeypatch.setattr(module, "_ENTRIES", 1000)
    check(case, Soft().decode(case.book, case.scores), nearest_of)


def test_only_proportions_count(make):
    case = make(100, 40, 50, 2)
    expected = Soft().decode(case.book, case.scores.astype(np.float32))
    for factor in (2.0**-100, 3e-20, 7.0, 1e100):
        found = Soft().decode(case.book, case.scores * factor)
        np.testing.assert_array_equal(found.rows, expected.rows)


def test_scores_of_any_real_dtype(make):
    case = make(30, 12, 20, 3, largest=3)
    expected = Soft().decode(case.book, case.scores).rows
    for dtype in ("f2", "f4", "i1", ">f8"):
        found = Soft().decode(case.book, case.scores.astype(dtype))
        np.testing.assert_array_equal(found.rows, expected)
    assert (Soft().decode(case.book, case.scores.tolist()).rows == expected).all()


def test_scores_of_zero_cost_nothing(make):
    case = make(10, 8, 0, 0)
    found = Soft().decode(case.book, np.zeros((1, 8)))
    assert (found.rows[0], found.ties[0]) == (0, 10)


def test_is_right_more_often_than_nearest(make):
    case = make(500, 16, 2000, 0, noise=0.8, collide=False)
    soft = Soft().decode(case.book, case.scores).rows
    nearest = Nearest().decode(case.book, case.codes).rows
    assert (soft == case.rows).mean() > (nearest == case.rows).mean() + 0.1


class TestReliabilities:
    @given(
        scores=st.lists(
            st.floats(-1e150, 1e150, allow_subnormal=True), min_size=1, max_size=70
        )
    )
    def test_are_whole_numbers_with_exact_sums(self, scores):
        costs = reliabilities(np.array([scores]), 0).costs
        assert (costs == np.rint(costs)).all()
        assert (costs >= 0).all()
        assert sum(int(cost) for cost in costs[0]) <= 2**53
        largest = np.abs(scores).max()
        if largest:
            unit = largest / costs.max()
            np.testing.assert_allclose(
                costs[0] * unit, np.abs(scores), rtol=0, atol=largest * 2.0**-43
            )

    def test_of_float32_are_exact_in_a_wide_range(self):
        rng = np.random.default_rng(0)
        scores = np.exp2(rng.uniform(-22, 0, (100, 64))).astype(np.float32)
        costs = reliabilities(scores.astype(float), 0).costs
        quotients = costs / scores
        assert (quotients == quotients[:, :1]).all()
        assert (np.frexp(quotients)[0] == 0.5).all()  # powers of two

    def test_pairs_in_blocks(self, make, monkeypatch):
        case = make(30, 20, 10, 0, largest=9)
        said = Reliabilities(case.codes, np.abs(case.scores))
        items, rows = np.divmod(np.arange(300), 30)
        for entries in (1, 50, 10_000):
            monkeypatch.setattr(_reliability, "_ENTRIES", entries)
            found = pair_costs(said, items, case.book.codes[rows])
            np.testing.assert_array_equal(found, case.costs.ravel())

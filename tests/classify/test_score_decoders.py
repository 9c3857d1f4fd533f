"""Decoders of scores: soft decoding, and ordered guessing, which comes near to it."""

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fewbits.classify import Codebook
from fewbits.classify.decoders import Exact, Nearest, Orbgrand, Soft
from fewbits.codes import pack, unpack
from fewbits.errors import ArgumentError


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


def test_among_many_near_classes_are_enough_or_all_are_compared(make, nearest_of):
    case = make(7000, 40, 200, 4, largest=100, noise=1.5)
    found = Soft().decode(case.book, case.scores)
    check(case, found, nearest_of)
    with_all = found.comparisons == 3 * len(case.book)
    assert 0 < with_all.sum() < 200


def test_blocks_of_classes_and_of_items_do_not_matter(make, nearest_of):
    case = make(4200, 12, 260, 1, largest=2)
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


def all_sets(weights):
    """Return all sets of places by (sum of weights, last place, last but one, ...)."""
    n = len(weights)
    sets = [s for size in range(n + 1) for s in combinations(range(n), size)]
    return sorted(sets, key=lambda s: (sum(weights[i] for i in s), s[::-1]))


def guess_by_hand(case, max_queries, order):
    """Flip bits one set after the other, in Python."""
    n_bits, answers = case.book.n_bits, []
    codes = {}
    for row, code in enumerate(case.book.codes):
        codes.setdefault(code.tobytes(), []).append(row)
    for score in case.scores:
        places = np.argsort(np.abs(score), kind="stable")
        costs = np.abs(score)[places]
        weights = costs if order == "costs" else np.arange(1, n_bits + 1)
        found, level, tried = [], None, 0
        for flips in all_sets(weights)[:max_queries]:
            total = sum(weights[i] for i in flips)
            if found and (order == "ranks" or total > level):
                break
            tried += 1
            bits = score > 0
            bits[places[list(flips)]] ^= True
            hit = codes.get(pack([bits])[0].tobytes())
            if hit:
                found, level = found + hit, total
        answers.append((min(found, default=-1), len(found), tried))
    return np.array(answers, np.int64).reshape(-1, 3).T


@given(
    data=st.data(),
    max_queries=st.integers(1, 600),
    order=st.sampled_from(["ranks", "costs"]),
)
def test_guesses_in_order(drawn, data, max_queries, order):
    case = drawn(data, 9)
    rows, ties, lookups = guess_by_hand(case, max_queries, order)
    found = Orbgrand(max_queries, order=order).decode(case.book, case.scores)
    np.testing.assert_array_equal(found.rows, rows)
    np.testing.assert_array_equal(found.ties, ties)
    np.testing.assert_array_equal(found.lookups, lookups)
    assert not found.comparisons.any()


@given(data=st.data())
def test_without_limit_the_first_hit_is_the_soft_answer(drawn, data):
    """With the costs as they are, ties included: the lowest row of the least cost."""
    case = drawn(data, 12)
    soft = Soft().decode(case.book, case.scores)
    found = Orbgrand(2**12, order="costs").decode(case.book, case.scores)
    for field in ("rows", "ties", "distances"):
        expected = getattr(soft, field)
        np.testing.assert_array_equal(getattr(found, field), expected)


@given(data=st.data(), max_queries=st.integers(1, 3000))
def test_within_a_budget_it_is_the_soft_answer_or_none(drawn, data, max_queries):
    case = drawn(data)
    soft = Soft().decode(case.book, case.scores)
    found = Orbgrand(max_queries, order="costs").decode(case.book, case.scores)
    same = (found.rows == -1) | (found.distances == soft.distances)
    # Where the max_queries ends among guesses of equal cost, some of them are not made.
    cut = found.ties < soft.ties
    assert (same | cut).all()
    assert (
        found.rows[~cut & (found.rows >= 0)] == soft.rows[~cut & (found.rows >= 0)]
    ).all()


@pytest.mark.parametrize("order", ["ranks", "costs"])
def test_more_guesses_answer_more_and_cover_what_fewer_did(make, order):
    case = make(300, 20, 400, 1)
    answered, before = [], None
    for max_queries in (1, 10, 100, 1000, 10_000):
        found = Orbgrand(max_queries, order=order).decode(case.book, case.scores)
        answered.append((found.rows >= 0).mean())
        if before is not None:
            known = before.rows >= 0
            np.testing.assert_array_equal(found.rows[known], before.rows[known])
            np.testing.assert_array_equal(found.lookups[known], before.lookups[known])
            assert (before.lookups[~known] == before.lookups.max()).all()
        before = found
    assert answered == sorted(answered)
    assert answered[-1] > answered[0] + 0.3


def test_accuracy_rises_from_exact_beyond_nearest(make):
    case = make(300, 20, 1000, 0, noise=0.8, collide=False)

    def accuracy(found):
        return (found.rows == case.rows).mean()

    exact = accuracy(Exact().decode(case.book, case.codes))
    nearest = accuracy(Nearest().decode(case.book, case.codes))
    for order in ("ranks", "costs"):
        rising = [
            accuracy(Orbgrand(max_queries, order=order).decode(case.book, case.scores))
            for max_queries in (1, 10, 100, 1000, 10_000)
        ]
        assert rising[0] == exact
        assert rising == sorted(rising)
        assert rising[-1] > nearest + 0.05


def test_sums_of_ranks_rise_to_the_last_guess():
    """The set of rank 55 alone comes behind all sets of a smaller or the same sum."""
    counts = np.zeros(56, int)  # of sets of different ranks, by their sum
    counts[0] = 1
    for rank in range(1, 56):
        counts[rank:] += counts[: 56 - rank].copy()
    scores = np.arange(1.0, 101)
    book = Codebook(pack([scores != 55]), 100)
    found = Orbgrand(10**5).decode(book, [scores])
    assert found.lookups.tolist() == [counts.sum()]
    assert found.rows.tolist() == [0]


@pytest.mark.parametrize("order", ["ranks", "costs"])
def test_long_codes_with_the_same_key_are_told_apart(flips_of_no_key, order):
    rng = np.random.default_rng(0)
    bits = rng.random((6, 70)) < 0.5
    book = Codebook(pack(bits), 70)
    twins = bits ^ flips_of_no_key(book.table.words)
    scores = np.where(twins, 1, -1) * rng.uniform(1, 2, twins.shape)
    answers = Orbgrand(300, order=order).decode(book, scores)
    assert (answers.rows == -1).all()


@pytest.mark.parametrize(
    ("max_queries", "order", "message"),
    [
        (0, "ranks", "max_queries must lie between 1 and 1,048,576, got 0"),
        (-5, "costs", "max_queries must lie between 1 and"),
        (2**20 + 1, "ranks", "max_queries must lie between 1 and"),
        (10.0, "ranks", "max_queries must be a whole number, got 10.0"),
        (10, "random", "order must be one of ranks, costs, got 'random'"),
    ],
)
def test_mistakes(make, max_queries, order, message):
    case = make(3, 8, 2, 0)
    with pytest.raises(ArgumentError, match=message):
        Orbgrand(max_queries, order=order).decode(case.book, case.scores)

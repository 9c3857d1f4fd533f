"""Ordered guessing: from exact decoding to soft decoding, look-up by look-up."""

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fewbits.classify import Codebook
from fewbits.classify import _code_table as tables
from fewbits.classify.decoders import Exact, Nearest, Orbgrand, Soft
from fewbits.classify.decoders import _orbgrand as module
from fewbits.classify.decoders._flips import cheapest_flips, rank_flips
from fewbits.codes import pack
from fewbits.errors import ArgumentError


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
        for each in all_sets(weights)[:max_queries]:
            total = sum(weights[i] for i in each)
            if found and (order == "ranks" or total > level):
                break
            tried += 1
            bits = score > 0
            bits[places[list(each)]] ^= True
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


@pytest.mark.parametrize("order", ["ranks", "costs"])
def test_blocks_do_not_matter(make, monkeypatch, order):
    case = make(100, 65, 60, 2, noise=0.4)
    expected = Orbgrand(500, order=order).decode(case.book, case.scores)
    monkeypatch.setattr(module, "BLOCK", 30)
    monkeypatch.setattr(module, "_SORTED", 1000)
    found = Orbgrand(500, order=order).decode(case.book, case.scores)
    for field in ("distances", "rows", "ties", "lookups"):
        np.testing.assert_array_equal(getattr(found, field), getattr(expected, field))


@pytest.mark.parametrize("order", ["ranks", "costs"])
def test_long_codes_with_the_same_key_are_told_apart(make, monkeypatch, order):
    """Keys of 9 bits: most codes that are found are not the ones looked up."""
    case = make(6, 70, 60, 5, noise=0.5)
    expected = Orbgrand(300, order=order).decode(case.book, case.scores)

    def words(n_bits, seed):
        return np.random.default_rng(seed).integers(0, 512, n_bits, dtype=np.uint64)

    monkeypatch.setattr(tables, "_words", words)
    book = Codebook(case.book.codes, 70)
    found = Orbgrand(300, order=order).decode(book, case.scores)
    for field in ("distances", "rows", "ties", "lookups"):
        np.testing.assert_array_equal(getattr(found, field), getattr(expected, field))


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


class TestFlips:
    @pytest.mark.parametrize("n_bits", [1, 2, 5, 9])
    def test_of_ranks_come_in_order(self, n_bits):
        everything = all_sets(range(1, n_bits + 1))
        for max_queries in (1, 2, 7, 100, 2**n_bits, 2**n_bits + 5):
            found = [
                tuple(int(rank) - 1 for rank in row[row > 0][::-1])
                for row in rank_flips(n_bits, max_queries)
            ]
            assert found == everything[:max_queries]

    def test_of_ranks_hold_the_largest_budget(self):
        flips = rank_flips(65_536, 100_000)
        sums = flips.astype(int).sum(axis=1)
        assert len(flips) == 100_000
        assert (np.diff(sums) >= 0).all()
        assert sums.max() < 256

    @given(
        costs=st.lists(st.integers(0, 6), min_size=1, max_size=9),
        max_queries=st.integers(1, 600),
    )
    def test_of_costs_come_in_order(self, costs, max_queries):
        costs = np.sort(np.array([costs, costs[::-1]], float), axis=1)
        words = np.uint64(1) << np.arange(costs.shape[1], dtype=np.uint64)
        sums, keys = cheapest_flips(costs, np.array([words, words]), max_queries)
        everything = all_sets(costs[0])[:max_queries]
        for row in range(2):
            assert keys[row].tolist() == [sum(2**i for i in s) for s in everything]
            assert sums[row].tolist() == [sum(costs[0][list(s)]) for s in everything]

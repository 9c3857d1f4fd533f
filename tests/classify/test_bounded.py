"""The nearest class within a radius, by look-ups or by comparisons."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fewbits.classify import Codebook
from fewbits.classify import _code_table as tables
from fewbits.classify.decoders import Bounded, Nearest
from fewbits.classify.decoders import _bounded as module
from fewbits.classify.decoders._bounded import ball_size, shells
from fewbits.errors import ArgumentError


@given(data=st.data(), radius=st.integers(0, 3))
def test_both_ways_find_the_nearest_within_the_radius(drawn, nearest_of, data, radius):
    case = drawn(data)
    if not len(case.codes):
        return
    expected = nearest_of(case.distances, radius)
    for method in ("look-ups", "exhaustive", "auto"):
        found = Bounded(radius, method=method).decode(case.book, case.codes)
        for array, wanted in zip(
            (found.distances, found.rows, found.ties), expected, strict=True
        ):
            np.testing.assert_array_equal(array, wanted)


@given(data=st.data())
def test_of_any_radius_is_nearest(drawn, data):
    case = drawn(data, 12)
    everything = Bounded(10**6, method="look-ups").decode(case.book, case.codes)
    nearest = Nearest().decode(case.book, case.codes)
    np.testing.assert_array_equal(everything.rows, nearest.rows)
    np.testing.assert_array_equal(everything.ties, nearest.ties)


@pytest.mark.parametrize(
    ("n_bits", "radius"), [(1, 1), (6, 0), (6, 3), (6, 6), (70, 2)]
)
def test_shells_hold_every_code_once(n_bits, radius):
    words = np.uint64(1) << np.arange(min(n_bits, 64), dtype=np.uint64)
    if n_bits > 64:
        words = np.random.default_rng(0).integers(0, 2**63, n_bits).astype(np.uint64)
    found = list(shells(words, radius))
    assert len(found) == radius + 1
    together = np.concatenate(found)
    assert len(np.unique(together)) == len(together) == ball_size(n_bits, radius)
    if n_bits <= 64:
        for distance, keys in enumerate(found):
            assert (np.bitwise_count(keys) == distance).all()


def test_the_ball_is_looked_up_until_something_is_found(make):
    case = make(5, 20, 50, 0, noise=0.5)
    found = Bounded(2, method="look-ups").decode(case.book, case.codes)
    tried = {-1: ball_size(20, 2)} | {d: ball_size(20, d) for d in range(3)}
    assert found.lookups.tolist() == [tried[d] for d in found.distances.tolist()]
    assert not found.comparisons.any()
    compared = Bounded(2, method="exhaustive").decode(case.book, case.codes)
    assert (compared.comparisons == 5).all()


def test_small_balls_among_many_classes_are_looked_up(make):
    case = make(20_000, 30, 10, 0)
    assert Bounded(1).decode(case.book, case.codes).lookups.all()
    assert not Bounded(2).decode(case.book, case.codes).lookups.any()


def test_blocks_do_not_matter(make, monkeypatch):
    case = make(50, 65, 30, 1)
    expected = Bounded(2, method="look-ups").decode(case.book, case.codes)
    monkeypatch.setattr(module, "BLOCK", 100)
    monkeypatch.setattr(tables, "BLOCK", 70)
    found = Bounded(2, method="look-ups").decode(case.book, case.codes)
    np.testing.assert_array_equal(found.rows, expected.rows)
    np.testing.assert_array_equal(found.ties, expected.ties)


def test_long_codes_with_the_same_key_are_told_apart(monkeypatch, nearest_of, make):
    """Keys of 9 bits: most codes that are found are not the ones looked up."""

    def words(n_bits, seed):
        return np.random.default_rng(seed).integers(0, 512, n_bits, dtype=np.uint64)

    monkeypatch.setattr(tables, "_words", words)
    case = make(6, 70, 40, 5, noise=0.5)
    distances, rows, ties = nearest_of(case.distances, 2)
    found = Bounded(2, method="look-ups").decode(case.book, case.codes)
    np.testing.assert_array_equal(found.rows, rows)
    np.testing.assert_array_equal(found.distances, distances)
    np.testing.assert_array_equal(found.ties, ties)


@pytest.mark.parametrize(
    ("radius", "method", "message"),
    [
        (-1, "auto", "radius must be at least 0, got -1"),
        (1.5, "auto", "radius must be a whole number, got 1.5"),
        (5, "look-ups", "8,303,633 codes of 64 bits lie within radius 5, too many"),
        (1, "guess", "method must be one of auto, look-ups, exhaustive, got 'guess'"),
    ],
)
def test_mistakes(radius, method, message):
    book = Codebook(np.zeros((1, 8), np.uint8), 64)
    with pytest.raises(ArgumentError, match=message):
        Bounded(radius, method=method).decode(book, book.codes)

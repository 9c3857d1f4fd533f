"""Decoders of codes: exact, bounded, nearest, by look-ups or by comparisons."""

from math import comb

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fewbits.classify import Codebook
from fewbits.classify.decoders import Bounded, Exact, Nearest, Orbgrand
from fewbits.codes import pack
from fewbits.errors import ArgumentError


def check(found, expected):
    for array, wanted in zip(
        (found.distances, found.rows, found.ties), expected, strict=True
    ):
        np.testing.assert_array_equal(array, wanted)


@given(data=st.data())
def test_finds_classes_with_the_same_code(drawn, nearest_of, data):
    case = drawn(data)
    if not len(case.codes):
        return
    found = Exact(ties="first").decode(case.book, case.codes)
    check(found, nearest_of(case.distances, radius=0))


def test_several_classes_with_the_code_are_none():
    book = Codebook(pack([[0, 0], [1, 1], [0, 0]]), 2, ["cat", "dog", "lynx"])
    found = Exact().decode(book, book.codes)
    assert found.rows.tolist() == [-1, 1, -1]
    assert found.ties.tolist() == [2, 1, 2]
    assert found.distances.tolist() == [0, 0, 0]
    first = Exact(ties="first").decode(book, book.codes).rows
    assert first.tolist() == [0, 1, 0]


@given(data=st.data())
def test_is_the_bounded_decoder_of_radius_0_and_a_budget_of_1(drawn, data):
    case = drawn(data)
    exact = Exact().decode(case.book, case.codes)
    for method in ("look-ups", "exhaustive"):
        other = Bounded(0, ties="none", method=method).decode(case.book, case.codes)
        np.testing.assert_array_equal(other.rows, exact.rows)
    for order in ("ranks", "costs"):
        other = Orbgrand(1, order=order, ties="none").decode(case.book, case.scores)
        np.testing.assert_array_equal(other.rows, exact.rows)


def test_one_look_up_each(make):
    found = Exact().decode(make(9, 12, 5, 0).book, make(9, 12, 5, 0).codes)
    assert found.lookups.tolist() == [1] * 5
    assert found.comparisons.tolist() == [0] * 5


@pytest.mark.parametrize("n_bits", [64, 100])
def test_many_items(n_bits):
    rng = np.random.default_rng(0)
    codes = pack(rng.random((100_000, n_bits)) < 0.5)
    rows = rng.integers(0, 100_000, 300_000)
    found = Exact().decode(Codebook(codes, n_bits), codes[rows])
    np.testing.assert_array_equal(found.rows, rows)


@given(data=st.data(), radius=st.integers(0, 3))
def test_both_ways_find_the_nearest_within_the_radius(drawn, nearest_of, data, radius):
    case = drawn(data)
    if not len(case.codes):
        return
    expected = nearest_of(case.distances, radius)
    for method in ("look-ups", "exhaustive", "auto"):
        found = Bounded(radius, method=method).decode(case.book, case.codes)
        check(found, expected)


@given(data=st.data())
def test_of_any_radius_is_nearest(drawn, data):
    case = drawn(data, 12)
    everything = Bounded(10**6, method="look-ups").decode(case.book, case.codes)
    nearest = Nearest().decode(case.book, case.codes)
    np.testing.assert_array_equal(everything.rows, nearest.rows)
    np.testing.assert_array_equal(everything.ties, nearest.ties)


def test_the_ball_is_looked_up_until_something_is_found(make):
    case = make(5, 20, 50, 0, noise=0.5)
    found = Bounded(2, method="look-ups").decode(case.book, case.codes)
    sizes = np.cumsum([comb(20, distance) for distance in range(3)])
    tried = {-1: sizes[2], 0: sizes[0], 1: sizes[1], 2: sizes[2]}
    assert found.lookups.tolist() == [tried[d] for d in found.distances.tolist()]
    assert not found.comparisons.any()
    compared = Bounded(2, method="exhaustive").decode(case.book, case.codes)
    assert (compared.comparisons == 5).all()


def test_small_balls_among_many_classes_are_looked_up(make):
    case = make(20_000, 30, 10, 0)
    assert Bounded(1).decode(case.book, case.codes).lookups.all()
    assert not Bounded(2).decode(case.book, case.codes).lookups.any()


def test_balls_of_many_codes_are_looked_up_in_parts(make):
    case = make(50, 65, 30, 1)  # 45,761 codes within 3 bits
    found = Bounded(3, method="look-ups").decode(case.book, case.codes)
    plain = Bounded(3, method="exhaustive").decode(case.book, case.codes)
    check(found, (plain.distances, plain.rows, plain.ties))


def test_long_codes_with_the_same_key_are_told_apart(flips_of_no_key):
    bits = np.random.default_rng(0).random((6, 70)) < 0.5
    book = Codebook(pack(bits), 70)
    codes = pack(bits ^ flips_of_no_key(book.table.words))
    np.testing.assert_array_equal(book.table.keys(codes), book.table.keys(book.codes))
    for decoder in (Exact(ties="first"), Bounded(2, method="look-ups")):
        assert (decoder.decode(book, codes).rows == -1).all()
        assert decoder.decode(book, book.codes).rows.tolist() == [*range(6)]


@pytest.mark.parametrize(
    ("radius", "method", "message"),
    [
        (-1, "auto", "radius must be at least 0, got -1"),
        (1.5, "auto", "radius must be a whole number, got 1.5"),
        (5, "look-ups", "8,303,633 codes of 64 bits lie within radius 5, too many"),
        (1, "guess", "method must be one of auto, look-ups, exhaustive, got 'guess'"),
    ],
)
def test_mistakes_about_bounds(radius, method, message):
    book = Codebook(np.zeros((1, 8), np.uint8), 64)
    with pytest.raises(ArgumentError, match=message):
        Bounded(radius, method=method).decode(book, book.codes)


@given(data=st.data())
def test_every_way_finds_the_nearest(drawn, nearest_of, data):
    case = drawn(data)
    if not len(case.codes):
        return
    for method in ("auto", "look-ups", "exhaustive"):
        found = Nearest(method=method).decode(case.book, case.codes)
        check(found, nearest_of(case.distances))


@pytest.mark.parametrize("n_bits", [20, 64, 100])
def test_among_many(make, nearest_of, n_bits):
    case = make(5000, n_bits, 200, 0)
    for method in ("look-ups", "exhaustive"):
        found = Nearest(method=method).decode(case.book, case.codes)
        check(found, nearest_of(case.distances))


def test_what_takes_too_long_is_compared_with_all(make, nearest_of):
    case = make(9000, 64, 300, 2, noise=0.45)
    found = Nearest().decode(case.book, case.codes)
    check(found, nearest_of(case.distances))
    given_up = found.comparisons >= 9000
    assert 0 < given_up.sum() < 300
    assert (found.lookups + found.comparisons)[~given_up].max() <= 9000 // 512
    few = Nearest().decode(case.book, case.codes[:100])
    assert not few.lookups.any()


def test_a_substring_that_is_the_same_in_all_codes():
    rng = np.random.default_rng(0)
    bits = rng.random((3000, 40)) < 0.5
    bits[:, :30] = False
    book = Codebook(pack(bits), 40)
    plain = Nearest(method="exhaustive").decode(book, book.codes[:50])
    found = Nearest(method="look-ups").decode(book, book.codes[:50])
    np.testing.assert_array_equal(found.rows, plain.rows)
    np.testing.assert_array_equal(found.ties, plain.ties)


def test_counts_comparisons(make):
    case = make(70, 12, 5, 0)
    found = Nearest().decode(case.book, case.codes)
    assert found.comparisons.tolist() == [70] * 5
    assert found.lookups.tolist() == [0] * 5


def test_unknown_method(make):
    case = make(3, 8, 2, 0)
    with pytest.raises(ArgumentError, match="method must be one of auto"):
        Nearest(method="fast").decode(case.book, case.codes)

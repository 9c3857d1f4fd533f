"""Exact decoding: strict about collisions, and fast."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fewbits.classify import Codebook
from fewbits.classify import _code_table as module
from fewbits.classify.decoders import Bounded, Exact, Orbgrand
from fewbits.codes import pack


@given(data=st.data())
def test_finds_classes_with_the_same_code(drawn, nearest_of, data):
    case = drawn(data)
    if not len(case.codes):
        return
    distances, rows, ties = nearest_of(case.distances, radius=0)
    found = Exact(ties="first").decode(case.book, case.codes)
    np.testing.assert_array_equal(found.distances, distances)
    np.testing.assert_array_equal(found.rows, rows)
    np.testing.assert_array_equal(found.ties, ties)


def test_several_classes_with_the_code_are_none():
    book = Codebook(pack([[0, 0], [1, 1], [0, 0]]), 2, ["cat", "dog", "lynx"])
    found = Exact().decode(book, book.codes)
    assert found.rows.tolist() == [-1, 1, -1]
    assert found.ties.tolist() == [2, 1, 2]
    assert found.distances.tolist() == [0, 0, 0]
    first = Exact(ties="first").decode(book, book.codes).rows
    assert first.tolist() == [0, 1, 0]
    assert book.labels(book.sharing(first[2])).tolist() == ["cat", "lynx"]


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


def test_long_codes_with_the_same_key_are_told_apart(monkeypatch):
    def words(n_bits, seed):  # the last two bits have the same word
        return np.append(2 ** np.arange(n_bits - 1), 2 ** (n_bits - 2)).astype(
            np.uint64
        )

    monkeypatch.setattr(module, "_words", words)
    bits = np.eye(65, dtype=bool)
    book = Codebook(pack(bits[:64]), 65)
    found = Exact().decode(book, pack(bits))
    assert found.rows.tolist() == [*range(64), -1]


@pytest.mark.parametrize("n_bits", [64, 100])
def test_a_million_items(n_bits):
    rng = np.random.default_rng(0)
    codes = pack(rng.random((100_000, n_bits)) < 0.5)
    rows = rng.integers(0, 100_000, 1_000_000)
    found = Exact().decode(Codebook(codes, n_bits), codes[rows])
    np.testing.assert_array_equal(found.rows, rows)

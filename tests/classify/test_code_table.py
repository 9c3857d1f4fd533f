"""Look-ups of many codes at once, in the table of a codebook."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fewbits.classify import Codebook
from fewbits.codes import pack


def found_rows(table, keys):
    """Return the first row that has each key, -1 where none has."""
    rows = np.full(keys.size, -1)
    places, entries = table.hits(keys)
    rows[places] = table.rows[entries]
    return rows.reshape(keys.shape)


@given(data=st.data())
def test_finds_what_a_dictionary_finds(drawn, data):
    case = drawn(data)
    table = case.book.table
    firsts = {}
    for row, code in enumerate(case.book.codes):
        firsts.setdefault(code.tobytes(), row)
    expected = [firsts.get(code.tobytes(), -1) for code in case.codes]
    found = found_rows(table, table.keys(case.codes))
    np.testing.assert_array_equal(found, expected)
    assert len(table) == len(firsts)
    assert table.counts.sum() == len(case.book)


@pytest.mark.parametrize("n_bits", [1, 5, 64, 65, 200])
def test_keys_are_linear(n_bits):
    rng = np.random.default_rng(0)
    bits, flips = rng.random((2, 50, n_bits)) < 0.5
    table = Codebook(pack(bits), n_bits).table
    words = [np.bitwise_xor.reduce(table.words[row]) for row in flips]
    flipped = table.keys(pack(bits ^ flips))
    np.testing.assert_array_equal(table.keys(pack(bits)) ^ np.array(words), flipped)


def test_many_look_ups_of_any_shape():
    rng = np.random.default_rng(1)
    codes = rng.integers(0, 256, (70_000, 2), dtype=np.uint8)
    table = Codebook(codes[:2500], 16).table
    found = found_rows(table, table.keys(codes).reshape(700, 100))
    assert found.shape == (700, 100)
    assert (found.ravel()[:2500] >= 0).all()
    present = {code.tobytes() for code in codes[:2500]}
    expected = [code.tobytes() in present for code in codes]
    np.testing.assert_array_equal(found.ravel() >= 0, expected)


def test_classes_whose_first_keys_are_equal_are_told_apart(flips_of_no_key):
    """The words that are drawn first confuse them: other words are drawn."""
    bits = np.random.default_rng(0).random((3, 70)) < 0.5
    first = Codebook(pack(bits), 70).table
    bits[1] = bits[0] ^ flips_of_no_key(first.words)
    confused = first.keys(pack(bits))
    assert confused[0] == confused[1]
    book = Codebook(pack(bits), 70)
    assert book.n_unique == 3
    assert len(np.unique(book.table.keys(book.codes))) == 3


def test_full_buckets_are_walked_through():
    """Codes whose keys times the table's factor are small share the first bucket."""
    inverse = pow(0x9E3779B97F4A7C15, -1, 2**64)
    numbers = [number * inverse % 2**64 for number in range(400)]
    codes = np.array(numbers, ">u8").view(np.uint8).reshape(400, 8)
    table = Codebook(codes[::2], 64).table
    rows = found_rows(table, table.keys(codes))
    assert (rows[1::2] == -1).all()
    np.testing.assert_array_equal(rows[::2], np.arange(200))

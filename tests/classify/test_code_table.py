"""Look-ups of many codes at once."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fewbits.classify import _code_table as module
from fewbits.classify._code_table import CodeTable
from fewbits.codes import pack


@given(data=st.data())
def test_finds_what_a_dictionary_finds(drawn, data):
    case = drawn(data)
    table = CodeTable(case.book.codes, case.book.n_bits)
    firsts = {}
    for row, code in enumerate(case.book.codes):
        firsts.setdefault(code.tobytes(), row)
    found = table.find(table.keys(case.codes))
    expected = [firsts.get(code.tobytes(), -1) for code in case.codes]
    np.testing.assert_array_equal(np.where(found < 0, -1, table.rows[found]), expected)
    assert len(table) == len(firsts)
    assert table.counts.sum() == len(case.book)


@pytest.mark.parametrize("n_bits", [1, 5, 64, 65, 200])
def test_keys_are_linear(n_bits):
    rng = np.random.default_rng(0)
    bits, flips = rng.random((2, 50, n_bits)) < 0.5
    table = CodeTable(pack(bits), n_bits)
    words = [np.bitwise_xor.reduce(table.words[row]) for row in flips]
    flipped = table.keys(pack(bits ^ flips))
    np.testing.assert_array_equal(table.keys(pack(bits)) ^ np.array(words), flipped)


def test_many_look_ups_of_any_shape(monkeypatch):
    monkeypatch.setattr(module, "BLOCK", 1000)
    rng = np.random.default_rng(1)
    codes = rng.integers(0, 256, (5000, 2), dtype=np.uint8)
    table = CodeTable(codes[:2500], 16)
    found = table.find(table.keys(codes).reshape(50, 100))
    assert found.shape == (50, 100)
    assert (found.ravel()[:2500] >= 0).all()
    present = {code.tobytes() for code in codes[:2500]}
    expected = [code.tobytes() in present for code in codes]
    np.testing.assert_array_equal(found.ravel() >= 0, expected)


def test_words_that_confuse_classes_are_drawn_again(monkeypatch):
    drawn, real = [], module._words

    def poor(n_bits, seed):
        drawn.append(seed)
        return np.zeros(n_bits, np.uint64) if seed == 0 else real(n_bits, seed)

    monkeypatch.setattr(module, "_words", poor)
    codes = pack(np.eye(70))
    assert len(CodeTable(codes, 70)) == 70
    assert drawn == [0, 1]


def test_full_buckets_are_walked_through(monkeypatch):
    """With a factor of 1 the bucket is the first bits, here the same for all codes."""
    monkeypatch.setattr(module, "_FACTOR", np.uint64(1))
    codes = np.zeros((200, 8), np.uint8)
    codes[:, 7] = np.arange(200)
    table = CodeTable(codes, 64)
    np.testing.assert_array_equal(table.find(table.keys(codes)), np.arange(200))
    codes[:, 6] = 1
    assert (table.find(table.keys(codes)) == -1).all()

"""Bits in, codes out, and back; what is neither a bit matrix nor a code is named."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fewbits.codes import MAX_BITS, as_codes, n_bytes, pack, prefix, unpack
from fewbits.errors import ArgumentError, CodeError


@st.composite
def bit_matrices(draw):
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    shape = draw(st.integers(0, 9)), draw(st.integers(1, 70))
    return rng.integers(0, 2, shape, dtype=np.uint8)


def assert_one_line(error):
    message = str(error.value)
    assert message
    assert "\n" not in message


@given(bits=bit_matrices())
def test_round_trip(bits):
    n_bits = bits.shape[1]
    codes = pack(bits)
    assert codes.dtype == np.uint8
    assert codes.shape == (len(bits), n_bytes(n_bits))
    np.testing.assert_array_equal(unpack(codes, n_bits), bits)


@given(bits=bit_matrices())
def test_bit_places(bits):
    codes = pack(bits)
    for j in range(8 * codes.shape[1]):
        place = codes[:, j // 8] >> (7 - j % 8) & 1
        expected = bits[:, j] if j < bits.shape[1] else 0
        np.testing.assert_array_equal(place, expected)


@given(bits=bit_matrices(), share=st.floats(0, 1))
def test_a_prefix_is_the_code_of_the_first_bits(bits, share):
    n_bits = max(1, round(bits.shape[1] * share))
    codes = pack(bits)
    before = codes.copy()
    np.testing.assert_array_equal(prefix(codes, n_bits), pack(bits[:, :n_bits]))
    np.testing.assert_array_equal(codes, before)


@pytest.mark.parametrize("dtype", [bool, np.int8, np.int64, np.float32, object])
def test_zeros_and_ones_of_any_dtype(dtype):
    bits = np.array([[1, 0, 1, 1], [0, 0, 0, 1]])
    np.testing.assert_array_equal(pack(bits.astype(dtype)), pack(bits))
    np.testing.assert_array_equal(pack(bits.tolist()), pack(bits))


def test_any_layout():
    bits = np.random.default_rng(0).integers(0, 2, (6, 20), dtype=np.uint8)
    expected = pack(bits.copy())[::2]
    np.testing.assert_array_equal(pack(np.asfortranarray(bits))[::2], expected)
    np.testing.assert_array_equal(pack(bits[::2]), expected)


@pytest.mark.parametrize(
    "bits",
    [
        1,
        [1, 0],
        [],
        [[[1]]],
        [[]],
        [[2]],
        [[-1]],
        [[0.5]],
        [[np.nan]],
        [["1"]],
        [[b"1"]],
        [[None]],
        [[1], [1, 0]],
        np.array([[0]], "datetime64[s]"),
        np.zeros((1, MAX_BITS + 1), bool),
    ],
    ids=repr,
)
def test_no_bits(bits):
    with pytest.raises((CodeError, ArgumentError)) as error:
        pack(bits)
    assert_one_line(error)


@pytest.mark.parametrize(
    "n_bits", [0, -1, MAX_BITS + 1, 2**63, 2.5, 8.0, "8", None, [8], np.nan], ids=repr
)
def test_no_number_of_bits(n_bits):
    codes = np.zeros((2, 1), np.uint8)
    with pytest.raises(ArgumentError) as error:
        n_bytes(n_bits)
    assert_one_line(error)
    for function in (unpack, prefix):
        with pytest.raises((ArgumentError, CodeError)):
            function(codes, n_bits)


def test_numbers_of_bits():
    assert [n_bytes(b) for b in (1, 8, 9, np.int64(16), MAX_BITS)] == [1, 1, 2, 2, 8192]


@pytest.mark.parametrize(
    "codes",
    [
        3,
        None,
        "codes",
        [[1, 2]],
        [[1], [1, 2]],
        np.zeros(4, np.uint8),
        np.zeros((2, 2, 2), np.uint8),
        np.zeros((2, 0), np.uint8),
        np.zeros((0, 0), np.uint8),
        np.zeros((1, 8193), np.uint8),
        np.zeros((2, 2), np.int8),
        np.zeros((2, 2), bool),
        np.zeros((2, 2), np.float32),
    ],
    ids=lambda codes: repr(getattr(codes, "shape", codes)),
)
def test_no_codes(codes):
    with pytest.raises(CodeError) as error:
        as_codes(codes)
    assert_one_line(error)


def test_codes_of_another_width():
    codes = np.zeros((2, 3), np.uint8)
    assert as_codes(codes, n_bits=17) is codes
    for wrong in (16, 25):
        with pytest.raises(CodeError, match="bits need"):
            unpack(codes, wrong)
    with pytest.raises(CodeError, match="prefix"):
        prefix(codes, 25)


def test_no_codes_at_all():
    assert pack(np.zeros((0, 9), bool)).shape == (0, 2)
    assert unpack(np.zeros((0, 2), np.uint8), 9).shape == (0, 9)
    assert prefix(np.zeros((0, 2), np.uint8), 3).shape == (0, 1)

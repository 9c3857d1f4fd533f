"""What makes no linear encoder."""

import numpy as np
import pytest

from fewbits.encoders import LinearEncoder
from fewbits.errors import ArgumentError


@pytest.mark.parametrize(
    ("weights", "bias", "message"),
    [
        (np.zeros((3, 2)), np.zeros(3), "one bias per bit, got weights"),
        (np.zeros(3), np.zeros(3), "one bias per bit"),
        (np.zeros((3, 0)), np.zeros(0), "n_bits must lie between 1 and"),
        (np.zeros((0, 3)), np.zeros(3), "at least one feature"),
        (np.full((3, 2), np.nan), np.zeros(2), "finite in float32"),
        (np.full((3, 2), 1e39), np.zeros(2), "finite in float32"),
        (np.zeros((3, 2)), [np.inf, 0], "finite in float32"),
        (np.zeros((3, 2), complex), np.zeros(2), "real numbers, got dtype complex128"),
        ([["a"]], [0], "real numbers"),
        ([[1.0], [1.0, 2.0]], [0], "rows of different lengths"),
    ],
)
def test_bad_maps_are_refused(weights, bias, message):
    with pytest.raises(ArgumentError, match=message):
        LinearEncoder(weights, bias)


@pytest.mark.parametrize("zero_bit", [2, -1, None, "1"])
def test_bad_zero_bits_are_refused(zero_bit):
    with pytest.raises(ArgumentError, match="zero_bit must be 0 or 1"):
        LinearEncoder([[1.0]], [0.0], zero_bit=zero_bit)


def test_later_changes_of_the_arrays_do_not_matter():
    weights = np.ones((2, 2), np.float32)
    encoder = LinearEncoder(weights, np.zeros(2))
    weights[:] = -1
    assert encoder.encode([[1, 1]])[0, 0] == 0b11000000

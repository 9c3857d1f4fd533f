"""Bits that repeat others are passed over."""

import numpy as np
import pytest

from fewbits.analysis.bits import distinct_bits
from fewbits.codes import pack
from fewbits.errors import ArgumentError


def flipped(bits, share, rng):
    return bits ^ (rng.random(bits.shape) < share)


def greedy(bits, order, n_shown):
    """Return what the matrix of all correlations chooses, and the matrix."""
    r = np.abs(np.corrcoef(bits.T))
    chosen = []
    for bit in order:
        if len(chosen) < n_shown and all(r[bit, other] <= 0.5 for other in chosen):
            chosen.append(bit)
    return chosen, r


@pytest.mark.parametrize("n_shown", [1, 4, 30])
def test_equals_looking_at_all_correlations(n_shown):
    rng = np.random.default_rng(0)
    own = rng.integers(0, 2, (3000, 10)).astype(bool)
    copies = [flipped(own, share, rng) for share in (0.05, 0.3, 0.9)]
    bits = np.concatenate([own, *copies], axis=1)
    order = rng.permutation(40)
    found = distinct_bits(pack(bits), 40, order, n_shown=n_shown)
    chosen, r = greedy(bits, order, n_shown)
    assert list(found) == chosen
    for bit, alike in found.items():
        nearest = np.array(chosen)[r[chosen].argmax(axis=0)]
        expected = [b for b in order if r[bit, b] > 0.5 and nearest[b] == bit]
        assert alike == [b for b in expected if b not in chosen]


def test_bits_that_are_asked_for_are_shown_all():
    bits = np.random.default_rng(0).integers(0, 2, (500, 3))
    codes = pack(bits[:, [0, 0, 1, 1, 2]])
    assert distinct_bits(codes, 5, first=[3, 2, 3]) == {3: [], 2: [], 0: [1], 4: []}
    assert distinct_bits(codes, 5, first=[3, 0], n_shown=1) == {3: [2], 0: [1]}


def test_constant_bits_are_like_nothing():
    codes = np.full((200, 1), 0b11110000, np.uint8)
    assert list(distinct_bits(codes, 8)) == list(range(8))


def test_few_codes_are_alike_by_chance():
    bits = np.random.default_rng(0).integers(0, 2, (12, 64))
    assert len(distinct_bits(pack(bits), 64, n_shown=64)) == 64


def test_mistakes():
    codes = np.zeros((2, 1), np.uint8)
    with pytest.raises(ArgumentError, match="no bit 8 in codes of 8 bits"):
        distinct_bits(codes, 8, first=[8])
    with pytest.raises(ArgumentError, match="n_shown must be at least 1, got 0"):
        distinct_bits(codes, 8, n_shown=0)

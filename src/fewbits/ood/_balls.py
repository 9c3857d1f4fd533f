"""Balls around class codes: their probabilities, and that of their union."""

import numpy as np
from numpy.typing import NDArray

from fewbits._typing import CodeArray
from fewbits.codes import hamming_distances, pack, unpack

FloatArray = NDArray[np.float64]

_TABLE = 1 << 23  # entries of a table of tails
_PAIRS = 1 << 22  # distances held at once
_SMALLEST = 1e-250  # quotients of probabilities below this are no longer precise


def hamming_ball_volumes(flips: FloatArray) -> FloatArray:
    """Return the probability of the ball of each radius around each code.

    Parameters
    ----------
    flips : ndarray of shape (n_codes, n_bits)
        Probability that each bit differs from that of each code, independently.

    Returns
    -------
    ndarray of shape (n_codes, n_bits + 1)
    """
    n_codes, n_bits = flips.shape
    exactly = np.zeros((n_codes, n_bits + 1))
    exactly[:, 0] = 1
    for bit, flip in enumerate(flips.T[:, :, None]):
        more = exactly[:, : bit + 1] * flip
        exactly[:, : bit + 1] *= 1 - flip
        exactly[:, 1 : bit + 2] += more
    return np.cumsum(exactly, axis=1).clip(max=1)


class Balls:
    """Balls of one radius, which may overlap."""

    def __init__(self, codes: CodeArray, flips: FloatArray, radius: int) -> None:
        self._codes, self._flips, self._radius = codes, flips, radius
        self._n_bits = flips.shape[1]
        self._at_once = _TABLE // ((self._n_bits + 1) * (radius + 1))
        shares = hamming_ball_volumes(flips)[:, radius]
        self._total = shares.sum()
        self._weights = shares / self._total if self._total else shares

    @property
    def can_be_sampled(self) -> bool:
        """Return whether the tables fit into memory and probabilities into floats."""
        return self._at_once > 0 and bool(self._total > _SMALLEST)

    def union(self, n_samples: int, rng: np.random.Generator) -> tuple[float, float]:
        """Estimate the probability of the union, and return its standard error too."""
        counts = rng.multinomial(n_samples, self._weights)
        shares = []
        for start in range(0, len(counts), self._at_once):
            span = slice(start, start + self._at_once)
            which = start + np.repeat(np.arange(len(counts[span])), counts[span])
            shares.append(1 / self._n_containing(self._sample(span, which, rng)))
        values = np.concatenate(shares)
        error = values.std(ddof=1) / np.sqrt(n_samples)
        return float(self._total * values.mean()), float(self._total * error)

    def _sample(
        self, span: slice, which: NDArray[np.int64], rng: np.random.Generator
    ) -> CodeArray:
        """Draw a code from each of the balls `which`, all of them in `span`."""
        tails = self._tails(self._flips[span])
        row, left = which - span.start, np.full(len(which), self._radius)
        bits = unpack(self._codes[which], self._n_bits).astype(np.bool_)
        for bit in range(self._n_bits):
            # If this bit differs, the rest may differ in one bit less.
            fewer = np.where(left > 0, tails[bit + 1, row, left - 1], 0)
            chance = self._flips[which, bit] * fewer / tails[bit, row, left]
            flipped = rng.random(len(which)) < chance
            bits[:, bit] ^= flipped
            left -= flipped
        return pack(bits)

    def _tails(self, flips: FloatArray) -> FloatArray:
        """Return P(at most k of the bits from j on differ) as [j, code, k]."""
        tails = np.ones((self._n_bits + 1, len(flips), self._radius + 1))
        for bit in range(self._n_bits - 1, -1, -1):
            flip = flips[:, bit, None]
            tails[bit] = (1 - flip) * tails[bit + 1]
            tails[bit, :, 1:] += flip * tails[bit + 1, :, :-1]
        return tails

    def _n_containing(self, codes: CodeArray) -> NDArray[np.int64]:
        """Count the balls that each code lies in."""
        counts = np.empty(len(codes), np.int64)
        step = max(1, _PAIRS // len(self._codes))
        for start in range(0, len(codes), step):
            distances = hamming_distances(codes[start : start + step], self._codes)
            near = (distances <= self._radius).sum(axis=1)
            counts[start : start + step] = near
        return counts

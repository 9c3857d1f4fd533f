"""Correlation between bits, without the matrix of all pairs where bits are many."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from fewbits._spans import spans
from fewbits._typing import CodeArray, IdArray
from fewbits.analysis.bits._columns import count_ones
from fewbits.codes import n_bytes, pack, unpack

FloatArray = NDArray[np.float64]

_TILE = 2048  # bits; a multiple of 8
_ROWS = 8192


class Correlation(NamedTuple):
    """Correlations of all pairs of varying bits; NaN with fewer than two.

    `largest` and `mean` are of absolute values, and `pair` is where the largest is.
    `effective_bits` is ``(sum l)^2 / sum l^2`` over the eigenvalues ``l`` of the
    correlation matrix.
    """

    largest: float
    pair: tuple[int, int] | None
    mean: float
    effective_bits: float


def correlate(codes: CodeArray, n_bits: int) -> Correlation:
    """Correlate every bit with every other (Pearson's, which is phi for bits)."""
    tiles = list(spans(n_bits, _TILE))
    ones = count_ones(codes, n_bits).astype(np.float64)
    varying = (ones > 0) & (ones < len(codes))
    m = int(varying.sum())
    largest, pair, total, squares = 0.0, None, 0.0, float(m)
    for i, first in enumerate(tiles):
        for second in tiles[i:]:
            values = _absolute(codes, ones, first, second)
            weight = 1 if first == second else 2  # pairs of other tiles come twice
            total += weight * values.sum()
            squares += weight * np.square(values).sum()
            if values.max() > largest:
                a, b = np.unravel_index(values.argmax(), values.shape)
                largest = float(values[a, b])
                pair = first.start + int(a), second.start + int(b)
    if m < 2:
        return Correlation(np.nan, None, np.nan, float(m))
    # The eigenvalues sum to the trace, m; their squares to those of all entries.
    mean, effective_bits = float(total / (m * (m - 1))), float(m * m / squares)
    return Correlation(largest, pair, mean, effective_bits)


def estimate_effective_bits(
    codes: CodeArray, bits: IdArray, n_sampled: int, rng: np.random.Generator
) -> float:
    """Estimate `effective_bits` of these bits, all of which vary.

    From the mean squared correlation of a sample of them, drawn because evenly spaced
    ones may be special: so is the first bit of each block of a transform.
    """
    chosen, m = bits, len(bits)
    if m < 2:
        return float(m)
    if m > n_sampled:
        chosen = np.sort(rng.choice(bits, n_sampled, replace=False))
    k = len(chosen)
    spread = correlate(_only(codes, chosen), k).effective_bits
    mean_square = (k / spread - 1) / (k - 1)
    return float(m / (1 + (m - 1) * mean_square))


def _only(codes: CodeArray, bits: IdArray) -> CodeArray:
    """Return codes of the chosen bits."""
    kept = np.empty((len(codes), n_bytes(len(bits))), np.uint8)
    for rows in spans(len(codes), _ROWS):
        values = codes[rows][:, bits // 8] >> (7 - bits % 8).astype(np.uint8) & 1
        kept[rows] = pack(values)
    return kept


def _absolute(
    codes: CodeArray, ones: FloatArray, first: slice, second: slice
) -> FloatArray:
    """Return |r| for a tile of pairs; 0 for a bit with itself or a constant one."""
    n = len(codes)
    a, b = ones[first], ones[second]
    # Whole numbers below 2^53, so r is exact up to its own rounding.
    covariance = n * _joint(codes, first, second) - np.outer(a, b)
    scale = np.sqrt(np.outer(a * (n - a), b * (n - b)))
    values = np.zeros(scale.shape)
    np.divide(np.abs(covariance), scale, out=values, where=scale > 0)
    if first == second:
        np.fill_diagonal(values, 0)
    return np.minimum(values, 1)


def _joint(codes: CodeArray, first: slice, second: slice) -> FloatArray:
    """Count the codes in which both bits are set."""
    counts = np.zeros((first.stop - first.start, second.stop - second.start))
    for rows in spans(len(codes), _ROWS):
        left = _bits(codes[rows], first)
        right = left if first == second else _bits(codes[rows], second)
        counts += left.T @ right  # exact: no count of a block reaches 2^24
    return counts


def _bits(codes: CodeArray, tile: slice) -> NDArray[np.float32]:
    width = tile.stop - tile.start
    start = tile.start // 8
    part = codes[:, start : start + n_bytes(width)]
    return unpack(np.ascontiguousarray(part), width).astype(np.float32)

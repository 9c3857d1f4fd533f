"""Bits that are equal, opposite or correlated."""

from collections.abc import Iterable, Sequence
from hashlib import blake2b
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from fewbits._checks import check_bits, check_count, generator
from fewbits._spans import spans
from fewbits._typing import CodeArray, IdArray
from fewbits.analysis._codes import check_codes, sampled_rows
from fewbits.codes import n_bytes, pack, unpack

_ALIKE = 0.5  # absolute correlation above which bits count as alike
_CERTAIN = 4.0  # standard errors above 0 that it must also be
_BLOCK_BITS = 1 << 24  # bits unpacked at once, one byte each
_ROWS = 1 << 15  # but no more rows than this; a multiple of 8, so that bytes are full
Groups = tuple[tuple[int, ...], ...]
FloatArray = NDArray[np.float64]
_COMPARED = 10_000  # codes, drawn where there are more, to choose distinct bits
_TILE = 2048  # bits; a multiple of 8
_CORRELATED_ROWS = 8192


def read_columns(codes: CodeArray, n_bits: int) -> tuple[IdArray, Groups, Groups]:
    """Return the ones of each bit, and bits that are equal or opposite in all codes.

    Equal ones are groups of two or more bits. Opposite ones are pairs, each the first
    bits of two such groups, or of a group and a single bit. Constant bits are neither.
    """
    # Relative to the first code, opposite bits are equal and constant ones zero.
    changed = np.zeros(n_bits, np.int64)
    digests = [blake2b(digest_size=16) for _ in range(n_bits)]
    for span in spans(len(codes), _rows_at_once(n_bits)):
        bits = unpack(codes[span] ^ codes[0], n_bits)
        columns = np.ascontiguousarray(np.packbits(bits, axis=0).T)
        changed += np.bitwise_count(columns).sum(axis=1, dtype=np.int64)
        for digest, column in zip(digests, columns, strict=True):
            digest.update(column.data)
    first = unpack(codes[:1], n_bits)[0]
    ones = np.where(first, len(codes) - changed, changed)
    # Bits that change alike, on the side of ones in the first code and that of zeros.
    alike: dict[bytes, tuple[list[int], list[int]]] = {}
    for bit in np.flatnonzero(changed).tolist():
        alike.setdefault(digests[bit].digest(), ([], []))[first[bit]].append(bit)
    sides = [side for pair in alike.values() for side in pair]
    equal = sorted(tuple(side) for side in sides if len(side) > 1)
    opposite = sorted(
        (min(a[0], b[0]), max(a[0], b[0])) for a, b in alike.values() if a and b
    )
    return ones, tuple(equal), tuple(opposite)


def count_ones(codes: CodeArray, n_bits: int) -> IdArray:
    """Return the number of codes in which each bit is set."""
    ones = np.zeros(n_bits, np.int64)
    for span in spans(len(codes), _rows_at_once(n_bits)):
        ones += unpack(codes[span], n_bits).sum(axis=0, dtype=np.int64)
    return ones


def _rows_at_once(n_bits: int) -> int:
    return max(8, min(_ROWS, _BLOCK_BITS // n_bits // 8 * 8))


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
            # |r| for the pairs; 0 for a bit with itself or a constant one.
            n, a, b = len(codes), ones[first], ones[second]
            joint = np.zeros((len(a), len(b)))  # codes in which both bits are set
            for rows in spans(n, _CORRELATED_ROWS):
                left = _bits(codes[rows], first)
                right = left if first == second else _bits(codes[rows], second)
                joint += left.T @ right  # exact: no count of a block reaches 2^24
            # Whole numbers below 2^53, so r is exact up to its own rounding.
            covariance = n * joint - np.outer(a, b)
            scale = np.sqrt(np.outer(a * (n - a), b * (n - b)))
            values = np.zeros(scale.shape)
            np.divide(np.abs(covariance), scale, out=values, where=scale > 0)
            if first == second:
                np.fill_diagonal(values, 0)
            values = np.minimum(values, 1)
            weight = 1 if first == second else 2  # pairs of other tiles come twice
            total += weight * values.sum()
            squares += weight * np.square(values).sum()
            if values.max() > largest:
                i_best, j_best = np.unravel_index(values.argmax(), values.shape)
                largest = float(values[i_best, j_best])
                pair = first.start + int(i_best), second.start + int(j_best)
    if m < 2:
        return Correlation(np.nan, None, np.nan, float(m))
    # The eigenvalues sum to the trace, m; their squares to those of all entries.
    mean, effective_bits = float(total / (m * (m - 1))), float(m * m / squares)
    return Correlation(largest, pair, mean, effective_bits)


def estimate_effective_bits(
    codes: CodeArray, bits: IdArray, n_sampled: int, rng: np.random.Generator
) -> float:
    """Estimate `effective_bits` of these bits, all of which vary, from some of them."""
    # Drawn, because evenly spaced ones may be special: so is the first bit of each
    # block of a transform.
    sample, m = bits, len(bits)
    if m < 2:
        return float(m)
    if m > n_sampled:
        sample = np.sort(rng.choice(bits, n_sampled, replace=False))
    k = len(sample)
    sampled = np.empty((len(codes), n_bytes(k)), np.uint8)
    for rows in spans(len(codes), _CORRELATED_ROWS):
        shifts = (7 - sample % 8).astype(np.uint8)
        sampled[rows] = pack(codes[rows][:, sample // 8] >> shifts & 1)
    spread = correlate(sampled, k).effective_bits
    mean_square = (k / spread - 1) / (k - 1)
    return float(m / (1 + (m - 1) * mean_square))


def _bits(codes: CodeArray, tile: slice) -> NDArray[np.float32]:
    width = tile.stop - tile.start
    start = tile.start // 8
    part = codes[:, start : start + n_bytes(width)]
    return unpack(np.ascontiguousarray(part), width).astype(np.float32)


def distinct_bits(
    codes: CodeArray,
    n_bits: int,
    order: Sequence[int] | IdArray | None = None,
    *,
    first: Iterable[int] = (),
    n_shown: int = 32,
) -> dict[int, list[int]]:
    """Choose bits that do not correlate with a better one, by 10,000 codes at most.

    Of `order`, best first, or of all; `first` are chosen in any case, and `n_shown` in
    all, unless `first` are more. Returns the chosen bits in their order, each with the
    bits of `order` that were left out because they are like it, or its opposite: those
    with an absolute correlation above .5, and above what chance gives where codes are
    few. A bit that is like several of the chosen is listed with the one it is most
    like.
    """
    codes = check_codes(codes, n_bits)
    n_shown = check_count(n_shown, "n_shown")
    candidates = check_bits(order, n_bits)
    sample = codes[sampled_rows(len(codes), _COMPARED, generator(0))]
    ones = count_ones(sample, n_bits)
    likeness = {bit: _likeness(sample, ones, bit) for bit in check_bits(first, n_bits)}
    limit = max(_ALIKE, _CERTAIN / np.sqrt(len(sample)))
    nearest = np.max([np.zeros(n_bits), *likeness.values()], axis=0)
    for bit in candidates:
        if len(likeness) >= n_shown:
            break
        if bit not in likeness and nearest[bit] <= limit:
            likeness[bit] = _likeness(sample, ones, bit)
            nearest = np.maximum(nearest, likeness[bit])
    alike: dict[int, list[int]] = {bit: [] for bit in likeness}
    shown, values = list(likeness), np.array(list(likeness.values()))
    for bit in candidates:
        most = int(values[:, bit].argmax())
        if bit not in likeness and values[most, bit] > limit:
            alike[shown[most]].append(bit)
    return alike


def _likeness(codes: CodeArray, ones: IdArray, bit: int) -> NDArray[np.float64]:
    """Return |r| of a bit with every other; 0 for constant ones."""
    n, n_bits = len(codes), len(ones)
    carriers = codes[(codes[:, bit // 8] >> (7 - bit % 8) & 1).astype(np.bool_)]
    covariance = n * count_ones(carriers, n_bits) - ones[bit] * ones
    spread = ones * (n - ones).astype(np.float64)
    scale = np.sqrt(spread * spread[bit])
    values = np.zeros(n_bits)
    np.divide(np.abs(covariance), scale, out=values, where=scale > 0)
    return values

"""Words that one side of a bit carries more often than the other."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fewbits.analysis.names._word_groups import WordGroups

FloatArray = NDArray[np.float64]
# Of one word and bit: ten groups on one side are few enough for chance.
_BY_CHANCE = 0.001


class Contrast(NamedTuple):
    """Matrices (n_words, n_bits); `shares` are those of zeros and of ones."""

    z: FloatArray
    p_values: FloatArray
    shares: tuple[FloatArray, FloatArray]


def contrast(
    carriers: Any,
    values: NDArray[np.uint8],
    prior: float,
    groups: WordGroups | None,
) -> Contrast:
    """Compare the words of both sides; `z` is positive where ones carry more."""
    from scipy.special import ndtr

    total = np.asarray(carriers.sum(axis=1), dtype=np.float64)[:, None]
    ones = (carriers @ values.astype(np.int32)).astype(np.float64)
    zeros = total - ones
    weights = prior * total
    difference = _log_odds(ones + weights) - _log_odds(zeros + weights)
    variance = 1 / (ones + weights) + 1 / (zeros + weights)
    n_ones = values.sum(axis=0, dtype=np.int64)
    shares = (
        zeros / np.maximum(len(values) - n_ones, 1),
        ones / np.maximum(n_ones, 1),
    )
    if groups is None:
        z = difference / np.sqrt(variance)
        return Contrast(z, 2 * ndtr(-np.abs(z)), shares)
    counts = np.stack([zeros, ones])
    robust = _robust_variance(groups, values, counts + weights)
    z = difference / np.sqrt(np.maximum(variance, robust))
    return Contrast(z, _p_values(z, groups, values, counts), shares)


def _log_odds(counts: FloatArray) -> FloatArray:
    others = counts.sum(axis=0) - counts
    # Where there is one word only, it has no odds, and both sides are alike.
    odds = np.divide(counts, others, out=np.ones(counts.shape), where=others > 0)
    result: FloatArray = np.log(odds)
    return result


def _robust_variance(
    groups: WordGroups, values: NDArray[np.uint8], counts: FloatArray
) -> FloatArray:
    """Return the variance of the difference of log-odds between groups.

    By the delta method a word moves ``log(p / (1 - p))`` by ``1 / (N p (1 - p))``.
    """
    totals = counts.sum(axis=1, keepdims=True)
    scales = np.zeros(counts.shape)
    others = totals - counts
    np.divide(totals, counts * others, out=scales, where=counts * others > 0)
    return _by_bit(groups, values, scales, counts / np.maximum(totals, 1))


def _p_values(
    z: FloatArray,
    groups: WordGroups,
    values: NDArray[np.uint8],
    counts: FloatArray,
) -> FloatArray:
    """Return p values by Student's t; 1 where groups may be on their sides by chance.

    The variance between groups is too small where the few groups with a word all lie
    on one side: they do not differ then. So the difference of shares is tested, too,
    against sides that groups take at random.
    """
    from scipy.special import ndtr, stdtr

    by_variance = 2 * stdtr(groups.n_groups - 1, -np.abs(z))
    totals = np.maximum(counts.sum(axis=1, keepdims=True), 1)
    pooled = counts.sum(axis=0) / np.maximum(counts.sum(axis=(0, 1)), 1)
    scales = np.broadcast_to(1 / totals, counts.shape)
    squares = _by_bit(groups, values, scales, np.stack([pooled, pooled]))
    zeros, ones = counts / totals
    score = np.zeros(z.shape)
    np.divide(np.abs(ones - zeros), np.sqrt(squares), out=score, where=squares > 0)
    result: FloatArray = np.where(2 * ndtr(-score) <= _BY_CHANCE, by_variance, 1.0)
    return result


def _by_bit(
    groups: WordGroups,
    values: NDArray[np.uint8],
    scales: FloatArray,
    shares: FloatArray,
) -> FloatArray:
    columns = [
        groups.squares(values[:, bit], scales[:, :, bit], shares[:, :, bit])
        for bit in range(values.shape[1])
    ]
    return np.stack(columns, axis=1)

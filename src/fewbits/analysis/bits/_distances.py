"""Histograms of the Hamming distances between pairs of items."""

from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from fewbits._repr import one_line
from fewbits._spans import spans
from fewbits._typing import Array, CodeArray, IdArray
from fewbits.analysis._codes import Members

_PAIRS = 1 << 14  # compared at once


@dataclass(frozen=True, eq=False, slots=True)
class DistanceHistogram:
    """Counts of pairs of items at the Hamming distances 0, 1, ..., n_bits."""

    counts: IdArray = field(repr=False)

    __repr__ = one_line

    @property
    def shares(self) -> NDArray[np.float64]:
        """Share of the pairs at each distance; NaN when there is no pair."""
        total = self.counts.sum()
        return self.counts / total if total else np.full(len(self.counts), np.nan)

    @property
    def mean(self) -> float:
        """Mean distance; NaN when there is no pair."""
        return float(self.shares @ np.arange(len(self.counts)))


def all_distances(
    codes: CodeArray, n_bits: int, limit: int, rng: np.random.Generator
) -> DistanceHistogram:
    """Histogram of the distances of every item to every other."""
    rows = np.arange(len(codes), dtype=np.int64)
    return _histogram(
        codes, n_bits, _pairs(rows + 1, len(codes) - rows - 1, limit, rng)
    )


def class_distances(
    codes: CodeArray,
    n_bits: int,
    members: Members,
    limit: int,
    rng: np.random.Generator,
) -> tuple[DistanceHistogram, DistanceHistogram]:
    """Histograms of the distances within classes and between them; one class each."""
    codes, numbers = codes[members.rows], members.numbers
    ends = np.cumsum(np.bincount(numbers))[numbers]
    rows = np.arange(len(codes), dtype=np.int64)
    within = _pairs(rows + 1, ends - rows - 1, limit, rng)
    between = _pairs(ends, len(codes) - ends, limit, rng)
    return _histogram(codes, n_bits, within), _histogram(codes, n_bits, between)


def label_distances(
    codes: CodeArray,
    n_bits: int,
    labels: Array,
    limit: int,
    rng: np.random.Generator,
) -> tuple[DistanceHistogram, DistanceHistogram]:
    """Histograms of the distances of items that share a label, and of all others."""
    packed = np.packbits(np.asarray(labels) > 0, axis=1)
    rows = np.arange(len(codes), dtype=np.int64)
    within, between = np.zeros((2, n_bits + 1), np.int64)
    for row, partner in _pairs(rows + 1, len(codes) - rows - 1, limit, rng):
        distances = _distances(codes, row, partner)
        shared = (packed[row] & packed[partner]).any(axis=1)
        within += np.bincount(distances[shared], minlength=n_bits + 1)
        between += np.bincount(distances[~shared], minlength=n_bits + 1)
    return DistanceHistogram(within), DistanceHistogram(between)


def separation(within: DistanceHistogram, between: DistanceHistogram) -> float:
    """Return the area under the ROC curve of distances; NaN where a kind is empty."""
    farther = 1 - np.cumsum(between.shares)
    return float(within.shares @ (farther + between.shares / 2))


def _pairs(
    first: IdArray, n_partners: IdArray, limit: int, rng: np.random.Generator
) -> Iterator[tuple[IdArray, IdArray]]:
    """Yield pairs of each row with `n_partners` rows from row `first` on, in blocks.

    Where there are more than `limit`, so many are drawn with replacement.
    """
    ends = np.cumsum(n_partners)
    total = int(ends[-1])
    is_whole = total <= limit
    drawn = np.arange(total) if is_whole else rng.integers(total, size=limit)
    numbers = np.sort(drawn)
    for span in spans(len(numbers), _PAIRS):
        row = np.searchsorted(ends, numbers[span], side="right")
        yield row, first[row] + numbers[span] - (ends[row] - n_partners[row])


def _histogram(
    codes: CodeArray, n_bits: int, pairs: Iterator[tuple[IdArray, IdArray]]
) -> DistanceHistogram:
    counts = np.zeros(n_bits + 1, np.int64)
    for row, partner in pairs:
        counts += np.bincount(_distances(codes, row, partner), minlength=n_bits + 1)
    return DistanceHistogram(counts)


def _distances(codes: CodeArray, rows: IdArray, partners: IdArray) -> IdArray:
    differing = np.bitwise_count(codes[rows] ^ codes[partners])
    distances: IdArray = differing.sum(axis=1, dtype=np.int64)
    return distances

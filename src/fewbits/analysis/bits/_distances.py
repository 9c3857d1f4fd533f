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
    """Counts of the Hamming distances between pairs of items.

    Attributes
    ----------
    counts : ndarray of shape (n_bits + 1,), dtype int64
        Pairs at distance 0, 1, ..., n_bits, of those that were counted.
    n_pairs : int
        Pairs that there are; of a sample of items with several labels an estimate.
    exact : bool
        Whether all of them were counted; otherwise a sample, drawn with replacement.
    """

    counts: IdArray = field(repr=False)
    n_pairs: int
    exact: bool

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
        codes, n_bits, _Pairs(rows + 1, len(codes) - rows - 1, limit, rng)
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
    within = _Pairs(rows + 1, ends - rows - 1, limit, rng)
    between = _Pairs(ends, len(codes) - ends, limit, rng)
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
    pairs = _Pairs(rows + 1, len(codes) - rows - 1, limit, rng)
    counts = np.zeros((2, n_bits + 1), np.int64)
    for row, partner in pairs:
        distances = _distances(codes, row, partner)
        shared = (packed[row] & packed[partner]).any(axis=1)
        for side, chosen in zip(counts, (shared, ~shared), strict=True):
            side += np.bincount(distances[chosen], minlength=n_bits + 1)
    # As many of all pairs as of those that were drawn.
    sampled = max(len(pairs.numbers), 1)
    within, between = (
        DistanceHistogram(
            side, round(pairs.total * int(side.sum()) / sampled), pairs.exact
        )
        for side in counts
    )
    return within, between


def separation(within: DistanceHistogram, between: DistanceHistogram) -> float:
    """Return the area under the ROC curve of distances; NaN where a kind is empty."""
    farther = 1 - np.cumsum(between.shares)
    return float(within.shares @ (farther + between.shares / 2))


class _Pairs:
    """Pairs of each row with the `n_partners` rows from row `first` on, by blocks."""

    def __init__(
        self,
        first: IdArray,
        n_partners: IdArray,
        limit: int,
        rng: np.random.Generator,
    ) -> None:
        self._first, self._n_partners = first, n_partners
        self._ends = np.cumsum(n_partners)
        self.total = total = int(self._ends[-1])
        self.exact = total <= limit
        numbers = np.arange(total) if self.exact else rng.integers(total, size=limit)
        self.numbers = np.sort(numbers)

    def __iter__(self) -> Iterator[tuple[IdArray, IdArray]]:
        for span in spans(len(self.numbers), _PAIRS):
            row = np.searchsorted(self._ends, self.numbers[span], side="right")
            before = self._ends[row] - self._n_partners[row]
            yield row, self._first[row] + self.numbers[span] - before


def _histogram(codes: CodeArray, n_bits: int, pairs: _Pairs) -> DistanceHistogram:
    counts = np.zeros(n_bits + 1, np.int64)
    for row, partner in pairs:
        distances = _distances(codes, row, partner)
        counts += np.bincount(distances, minlength=n_bits + 1)
    return DistanceHistogram(counts, pairs.total, pairs.exact)


def _distances(codes: CodeArray, rows: IdArray, partners: IdArray) -> IdArray:
    differing = np.bitwise_count(codes[rows] ^ codes[partners])
    distances: IdArray = differing.sum(axis=1, dtype=np.int64)
    return distances

"""Histograms of the Hamming distances between pairs of items."""

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from fewbits._spans import spans
from fewbits._typing import CodeArray, IdArray

_PAIRS = 1 << 14  # compared at once


@dataclass(frozen=True, eq=False, slots=True)
class DistanceHistogram:
    """How often each Hamming distance occurs among pairs of items.

    Attributes
    ----------
    counts : ndarray of shape (n_bits + 1,), dtype int64
        Pairs at distance 0, 1, ..., n_bits, of those that were counted.
    n_pairs : int
        Pairs that there are.
    exact : bool
        Whether all of them were counted; otherwise a sample, drawn with replacement.
    """

    counts: IdArray = field(repr=False)
    n_pairs: int
    exact: bool

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
    return _histogram(codes, n_bits, rows + 1, len(codes) - rows - 1, limit, rng)


def class_distances(
    codes: CodeArray,
    n_bits: int,
    classes: IdArray,
    limit: int,
    rng: np.random.Generator,
) -> tuple[DistanceHistogram, DistanceHistogram]:
    """Histograms of the distances within classes and between them."""
    order = np.argsort(classes, kind="stable")
    codes, ends = codes[order], np.cumsum(np.bincount(classes))[classes[order]]
    rows = np.arange(len(codes), dtype=np.int64)
    return (
        _histogram(codes, n_bits, rows + 1, ends - rows - 1, limit, rng),
        _histogram(codes, n_bits, ends, len(codes) - ends, limit, rng),
    )


def separation(within: DistanceHistogram, between: DistanceHistogram) -> float:
    """Return how often two of a class are nearer than two of different classes.

    The probability for a pair of either kind drawn at random, half of it where they
    are equally far: the area under the ROC curve. NaN where a kind has no pair.
    """
    farther = 1 - np.cumsum(between.shares)
    return float(within.shares @ (farther + between.shares / 2))


def _histogram(
    codes: CodeArray,
    n_bits: int,
    first: IdArray,
    n_partners: IdArray,
    limit: int,
    rng: np.random.Generator,
) -> DistanceHistogram:
    """Count distances of each row to the `n_partners` rows from row `first` on.

    Every pair has a number, so that all of them or some at random come the same way.
    """
    ends = np.cumsum(n_partners)
    total = int(ends[-1])
    exact = total <= limit
    numbers = np.arange(total) if exact else np.sort(rng.integers(total, size=limit))
    counts = np.zeros(n_bits + 1, np.int64)
    for span in spans(len(numbers), _PAIRS):
        row = np.searchsorted(ends, numbers[span], side="right")
        partner = first[row] + numbers[span] - (ends[row] - n_partners[row])
        differing = np.bitwise_count(codes[row] ^ codes[partner])
        distances = differing.sum(axis=1, dtype=np.int64)
        counts += np.bincount(distances, minlength=n_bits + 1)
    return DistanceHistogram(counts, total, exact)

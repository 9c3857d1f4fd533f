"""The statistics of a collection of codes."""

from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fewbits._repr import one_line
from fewbits._typing import IdArray
from fewbits.analysis.bits._columns import Groups
from fewbits.analysis.bits._distances import DistanceHistogram


@dataclass(frozen=True, eq=False, slots=True)
class BitReport:
    """Statistics of codes, bit by bit and pair by pair; see `bit_report`.

    Attributes
    ----------
    n_codes, n_bits : int
    balance : ndarray of shape (n_bits,), dtype float64
        Share of the codes in which the bit is 1.
    entropy : ndarray of shape (n_bits,), dtype float64
        ``-p log2 p - (1 - p) log2 (1 - p)`` of that share, in bits.
    equal_bits : tuple of tuples of int
        Groups of bits that have the same value in every code.
    opposite_bits : tuple of pairs of int
        Bits that differ in every code. Of a group of equal bits only the first is
        named; constant bits are left out here and in `equal_bits`.
    largest_correlation, mean_correlation : float
        Of the absolute values of Pearson's correlation over all pairs of bits that
        vary; NaN with fewer than two.
    most_correlated : pair of int, or None
        Where the largest is.
    effective_bits : float
        How many independent, equally important bits would spread as much: the
        participation ratio of the correlation matrix.
    n_correlated : int
        Codes that the last four were computed from.
    n_distinct, n_shared, largest_group : int
        Different codes, items whose code another item has too, and how many items have
        the most frequent code.
    distances : DistanceHistogram
        Of all pairs of items.
    within, between : DistanceHistogram or None
        Of the pairs of one class and of different ones, or of items that share a label
        and of others; None without labels.
    separation : float or None
        How often a pair of one class is nearer than a pair of different classes, ties
        counting half: .5 is chance, 1 is perfect.
    warnings : tuple of str
        What deserves attention, in plain sentences; empty when nothing does.
    """

    n_codes: int
    n_bits: int
    balance: NDArray[np.float64] = field(repr=False)
    entropy: NDArray[np.float64] = field(repr=False)
    equal_bits: Groups
    opposite_bits: Groups
    largest_correlation: float
    most_correlated: tuple[int, int] | None
    mean_correlation: float
    effective_bits: float
    n_correlated: int
    n_distinct: int
    n_shared: int
    largest_group: int
    distances: DistanceHistogram = field(repr=False)
    within: DistanceHistogram | None = field(repr=False)
    between: DistanceHistogram | None = field(repr=False)
    separation: float | None
    warnings: tuple[str, ...] = ()

    def __repr__(self) -> str:
        return one_line(self)

    @property
    def constant_bits(self) -> IdArray:
        """The bits that never change, dtype int64."""
        return np.flatnonzero((self.balance == 0) | (self.balance == 1))

    def summary(self) -> dict[str, Any]:
        """Return the metrics and the warnings as plain values, None for NaN."""
        metrics: dict[str, Any] = {
            "n_codes": self.n_codes,
            "n_bits": self.n_bits,
            "constant_bits": len(self.constant_bits),
            "mean_entropy": float(self.entropy.mean()),
            "effective_bits": self.effective_bits,
            "largest_correlation": _number(self.largest_correlation),
            "mean_correlation": _number(self.mean_correlation),
            "distinct_codes": self.n_distinct,
            "items_sharing_a_code": self.n_shared,
            "largest_group": self.largest_group,
            "mean_distance": _number(self.distances.mean),
        }
        if self.within is not None and self.between is not None:
            metrics["mean_distance_within"] = _number(self.within.mean)
            metrics["mean_distance_between"] = _number(self.between.mean)
            metrics["separation"] = _number(self.separation)
        return {**metrics, "warnings": list(self.warnings)}


class CodeUse(NamedTuple):
    """The few metrics of a `BitReport` that alarms are raised from."""

    n_codes: int
    n_bits: int
    constant_bits: IdArray
    effective_bits: float
    n_correlated: int
    n_distinct: int
    n_shared: int
    largest_group: int


def _number(value: float | None) -> float | None:
    return None if value is None or np.isnan(value) else float(value)

"""Distances between and within classes, which bound average precision."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from fewbits._repr import short_repr
from fewbits._spans import spans
from fewbits._typing import Array, CodeArray, DistanceArray, IdArray
from fewbits.analysis._codes import Members, check_codes, read_members
from fewbits.analysis.bits import DistanceHistogram
from fewbits.codes import hamming_distances, unpack
from fewbits.errors import ArgumentError

__all__ = [
    "CodeBound",
    "Members",
    "code_bound",
    "majority_codes",
]

_COVERAGE = 0.999  # of distances without outliers
_BLOCK_BITS = 1 << 24  # bits unpacked at once, one byte each
_BLOCK_PAIRS = 1 << 22  # distances held at once


@dataclass(frozen=True, eq=False, slots=True)
class CodeBound:
    """Distances between and within classes; see `code_bound`.

    `classes` are those with items, or the numbers of the columns when labels are a
    matrix, and `centres` their packed codes. `inter` has the distances of all pairs of
    centres (D_inter), `intra` those of every item to the centre of each of its classes
    (D_intra). `low_inter` and `high_intra` are `min_inter` and `max_intra` without the
    outermost thousandth: what 99.9 % of D_inter reach, and of D_intra do not exceed.
    `nearest` is the class whose centre is nearest to that of each class, the first of
    several, `gaps` the distance to it, `widths` the largest distance of an item to the
    centre of its class.
    """

    classes: Array
    centres: CodeArray = field(repr=False)
    inter: DistanceHistogram = field(repr=False)
    intra: DistanceHistogram = field(repr=False)
    low_inter: int
    high_intra: int
    nearest: IdArray = field(repr=False)
    gaps: DistanceArray = field(repr=False)
    widths: DistanceArray = field(repr=False)

    __repr__ = short_repr

    @property
    def min_inter(self) -> int:
        """The smallest distance of two centres."""
        return int(self.gaps.min())

    @property
    def max_intra(self) -> int:
        """The largest distance of an item to the centre of its class."""
        return int(self.widths.max())

    @property
    def strict_ratio(self) -> float:
        """``min_inter / max(max_intra, 1)``.

        Above 4, any query as near to its centre as the items has an AP of 1.
        """
        return self.min_inter / max(self.max_intra, 1)

    @property
    def ratio(self) -> float:
        """``low_inter / max(high_intra, 1)``: the ratio that the paper reports."""
        return self.low_inter / max(self.high_intra, 1)

    def summary(self) -> dict[str, Any]:
        """Return the metrics as plain values."""
        closest = int(self.gaps.argmin())
        return {
            "n_classes": len(self.classes),
            "ratio": self.ratio,
            "strict_ratio": self.strict_ratio,
            "coverage": _COVERAGE,
            "low_inter": self.low_inter,
            "high_intra": self.high_intra,
            "min_inter": self.min_inter,
            "max_intra": self.max_intra,
            "mean_inter": self.inter.mean,
            "mean_intra": self.intra.mean,
            "closest_classes": self.classes[[closest, self.nearest[closest]]].tolist(),
            "widest_class": self.classes[[self.widths.argmax()]].tolist()[0],
        }


def code_bound(codes: CodeArray, n_bits: int, labels: ArrayLike) -> CodeBound:
    """Measure the distances between and within classes that bound average precision.

    The centre of a class is the majority of its items bit by bit, 1 where both values
    are as frequent: the code with the smallest sum of distances to them.

    Parameters
    ----------
    codes : ndarray of shape (n, n_bytes), dtype uint8
        Packed codes, at least one.
    n_bits : int
        Length of the codes.
    labels : array-like of shape (n,) or (n, n_labels)
        The class of each item; or, where an item may have several labels or none, 0 and
        1 for each item and label. Labels without items are left out.

    Raises
    ------
    CodeError
        When the codes are not packed codes of `n_bits` bits.
    ArgumentError
        When labels are not one, or one row, per code, or fewer than two classes have
        items.

    Notes
    -----
    The paper writes that AP is bounded from below in proportion to ``strict_ratio``. It
    is not: AP is 1 where the ratio exceeds 4, and at 4 and below the two numbers
    exclude no order of the items.

    References
    ----------
    Zhu, Song, Lei, Gao and Shen, "A Lower Bound of Hash Codes' Performance", NeurIPS
    2022, section 4; percentiles as in its section 6.2.

    Examples
    --------
    >>> import numpy as np
    >>> codes = np.array([[0b0000], [0b0001], [0b0000], [0b1111], [0b0111]], np.uint8)
    >>> bound = code_bound(codes << 4, 4, ["a", "a", "a", "b", "b"])
    >>> bound.centres.ravel() >> 4, bound.min_inter, bound.max_intra, bound.ratio
    (array([ 0, 15], dtype=uint8), 4, 1, 4.0)
    """
    codes = check_codes(codes, n_bits)
    members = read_members(labels, len(codes))
    if len(members.classes) < 2:
        raise ArgumentError(
            "the bound compares classes: need at least 2 with items, got 1"
        )
    centres = majority_codes(codes, n_bits, members)
    distances = centre_distances(codes, centres, members)
    counts = np.zeros(n_bits + 1, np.int64)
    nearest = np.empty(len(centres), np.int64)
    gaps = np.empty(len(centres), np.int32)
    for span in spans(len(centres), _BLOCK_PAIRS // len(centres)):
        between = hamming_distances(centres[span], centres)
        counts += np.bincount(between.ravel(), minlength=n_bits + 1)
        between[np.arange(len(between)), np.arange(len(centres))[span]] = n_bits + 1
        nearest[span] = between.argmin(axis=1)
        gaps[span] = between.min(axis=1)
    counts[0] -= len(centres)  # each with itself
    counts //= 2
    within = np.bincount(distances, minlength=n_bits + 1)
    firsts = np.flatnonzero(np.diff(members.numbers, prepend=-1))
    return CodeBound(
        classes=members.classes,
        centres=centres,
        inter=DistanceHistogram(counts),
        intra=DistanceHistogram(within),
        low_inter=n_bits - _reached(counts[::-1]),
        high_intra=_reached(within),
        nearest=nearest,
        gaps=gaps,
        widths=np.maximum.reduceat(distances, firsts),
    )


def _reached(counts: IdArray) -> int:
    """Return the distance at which the share `_COVERAGE` of a histogram is reached."""
    below = np.cumsum(counts)
    # The share may be a decimal fraction that binary numbers only come close to.
    return int(np.searchsorted(below, _COVERAGE * below[-1] * (1 - 1e-12)))


def majority_codes(codes: CodeArray, n_bits: int, members: Members) -> CodeArray:
    """Return the per-bit majority of each class; 1 where both values are as frequent.

    No code has a smaller sum of distances to the items of the class; of those that have
    the same sum this is the one that follows from LBHash's bin(0) = +1.
    """
    ones = np.zeros((len(members.classes), n_bits), np.int64)
    for span in spans(len(members.rows), _BLOCK_BITS // n_bits):
        numbers = members.numbers[span]
        bits = unpack(codes[members.rows[span]], n_bits)
        firsts = np.flatnonzero(np.diff(numbers, prepend=-1))
        ones[numbers[firsts]] += np.add.reduceat(bits, firsts, axis=0, dtype=np.int64)
    sizes = np.bincount(members.numbers)
    return np.packbits(2 * ones >= sizes[:, None], axis=1)


def centre_distances(
    codes: CodeArray, centres: CodeArray, members: Members
) -> DistanceArray:
    """Return the distance of each member to the centre of its class."""
    distances = np.empty(len(members.rows), np.int32)
    for span in spans(len(distances), _BLOCK_BITS // codes.shape[1]):
        differing = codes[members.rows[span]] ^ centres[members.numbers[span]]
        distances[span] = np.bitwise_count(differing).sum(axis=1, dtype=np.int32)
    return distances

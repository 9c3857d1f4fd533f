"""The lower bound of average precision that class distances give."""

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fewbits._checks import check_choice
from fewbits._labels import as_label_rows, check_same_kind
from fewbits._repr import one_line
from fewbits._spans import spans
from fewbits._typing import Array, CodeArray, DistanceArray, IdArray
from fewbits.analysis._codes import Members, check_codes, check_share, read_members
from fewbits.analysis.bits import DistanceHistogram
from fewbits.codes import hamming_distances, unpack
from fewbits.errors import ArgumentError

__all__ = [
    "CodeBound",
    "Members",
    "ap_lower_bound",
    "code_bound",
    "majority_codes",
]

_BLOCK_BITS = 1 << 24  # bits unpacked at once, one byte each
_BLOCK_PAIRS = 1 << 22  # distances held at once


@dataclass(frozen=True, eq=False, slots=True)
class CodeBound:
    """Distances between and within classes; see `code_bound`.

    Attributes
    ----------
    classes : ndarray of shape (n_classes,)
        Those with items; the numbers of the columns when labels are a matrix.
    sizes : ndarray of shape (n_classes,), dtype int64
    centres : ndarray of shape (n_classes, n_bytes), dtype uint8
        Packed.
    inter : DistanceHistogram
        D_inter: of all pairs of centres.
    intra : DistanceHistogram
        D_intra: of every item to the centre of each of its classes.
    low_inter, high_intra : int
        `min_inter` and `max_intra` without outliers: the largest distance that the
        share `coverage` of D_inter reaches, and the smallest that the share of D_intra
        does not exceed.
    coverage : float
    nearest : ndarray of shape (n_classes,), dtype int64
        Number of the class whose centre is nearest, the first of several.
    gaps : ndarray of shape (n_classes,), dtype int32
        Distance to it.
    widths : ndarray of shape (n_classes,), dtype int32
        Largest distance of an item to the centre of its class.
    """

    classes: Array
    sizes: IdArray = field(repr=False)
    centres: CodeArray = field(repr=False)
    inter: DistanceHistogram = field(repr=False)
    intra: DistanceHistogram = field(repr=False)
    low_inter: int
    high_intra: int
    coverage: float
    nearest: IdArray = field(repr=False)
    gaps: DistanceArray = field(repr=False)
    widths: DistanceArray = field(repr=False)

    def __repr__(self) -> str:
        return one_line(self)

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
        """``min D_inter / max(max D_intra, 1)``."""
        return self.min_inter / max(self.max_intra, 1)

    @property
    def ratio(self) -> float:
        """``low_inter / max(high_intra, 1)``: the ratio that the paper reports."""
        return self.low_inter / max(self.high_intra, 1)

    @property
    def is_perfect(self) -> bool:
        """True if any query as near to its centre as the items has an AP of 1.

        True when ``min D_inter > 4 max D_intra``; the two distances do not decide it
        otherwise.
        """
        return self.min_inter > 4 * self.max_intra

    def summary(self) -> dict[str, Any]:
        """Return the metrics as plain values."""
        closest = int(self.gaps.argmin())
        return {
            "n_classes": len(self.classes),
            "ratio": self.ratio,
            "strict_ratio": self.strict_ratio,
            "coverage": self.coverage,
            "low_inter": self.low_inter,
            "high_intra": self.high_intra,
            "min_inter": self.min_inter,
            "max_intra": self.max_intra,
            "mean_inter": self.inter.mean,
            "mean_intra": self.intra.mean,
            "closest_classes": self.classes[[closest, self.nearest[closest]]].tolist(),
            "widest_class": self.classes[[self.widths.argmax()]].tolist()[0],
        }


def code_bound(
    codes: CodeArray, n_bits: int, labels: ArrayLike, *, coverage: float = 0.999
) -> CodeBound:
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
        The class of each item, all strings or all numbers; or, where an item may have
        several labels or none, 0 and 1 for each item and label. Labels without items
        are left out.
    coverage : float, default=0.999
        Share of each set of distances that the ratio without outliers is about.

    Returns
    -------
    CodeBound

    Raises
    ------
    CodeError
        When the codes are not packed codes of `n_bits` bits.
    ArgumentError
        When labels are not one, or one row, per code, or fewer than two classes have
        items.

    Notes
    -----
    The time is that of one pass over the codes and one over the pairs of centres; a
    million codes and a thousand classes take seconds. Classes of one item count: their
    distance is 0.

    The paper writes that AP is bounded from below in proportion to ``strict_ratio``. It
    is not: `ap_lower_bound` says what holds.

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
    coverage = check_share(coverage, "coverage")
    members = read_members(labels, len(codes))
    if len(members.classes) < 2:
        raise ArgumentError(
            "the bound compares classes: need at least 2 with items, got 1"
        )
    centres = majority_codes(codes, n_bits, members)
    distances = _centre_distances(codes, centres, members)
    counts, nearest, gaps = _between_centres(centres, n_bits)
    within = np.bincount(distances, minlength=n_bits + 1)
    firsts = np.flatnonzero(np.diff(members.numbers, prepend=-1))
    return CodeBound(
        classes=members.classes,
        sizes=np.bincount(members.numbers),
        centres=centres,
        inter=DistanceHistogram(counts, int(counts.sum()), exact=True),
        intra=DistanceHistogram(within, len(distances), exact=True),
        low_inter=n_bits - _reached(counts[::-1], coverage),
        high_intra=_reached(within, coverage),
        coverage=coverage,
        nearest=nearest,
        gaps=gaps,
        widths=np.maximum.reduceat(distances, firsts),
    )


def _reached(counts: IdArray, share: float) -> int:
    """Return the quantile of a histogram at which `share` of the counts is reached."""
    below = np.cumsum(counts)
    # The share may be a decimal fraction that binary numbers only come close to.
    return int(np.searchsorted(below, share * below[-1] * (1 - 1e-12)))


def _misranks(distances: ArrayLike, relevant: ArrayLike) -> IdArray:
    """Return the number of false positives nearer than each true positive."""
    values, truth = np.asarray(distances), np.asarray(relevant)
    if values.ndim != 1 or values.shape != truth.shape or truth.dtype != np.bool_:
        raise ArgumentError(
            "need one distance and one truth value per item, got shapes "
            f"{values.shape} and {truth.shape}"
        )
    return np.searchsorted(np.sort(values[~truth]), np.sort(values[truth]))


def ap_lower_bound(
    queries: CodeArray,
    query_labels: ArrayLike,
    codes: CodeArray,
    labels: ArrayLike,
    n_bits: int,
    *,
    knowing: str = "classes",
) -> NDArray[np.float64]:
    """Return a lower bound of the average precision of each query.

    Items are known by their distance to the centre of their class only, so each lies
    somewhere between ``|D - r|`` and ``D + r`` from a query, ``D`` its distance to the
    centre and ``r`` that of the item. The bound takes every false positive as near and
    every true one as far as that allows.

    Parameters
    ----------
    queries, codes : ndarray of shape (n, n_bytes), dtype uint8
        Packed codes; `codes` are searched.
    query_labels, labels : array-like of shape (n,) or (n, n_labels)
        As in `code_bound`, the same kind on both sides. Items that share a label with
        a query are the true positives.
    n_bits : int
        Length of the codes.
    knowing : {"query", "classes", "extremes"}, default="classes"
        ``query``: the distance of the query to every centre. ``classes``: its distance
        to the centres of its own classes only, and D_inter. ``extremes``: the same,
        but of D_inter only the smallest, and of D_intra only the largest distance, as
        in the paper's proposition; it is 1, or all that the numbers of true and false
        positives say. Each is no larger than the one before.

    Returns
    -------
    ndarray of shape (n_queries,), dtype float64
        Of the average precision over the whole ranking, whatever the order of items at
        equal distance; NaN for queries without a true positive.

    Raises
    ------
    CodeError
        When codes are not packed codes of `n_bits` bits.
    ArgumentError
        When labels do not fit, or `knowing` is none of the three.

    Notes
    -----
    The k-th nearest true positive is no farther than the k-th smallest of their upper
    bounds ``u``, and false positives with a lower bound above ``u`` are behind it. With
    ``m`` the number of the others, AP is at least the mean of ``k / (k + m_k)``.

    The paper's proposition reads ``AP >= const min D_inter / max D_intra``. With ``r``
    the largest D_intra, also of the query, true positives are within ``2 r`` and false
    ones beyond ``min D_inter - 2 r``; so AP is 1 where the ratio exceeds 4. At 4 and
    below, the two numbers exclude no order of the items: AP may be as small as the mean
    of ``k / (k + n_false)``, which ``extremes`` returns. At 2 and below, a false
    positive may share the query's code, so no constant above 0 makes the proposition's
    second inequality true either.

    References
    ----------
    Zhu, Song, Lei, Gao and Shen, "A Lower Bound of Hash Codes' Performance", NeurIPS
    2022, section 4.

    Examples
    --------
    >>> import numpy as np
    >>> codes = np.array([[0b00000000], [0b00000001], [0b11111111]], np.uint8)
    >>> y = ["cat", "cat", "owl"]
    >>> ap_lower_bound(codes[:1], ["cat"], codes, y, 8, knowing="extremes")
    array([1.])
    >>> ap_lower_bound(np.array([[0b00111000]], np.uint8), ["cat"], codes, y, 8)
    array([0.58333333])
    """
    codes, queries = check_codes(codes, n_bits), check_codes(queries, n_bits)
    check_choice(knowing, "knowing", ("query", "classes", "extremes"))
    members = read_members(labels, len(codes))
    own_classes = _own_classes(query_labels, labels, len(queries), members.classes)
    centres = majority_codes(codes, n_bits, members)
    radii = _centre_distances(codes, centres, members)
    between = hamming_distances(centres, centres)
    if knowing == "extremes":
        others = ~np.eye(len(between), dtype=bool)
        smallest = between[others].min() if others.any() else 0
        between = np.where(others, smallest, 0).astype(np.int32)
        radii = np.full_like(radii, radii.max())
    to_centres = hamming_distances(queries, centres)
    # Pairs of an item and a class of it, in the order of the items.
    order = np.argsort(members.rows, kind="stable")
    classes, radii = members.numbers[order], radii[order]
    firsts = np.flatnonzero(np.diff(members.rows[order], prepend=-1))
    bounds = np.full(len(queries), np.nan)
    for i, own in enumerate(own_classes):
        if not len(own):
            continue
        low, high = _reach(knowing, to_centres[i], between, own, n_bits)
        low, high = low[classes], high[classes]
        nearest = np.maximum(low - radii, radii - high).clip(min=0)
        lower = np.maximum.reduceat(nearest, firsts)
        upper = np.minimum.reduceat(high + radii, firsts)
        relevant = np.logical_or.reduceat(np.isin(classes, own), firsts)
        closer = np.bincount(lower[~relevant], minlength=n_bits + 1)
        closer[0] += len(codes) - len(firsts)  # without labels nothing is known
        farthest = np.sort(upper[relevant].clip(max=n_bits))
        misranks = np.cumsum(closer)[farthest]
        k = np.arange(1, len(misranks) + 1)
        bounds[i] = np.mean(k / (k + misranks))
    return bounds


def _reach(
    knowing: str,
    distances: DistanceArray,
    between: DistanceArray,
    own: IdArray,
    n_bits: int,
) -> tuple[DistanceArray, DistanceArray]:
    """Return lower and upper bounds of the distance of each centre from a query.

    Of its `distances` only those to its own centres are used unless all are known.
    """
    if knowing == "query":
        return distances, distances
    to_own = distances[own, None]
    if knowing == "classes":
        low = np.abs(between[own] - to_own).max(axis=0)
        high = (between[own] + to_own).min(axis=0)
    else:  # `between` is no more than the least that it can be
        low = (between[own] - to_own).max(axis=0).clip(min=0)
        high = np.full_like(low, n_bits)
    low[own] = high[own] = distances[own]
    return low, high


def _own_classes(
    query_labels: ArrayLike, labels: ArrayLike, n_queries: int, classes: Array
) -> list[IdArray]:
    """Return the numbers of the classes of each query that have items."""
    of_queries = as_label_rows(query_labels, n=n_queries)
    of_items = as_label_rows(labels)
    if of_queries.ndim != of_items.ndim:
        raise ArgumentError(
            "labels of queries and items must have the same form, got shapes "
            f"{of_queries.shape} and {of_items.shape}"
        )
    if of_items.ndim == 2:
        if of_queries.shape[1] != of_items.shape[1]:
            raise ArgumentError(
                f"queries have {of_queries.shape[1]} label columns, items "
                f"{of_items.shape[1]}"
            )
        return [np.flatnonzero(row) for row in of_queries[:, classes]]
    check_same_kind(of_queries, of_items, ("labels of queries", "labels of items"))
    queries = read_members(of_queries, n_queries)
    number_of = {name: i for i, name in enumerate(classes.tolist())}
    own = [np.empty(0, np.int64)] * n_queries
    for name, row in zip(
        queries.classes[queries.numbers].tolist(), queries.rows.tolist(), strict=True
    ):
        if name in number_of:
            own[row] = np.array([number_of[name]])
    return own


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


def _centre_distances(
    codes: CodeArray, centres: CodeArray, members: Members
) -> DistanceArray:
    """Return the distance of each member to the centre of its class."""
    distances = np.empty(len(members.rows), np.int32)
    for span in spans(len(distances), _BLOCK_BITS // codes.shape[1]):
        differing = codes[members.rows[span]] ^ centres[members.numbers[span]]
        distances[span] = np.bitwise_count(differing).sum(axis=1, dtype=np.int32)
    return distances


def _between_centres(
    centres: CodeArray, n_bits: int
) -> tuple[IdArray, IdArray, DistanceArray]:
    """Return a histogram of the distances, and for each centre the nearest other."""
    counts = np.zeros(n_bits + 1, np.int64)
    nearest = np.empty(len(centres), np.int64)
    gaps = np.empty(len(centres), np.int32)
    for span in spans(len(centres), _BLOCK_PAIRS // len(centres)):
        distances = hamming_distances(centres[span], centres)
        counts += np.bincount(distances.ravel(), minlength=n_bits + 1)
        distances[np.arange(len(distances)), np.arange(len(centres))[span]] = n_bits + 1
        nearest[span] = distances.argmin(axis=1)
        gaps[span] = distances.min(axis=1)
    counts[0] -= len(centres)  # each with itself
    return counts // 2, nearest, gaps

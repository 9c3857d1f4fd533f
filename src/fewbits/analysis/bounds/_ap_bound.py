"""Bounds on average precision from distances between and within classes."""

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fewbits._checks import check_choice
from fewbits._labels import as_label_rows, check_same_kind
from fewbits._typing import Array, CodeArray, DistanceArray, IdArray
from fewbits.analysis._checks import check_codes
from fewbits.analysis._members import Members, read_members
from fewbits.analysis.bounds._centres import centre_distances, majority_codes
from fewbits.codes import hamming_distances
from fewbits.errors import ArgumentError

FloatArray = NDArray[np.float64]
Mask = NDArray[np.bool_]


def misranks(distances: ArrayLike, relevant: ArrayLike) -> IdArray:
    """Return the number of false positives nearer than each true positive.

    Parameters
    ----------
    distances : array-like of shape (n,)
        From a query to every item.
    relevant : array-like of shape (n,), dtype bool

    Returns
    -------
    ndarray of shape (n_relevant,), dtype int64
        ``m``, for the true positives from the nearest on. The mean of ``k / (k + m_k)``
        over ``k = 1, 2, ...`` is the average precision where items at equal distance
        are ordered in favour of the true ones.

    Raises
    ------
    ArgumentError
        When there is not one distance and one truth value per item.

    References
    ----------
    Zhu et al., "A Lower Bound of Hash Codes' Performance", NeurIPS 2022, section 4.

    Examples
    --------
    >>> misranks([0, 3, 1, 2], [True, True, False, False])
    array([0, 2])
    """
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
) -> FloatArray:
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
    check_choice(knowing, "knowing", _REACHES)
    members = read_members(labels, len(codes))
    own = _own_classes(query_labels, labels, len(queries), members.classes)
    centres = majority_codes(codes, n_bits, members)
    radii = centre_distances(codes, centres, members)
    between = hamming_distances(centres, centres)
    if knowing == "extremes":
        between, radii = _extremes(between), np.full_like(radii, radii.max())
    to_centres = hamming_distances(queries, centres)
    items = _Items(members, radii, len(codes), n_bits)
    bounds = np.full(len(queries), np.nan)
    for i, classes in enumerate(own):
        if len(classes):
            reach = _REACHES[knowing](to_centres[i], between, classes, n_bits)
            bounds[i] = items.bound(reach, classes)
    return bounds


class _Reach(NamedTuple):
    """Lower and upper bounds of the distance of each centre from a query."""

    low: DistanceArray
    high: DistanceArray


def _measured(
    distances: DistanceArray, between: DistanceArray, own: IdArray, n_bits: int
) -> _Reach:
    return _Reach(distances, distances)


def _through_own(
    distances: DistanceArray, between: DistanceArray, own: IdArray, n_bits: int
) -> _Reach:
    """Bound the distances to all centres by those to the query's own."""
    to_own = distances[own, None]
    low = np.abs(between[own] - to_own).max(axis=0)
    high = (between[own] + to_own).min(axis=0)
    low[own] = high[own] = distances[own]
    return _Reach(low, high)


def _past_nearest(
    distances: DistanceArray, between: DistanceArray, own: IdArray, n_bits: int
) -> _Reach:
    """Do the same with `between` being no more than the least that it can be."""
    low = (between[own] - distances[own, None]).max(axis=0).clip(min=0)
    high = np.full_like(low, n_bits)
    low[own] = high[own] = distances[own]
    return _Reach(low, high)


_REACHES = {"query": _measured, "classes": _through_own, "extremes": _past_nearest}


def _extremes(between: DistanceArray) -> DistanceArray:
    """Replace all distances of pairs by the smallest."""
    others = ~np.eye(len(between), dtype=bool)
    smallest = between[others].min() if others.any() else 0
    return np.where(others, smallest, 0).astype(np.int32)


class _Items:
    """The items, as pairs with their classes in the order of the items."""

    def __init__(
        self, members: Members, radii: DistanceArray, n: int, n_bits: int
    ) -> None:
        order = np.argsort(members.rows, kind="stable")
        self._classes, self._radii = members.numbers[order], radii[order]
        self._n_bits, self._n_classes = n_bits, len(members.classes)
        self._firsts = np.flatnonzero(np.diff(members.rows[order], prepend=-1))
        self._n_unlabelled = n - len(self._firsts)

    def bound(self, reach: _Reach, own: IdArray) -> float:
        """Bound the AP of a query of the classes `own`."""
        low, high = reach.low[self._classes], reach.high[self._classes]
        nearest = np.maximum(low - self._radii, self._radii - high).clip(min=0)
        lower = np.maximum.reduceat(nearest, self._firsts)
        upper = np.minimum.reduceat(high + self._radii, self._firsts)
        is_own = np.zeros(self._n_classes, np.bool_)
        is_own[own] = True
        truth = np.logical_or.reduceat(is_own[self._classes], self._firsts)
        closer = np.bincount(lower[~truth], minlength=self._n_bits + 1)
        closer[0] += self._n_unlabelled  # of which nothing is known
        farthest = np.sort(upper[truth].clip(max=self._n_bits))
        return _mean_precision(np.cumsum(closer)[farthest])


def _mean_precision(misranks: IdArray) -> float:
    places = np.arange(1, len(misranks) + 1)
    return float(np.mean(places / (places + misranks)))


def _own_classes(
    query_labels: ArrayLike, labels: ArrayLike, n_queries: int, classes: Array
) -> list[IdArray]:
    """Return the numbers of the classes of each query that have items."""
    asked, known = as_label_rows(query_labels, n=n_queries), as_label_rows(labels)
    if asked.ndim != known.ndim:
        raise ArgumentError(
            "labels of queries and items must have the same form, got shapes "
            f"{asked.shape} and {known.shape}"
        )
    if known.ndim != 2:
        check_same_kind(asked, known, ("labels of queries", "labels of items"))
        return _numbers(read_members(asked, n_queries), classes, n_queries)
    if asked.shape[1] != known.shape[1]:
        raise ArgumentError(
            f"queries have {asked.shape[1]} label columns, items {known.shape[1]}"
        )
    return [np.flatnonzero(row) for row in asked[:, classes]]


def _numbers(found: Members, classes: Array, n_queries: int) -> list[IdArray]:
    place = {name: i for i, name in enumerate(classes.tolist())}
    own = [np.empty(0, np.int64)] * n_queries
    for number, row in zip(found.numbers.tolist(), found.rows.tolist(), strict=True):
        name = found.classes[number].item()
        if name in place:
            own[row] = np.array([place[name]])
    return own

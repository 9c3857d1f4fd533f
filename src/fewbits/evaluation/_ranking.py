"""Average precision of rankings with ties, and what is relevant to each query.

Hamming distance takes few values, so most of a ranking is ties. Everything that the
measures need of a query is, for each distance, how many items are there and how many of
them are relevant: two histograms, made without sorting.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fewbits._arrow import as_array
from fewbits._checks import check_choice, check_count
from fewbits._labels import as_label_rows, check_same_kind
from fewbits._repr import one_line
from fewbits._spans import spans
from fewbits._typing import Array, IdArray
from fewbits._unit_rows import unit_rows
from fewbits.codes import as_codes, hamming_distances
from fewbits.errors import ArgumentError, FeatureError

METRICS = ("hamming", "euclidean", "cosine", "dot")
FloatArray = NDArray[np.float64]
Mask = NDArray[np.bool_]
WholeArray = NDArray[np.int32] | NDArray[np.int64]
_BLOCK_ENTRIES = 1 << 20
_CHECKED_ENTRIES = 1 << 22  # of features, at a time


@dataclass(frozen=True, eq=False, slots=True)
class Relevance:
    """A truth matrix (n_queries, n_database) that is made a few rows at a time.

    Attributes
    ----------
    n_queries, n_database : int
    labelled : ndarray of shape (n_queries,), dtype bool
        False for queries that nothing is known about; every measure skips those.
    description : str
    block : callable
        Returns the rows of a slice of the matrix.
    """

    n_queries: int
    n_database: int
    labelled: Mask
    description: str
    block: Callable[[slice], Mask]

    __repr__ = one_line


def same_label(query_labels: ArrayLike, database_labels: ArrayLike) -> Relevance:
    """Call an item relevant when it shares a label with the query.

    Parameters
    ----------
    query_labels : array-like of shape (n_queries,) or (n_queries, n_labels)
        One label per query, of any type that sorts, or a 0/1 indicator matrix for
        several labels per query.
    database_labels : array-like of shape (n_database,) or (n_database, n_labels)
        In the same form.

    Returns
    -------
    Relevance
        Queries without any label (rows of zeros) are marked, and every measure skips
        and counts them.

    Raises
    ------
    ArgumentError
        When the two differ in form, or are empty.

    Examples
    --------
    >>> same_label(["cat", "dog"], ["dog", "owl"]).block(slice(0, 2))
    array([[False, False],
           [ True, False]])
    >>> same_label([[1, 0], [0, 0]], [[1, 1], [0, 1]]).labelled
    array([ True, False])
    """
    queries = as_label_rows(query_labels, "query labels")
    database = as_label_rows(database_labels, "database labels")
    if queries.ndim != database.ndim:
        raise ArgumentError(
            "labels of both sides must have the same number of dimensions, got "
            f"{queries.shape} and {database.shape}"
        )
    check_not_empty(queries, "query labels")
    check_not_empty(database, "database labels")
    if queries.ndim == 2:
        if queries.shape[1] != database.shape[1]:
            raise ArgumentError(
                f"queries have {queries.shape[1]} label columns, "
                f"the database has {database.shape[1]}"
            )
        labelled = np.asarray((queries > 0).any(axis=1), np.bool_)
        # float32 products are counts, exact up to 2**24 labels, and use BLAS.
        left, right = queries.astype(np.float32), database.astype(np.float32).T
        return Relevance(
            len(queries),
            len(database),
            labelled,
            "relevant: share a label",
            lambda span: np.greater(left[span] @ right, 0),
        )
    check_same_kind(queries, database, ("query labels", "database labels"))
    both = np.concatenate([queries, database])
    names, numbers = np.unique(both, return_inverse=True)
    # The narrowest type keeps the comparison of all with all in the cache.
    numbers = numbers.astype(np.min_scalar_type(len(names)))
    asking, items = numbers[: len(queries), None], numbers[len(queries) :]
    return Relevance(
        len(queries),
        len(database),
        np.ones(len(queries), np.bool_),
        "relevant: same label",
        lambda span: np.equal(asking[span], items),
    )


def listed(
    offsets: IdArray, ids: IdArray, n_database: int, description: str
) -> Relevance:
    """Call the rows ``ids[offsets[q]:offsets[q + 1]]`` relevant to query ``q``."""
    n_queries = len(offsets) - 1

    def block(span: slice) -> Mask:
        start, stop, _ = span.indices(n_queries)
        counts = np.diff(offsets[start : stop + 1])
        mask = np.zeros((stop - start, n_database), np.bool_)
        rows = np.repeat(np.arange(stop - start), counts)
        mask[rows, ids[offsets[start] : offsets[stop]]] = True
        return mask

    labelled = np.ones(n_queries, np.bool_)
    return Relevance(n_queries, n_database, labelled, description, block)


def as_ids(neighbours: ArrayLike, name: str) -> IdArray:
    """Return a matrix of row numbers, no number twice in a row (but -1)."""
    ids = np.asarray(neighbours)
    if ids.ndim != 2 or ids.dtype.kind not in "iu" or ids.size == 0:
        raise ArgumentError(
            f"{name} must be a matrix of row numbers (n_queries, k), "
            f"got dtype {ids.dtype} and shape {ids.shape}"
        )
    ids = ids.astype(np.int64, copy=False)
    ordered = np.sort(ids, axis=1)
    if ((ordered[:, 1:] == ordered[:, :-1]) & (ordered[:, 1:] >= 0)).any():
        raise ArgumentError(f"{name} hold the same row number twice for one query")
    return ids


@dataclass(frozen=True, eq=False, slots=True)
class Score:
    """A mean over queries, and what it is the mean of.

    Attributes
    ----------
    value : float
        Mean over the queries that count.
    per_query : ndarray of shape (n_queries,), dtype float64
        NaN for skipped queries.
    n_skipped : int
        Queries for which the measure is not defined; they are not in the mean.
    definition : str
        Which measure this is, in words.
    """

    value: float
    per_query: NDArray[np.float64]
    n_skipped: int
    definition: str

    __repr__ = one_line


def mean_average_precision(
    queries: Array,
    database: Array,
    relevance: Relevance,
    *,
    at: int | None = None,
    metric: str = "hamming",
) -> Score:
    """Mean over queries of the average precision of a ranking by distance.

    The average precision of a query is the sum of precision@i over the ranks ``i <= R``
    that hold a relevant item, divided by R or by the number of relevant items in the
    database, whichever is less. Of items at equal distance it is the exact mean over
    all orders. Other numbers go by the same name, and differ by up to .2 on the same
    ranking: public code of deep hashing divides by the relevant items among the first
    R, which hides those that are not found.

    Parameters
    ----------
    queries, database : ndarray of shape (n, n_bytes), dtype uint8
        Packed codes; with another `metric`, features of shape (n, n_features).
    relevance : Relevance
        From `same_label` or `within_distance`.
    at : int or None, default=None
        R, the length of the ranking; None, or more than the database holds, ranks it
        all.
    metric : {"hamming", "euclidean", "cosine", "dot"}, default="hamming"
        Distance to rank by; the others rank features, for comparison.

    Returns
    -------
    Score
        Queries without a label, or without any relevant item in the database, are
        skipped.

    Raises
    ------
    ArgumentError
        When an option is unknown, sizes do not fit, or every query is skipped.

    Notes
    -----
    O(N + n_bits) per query and no sorting.

    References
    ----------
    McSherry and Najork, "Computing Information Retrieval Performance Measures
    Efficiently in the Presence of Tied Scores", ECIR 2008.

    Examples
    --------
    >>> import numpy as np
    >>> from fewbits.evaluation import same_label
    >>> database = np.array([[0], [0], [255]], dtype=np.uint8)
    >>> relevance = same_label(["owl"], ["owl", "cat", "owl"])
    >>> score = mean_average_precision(database[:1], database, relevance)
    >>> round(score.value, 4)  # (1 + 2/3) / 2 and (1/2 + 2/3) / 2, equally likely
    0.7083
    """
    at = None if at is None else check_count(at, "at")
    values = np.full(len(queries), np.nan)
    for span, groups in tie_groups(queries, database, relevance, metric):
        total = groups.sizes.sum(axis=1)
        length = total if at is None else np.minimum(at, total)
        most = np.minimum(length, groups.relevant.sum(axis=1))
        values[span] = ratios(_precision_sums(groups, length).sum(axis=1), most)
        values[span][~relevance.labelled[span]] = np.nan
    name = "mAP" if at is None else f"mAP@{at}"
    return mean_score(
        values,
        f"{name}, AP divides by min(R, relevant); ties: expected; "
        f"ranked by {metric} distance; {relevance.description}",
    )


def ratios(a: NDArray[Any], b: NDArray[Any]) -> FloatArray:
    """Divide; NaN where there is nothing to find."""
    values = np.full(a.shape, np.nan)
    np.divide(a, b, out=values, where=b > 0)
    return values


def mean_score(per_query: NDArray[np.float64], definition: str) -> Score:
    """Average over the queries that are not NaN."""
    counted = per_query[~np.isnan(per_query)]
    n_skipped = len(per_query) - len(counted)
    if not len(counted):
        raise ArgumentError(
            f"none of the {len(per_query):,} queries has a label and a relevant item, "
            f"so there is no {definition}"
        )
    note = f"; {n_skipped} of {len(per_query)} queries skipped" if n_skipped else ""
    return Score(float(counted.mean()), per_query, n_skipped, definition + note)


class TieGroups(NamedTuple):
    """Two matrices (n_queries, n_groups), nearest group first; groups may be empty."""

    sizes: IdArray
    relevant: IdArray


def tie_groups(
    queries: Array, database: Array, relevance: Relevance, metric: str = "hamming"
) -> Iterator[tuple[slice, TieGroups]]:
    """Rank the database for each query."""
    if check_choice(metric, "metric", METRICS) == "hamming":
        queries, database = as_codes(queries), as_codes(database)
        check_not_empty(queries, "queries")
        check_not_empty(database, "database")
    else:
        database = as_features(database, "database")
        queries = as_features(queries, "queries", database.shape[1])
    if not isinstance(relevance, Relevance):
        raise ArgumentError(
            "relevance must come from same_label or within_distance, "
            f"got {type(relevance).__name__}"
        )
    needed = relevance.n_queries, relevance.n_database
    if (len(queries), len(database)) != needed:
        raise ArgumentError(
            f"relevance is known for {needed[0]} queries and {needed[1]} items, "
            f"got {len(queries)} queries and {len(database)} items"
        )
    for span, levels, n_levels in _levels(queries, database, metric):
        n, relevant = len(levels), relevance.block(span)
        # One pass of bincount for all rows: row and level as one number. Few are
        # relevant.
        keys = levels + n_levels * np.arange(n, dtype=np.int64)[:, None]
        sizes, hits = (
            np.bincount(part, minlength=n_levels * n).reshape(n, n_levels)
            for part in (keys.ravel(), keys[np.broadcast_to(relevant, keys.shape)])
        )
        yield span, TieGroups(sizes, hits)


def _levels(
    queries: Array, database: Array, metric: str
) -> Iterator[tuple[slice, WholeArray, int]]:
    """Yield spans of queries, their distances as numbers, and how many there may be."""
    if metric == "hamming":
        for span in spans(len(queries), _BLOCK_ENTRIES // len(database)):
            levels = hamming_distances(queries[span], database)
            yield span, levels, 8 * database.shape[1] + 1
        return

    def rows(X: Array) -> FloatArray:
        X = X.astype(np.float64)
        return unit_rows(X) if metric == "cosine" else X

    for chunk in spans(len(queries), 16 * _BLOCK_ENTRIES // len(database)):
        Q = rows(queries[chunk])
        distances = np.empty((len(Q), len(database)))
        for items in spans(len(database), 4 * _BLOCK_ENTRIES // database.shape[1]):
            D = rows(database[items])
            np.matmul(Q, D.T, out=distances[:, items])
            distances[:, items] *= -1
            if metric == "euclidean":
                distances[:, items] += np.einsum("ij,ij->i", D, D) / 2
        for span in spans(len(distances), _BLOCK_ENTRIES // len(database)):
            whole = slice(chunk.start + span.start, chunk.start + span.stop)
            yield whole, *_level_numbers(distances[span])


def _level_numbers(distances: FloatArray) -> tuple[IdArray, int]:
    """Replace the values of each row by the ranks of the distinct ones, from 0 on.

    Values that differ by some 1e-12 of the row's largest count as equal, since matrix
    products may round equal items differently.
    """
    largest = np.abs(distances).max(axis=1, keepdims=True)
    steps = np.rint(distances * (2.0**40 / np.where(largest > 0, largest, 1.0)))
    order = np.argsort(steps, axis=1)  # equal values get one number in any order
    values = np.take_along_axis(steps, order, axis=1)
    numbers = np.zeros(distances.shape, np.int64)
    np.cumsum(values[:, 1:] != values[:, :-1], axis=1, out=numbers[:, 1:])
    levels = np.empty_like(numbers)
    np.put_along_axis(levels, order, numbers, axis=1)
    return levels, int(numbers[:, -1].max()) + 1


def hits_at(groups: TieGroups, k: int) -> FloatArray:
    """Return how many relevant items are among the first `k`; within ties, the mean."""
    sizes, relevant = groups
    ends = np.cumsum(sizes, axis=1)
    inside = np.clip(k - (ends - sizes), 0, sizes)
    whole = np.where(inside == sizes, relevant, 0).sum(axis=1)
    cut = np.where(inside < sizes, relevant / np.maximum(sizes, 1) * inside, 0)
    return np.asarray(cut.sum(axis=1) + whole)


# In a group of ``n`` items, ``r`` of them relevant, that follows ``t`` items with ``p``
# relevant ones, the item at place ``j`` is relevant with probability ``r / n``, and the
# places before it then hold ``(j - 1)(r - 1)/(n - 1)`` relevant items on average. So
# the first ``m`` places contribute
#
#     sum_{j <= m}  r/n (p + 1 + (j - 1)(r - 1)/(n - 1)) / (t + j)
#
# which, as (j - 1)/(t + j) = 1 - (t + 1)/(t + j), needs only the difference of two
# harmonic numbers, and costs the same for a group of any size.
_EXACT = 64
_HARMONIC = np.concatenate([[0.0], np.cumsum(1.0 / np.arange(1, _EXACT + 1))])


def _precision_sums(groups: TieGroups, length: IdArray) -> FloatArray:
    """Return what each group adds to the sum over the first `length` ranks."""
    n, r = groups
    if (n == 1).all():
        ranks = np.arange(1, r.shape[1] + 1)
        hits = r * (ranks <= length[:, None])
        return hits * (np.cumsum(r, axis=1) / ranks)
    t, p = np.cumsum(n, axis=1) - n, np.cumsum(r, axis=1) - r
    m = np.clip(length[:, None] - t, 0, n)
    slope = (r - 1) / np.maximum(n - 1, 1)
    span = _harmonic_span(t, m)
    sums: FloatArray = (p + 1) * span + slope * (m - (t + 1) * span)
    return sums * (r / np.maximum(n, 1))


def _harmonic_span(start: IdArray, length: IdArray) -> FloatArray:
    """Return the sum of ``1 / i`` over ``start < i <= start + length``."""
    stop = start + length
    near = _HARMONIC[np.minimum(stop, _EXACT)] - _HARMONIC[np.minimum(start, _EXACT)]
    start = np.maximum(start, _EXACT)
    stop = np.maximum(stop, _EXACT)

    # H(n) = ln x + gamma + 1/(24 x^2) - 7/(960 x^4) + 31/(8064 x^6) - ..., x = n + 1/2
    def correction(n: Array) -> FloatArray:
        z = (n + 0.5) ** -2.0
        tail: FloatArray = z * (1 / 24 - z * (7 / 960 - z * (31 / 8064)))
        return tail

    far = np.log1p((stop - start) / (start + 0.5)) + correction(stop)
    result: FloatArray = near + (far - correction(start))
    return result


# Checks of what metrics are given, one clear line each.


def check_known(k: int, n: int, what: str) -> None:
    """Refuse a ground truth of more neighbours than there are."""
    if k > n:
        raise ArgumentError(f"k={k} asks for more neighbours than the {n} {what}")


def check_not_empty(array: Array, name: str) -> None:
    if len(array) == 0:
        raise ArgumentError(f"{name} must not be empty")


def as_features(X: ArrayLike, name: str, n_features: int | None = None) -> Array:
    """Return a matrix of finite real numbers; memory maps stay memory maps."""
    array: Array = as_array(X, name)
    if array.ndim != 2 or array.shape[1] == 0:
        raise FeatureError(
            f"{name} must have 2 dimensions (n, n_features), got shape {array.shape}"
        )
    if n_features is not None and array.shape[1] != n_features:
        raise FeatureError(
            f"{name} must have {n_features} features, got {array.shape[1]}"
        )
    check_not_empty(array, name)
    for span in spans(len(array), _CHECKED_ENTRIES // array.shape[1]):
        finite = np.isfinite(array[span])
        if not finite.all():
            row = span.start + int(np.argmin(finite.all(axis=1)))
            raise FeatureError(
                f"{name} must be finite, got NaN or infinity in row {row}"
            )
    return array

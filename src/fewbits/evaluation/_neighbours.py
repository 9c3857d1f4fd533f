"""Exact nearest neighbours of features, and how many of them codes find.

All pairs go through one float32 matrix product, whose rounding error has a rigorous
bound. Whatever the bound cannot decide is computed again in float64, feature by feature
in a fixed order, so that answers depend neither on blocks nor on the BLAS.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fewbits._checks import check_choice, check_count, generator
from fewbits._repr import short_repr
from fewbits._spans import spans
from fewbits._typing import Array, CodeArray, IdArray
from fewbits._unit_rows import unit_rows
from fewbits.codes import pack
from fewbits.encoders import as_features as encoder_features
from fewbits.errors import ArgumentError, FeatureError
from fewbits.evaluation._checks import as_features, check_known
from fewbits.evaluation._ranking import Score, mean_score, ratios
from fewbits.evaluation._relevance import Relevance, as_ids, listed
from fewbits.evaluation._ties import hits_at, tie_groups
from fewbits.index import METRICS

FloatArray = NDArray[np.float64]
Float32Array = NDArray[np.float32]
Progress = Callable[[int, int], None]
_ENTRIES = 1 << 24  # of a block of features
_PAIR_ENTRIES = 1 << 20  # of features compared in float64 at once
_MOST = 1 << 23  # of candidates held at once
_LARGEST = 1e150  # its square is a float64
_ROUNDING = 2.0**-24  # of one operation in float32
_UNDERFLOW = 1e-35
_QUERY_SHARE = 5  # a fifth of the rows are queries of `neighbour_recall_score`
_MOST_QUERIES = 1000
_SAMPLE = 1000  # rows whose neighbours set a threshold


class FloatNeighbours(NamedTuple):
    """The `k` nearest of every query: two matrices (n_queries, k), nearest first."""

    distances: FloatArray
    ids: IdArray

    def __repr__(self) -> str:
        return short_repr(self)


def exact_neighbours(
    queries: ArrayLike,
    database: ArrayLike,
    k: int,
    metric: str = "euclidean",
    *,
    progress: Progress | None = None,
) -> FloatNeighbours:
    """Find the `k` nearest rows of every query, exactly.

    Parameters
    ----------
    queries, database : array-like of shape (n, n_features)
        Finite features; memory maps are read in blocks.
    k : int
        From 1 to the number of rows in the database.
    metric : {"euclidean", "cosine", "dot"}, default="euclidean"
        A vector of zeros is at cosine 0 with everything.
    progress : callable, default=None
        Called with (queries done, queries in all).

    Returns
    -------
    FloatNeighbours
        ``distances`` float64 (Euclidean, 1 - cosine, or minus the dot product) and
        ``ids`` (row numbers) int64, each (n_queries, k), ordered by (distance, id).

    Raises
    ------
    FeatureError
        When features are not finite matrices of the same width.
    ArgumentError
        When `k` or `metric` lies outside its range.

    Notes
    -----
    Exact up to the rounding of float64: float32 products with a bound on their error
    choose the candidates, which are compared in float64. A query has the same answer
    alone and in a batch.

    Examples
    --------
    >>> exact_neighbours([[0.0]], [[3.0], [1.0], [-1.0]], k=2)
    FloatNeighbours(distances=array([[1., 1.]]), ids=array([[1, 2]]))
    """
    Q, D = _as_pair(queries, database, metric)
    k = check_count(k, "k")
    check_known(k, len(D), "rows of the database")
    distances, ids = np.empty((len(Q), k)), np.empty((len(Q), k), np.int64)
    for span in _blocks(Q, D)[0]:
        distances[span], ids[span] = _nearest(Q[span], D, k, metric)
        if progress is not None:
            progress(span.stop, len(Q))
    return FloatNeighbours(distances, ids)


def neighbour_recall(
    queries: Array,
    database: Array,
    neighbours: ArrayLike,
    at: int,
) -> Score:
    """k-recall@R: share of the true `k` neighbours among the first R of a ranking.

    Its expectation over the order of items at the same distance.

    Parameters
    ----------
    queries, database : ndarray of shape (n, n_bytes), dtype uint8
        Packed codes.
    neighbours : array-like of shape (n_queries, k), dtype integer
        The ids of `exact_neighbours`.
    at : int
        R, the number of items looked at.

    Returns
    -------
    Score
        Queries without true neighbours are skipped.

    Examples
    --------
    >>> import numpy as np
    >>> database = np.array([[0], [0], [255]], dtype=np.uint8)
    >>> neighbour_recall(database[:1], database, [[1]], at=1).value
    0.5
    """
    ids, n = as_ids(neighbours, "neighbours"), max(1, len(database))
    if not (ids.min() >= -1 and ids.max() < n):
        raise ArgumentError(
            f"neighbours must lie between 0 and {n - 1} (or be -1), "
            f"got {ids.min()} to {ids.max()}"
        )
    at = min(check_count(at, "at"), n)
    counts = (ids >= 0).sum(axis=1)
    what = f"relevant: the {ids.shape[1]} listed neighbours"
    relevance = listed(np.append(0, np.cumsum(counts)), ids[ids >= 0], n, what)
    values = np.full(len(queries), np.nan)
    for span, groups in tie_groups(queries, database, relevance):
        values[span] = ratios(hits_at(groups, at), counts[span])
    name = f"recall@{at}; ties: expected; ranked by hamming distance; {what}"
    return mean_score(values, name)


def search_recall(ids: ArrayLike, neighbours: ArrayLike) -> Score:
    """Share of the true neighbours that a search returned, whatever its method.

    Parameters
    ----------
    ids : array-like of shape (n_queries, R), dtype integer
        The ids that a search returned, padded with -1.
    neighbours : array-like of shape (n_queries, k), dtype integer
        The true ones, such as the ids of `exact_neighbours`.

    Examples
    --------
    >>> search_recall([[5, 2, 9]], [[2, 3]]).value
    0.5
    """
    returned, truth = as_ids(ids, "ids"), as_ids(neighbours, "neighbours")
    if len(returned) != len(truth):
        raise ArgumentError(
            f"ids holds {len(returned)} queries, neighbours {len(truth)}"
        )
    both = np.sort(np.concatenate([returned, truth], axis=1), axis=1)
    hits = ((both[:, 1:] == both[:, :-1]) & (both[:, 1:] >= 0)).sum(axis=1)
    recalls = ratios(hits, (truth >= 0).sum(axis=1))
    name = f"recall {truth.shape[1]}@{returned.shape[1]} of a search"
    return mean_score(recalls, name)


def neighbour_recall_score(
    learner: Any,
    X: ArrayLike,
    y: Any = None,
    *,
    k: int = 10,
    at: int | None = None,
    random_state: int = 0,
) -> float:
    """Score a fitted learner by the true neighbours that its codes find.

    A scorer for scikit-learn. A fifth of the rows, 1,000 at most, are queries to the
    others; whether the learner saw them is up to the folds.

    Parameters
    ----------
    learner : Learner or Pipeline
        Fitted to other rows; a pipeline ends in a learner, and neighbours are those of
        what goes into it.
    X : array-like of shape (n, n_features)
    y : None
        Not used.
    k : int, default=10
        Nearest vectors that count, by Euclidean distance.
    at : int, default=None
        Codes that are looked at; None takes `k`.
    random_state : int, default=0
        Draws the queries.

    Returns
    -------
    float
        Recall k@at; its expectation over the order of items at the same distance.

    Raises
    ------
    ArgumentError
        When there are too few rows for `k`.
    """
    features = encoder_features(X)
    check_count(k, "k")
    n_queries = min(len(features) // _QUERY_SHARE, _MOST_QUERIES)
    if not n_queries or len(features) - n_queries < k:
        raise ArgumentError(f"{len(features)} rows are too few to score by k={k}")
    order = generator(random_state).permutation(len(features))
    queries, base = (np.sort(rows) for rows in np.split(order, [n_queries]))
    nearest = exact_neighbours(features[queries], features[base], k).ids
    if hasattr(learner, "encode"):
        codes: CodeArray = learner.encode(X)
    else:  # a pipeline
        codes = pack(learner.transform(X))
    at = k if at is None else at
    return neighbour_recall(codes[queries], codes[base], nearest, at).value


def neighbour_threshold(
    database: ArrayLike, k: int = 50, *, random_state: Any = None
) -> float:
    """Mean Euclidean distance of 1,000 rows at most to their `k`-th neighbour.

    Parameters
    ----------
    database : array-like of shape (n, n_features)
    k : int, default=50
        Below the number of rows; a row is not a neighbour of itself.
    random_state : int, Generator or None, default=None
        Draws the rows where there are more.

    References
    ----------
    Gong and Lazebnik, "Iterative Quantization: A Procrustean Approach to Learning
    Binary Codes", CVPR 2011.

    Examples
    --------
    >>> neighbour_threshold([[0.0], [1.0], [3.0]], k=1)
    1.3333333333333333
    """
    X = as_features(database, "database")
    k = check_count(k, "k")
    check_known(k, len(X) - 1, "other rows of the database")
    rows = np.arange(len(X))
    if len(rows) > _SAMPLE:
        rows = np.sort(generator(random_state).choice(rows, _SAMPLE, replace=False))
    # The nearest is the row itself, or an equal one: either way its distance is 0.
    return float(exact_neighbours(X[rows], X, k + 1).distances[:, -1].mean())


def within_distance(
    queries: ArrayLike, database: ArrayLike, threshold: float
) -> Relevance:
    """Call a row relevant when it is closer than `threshold` in Euclidean distance.

    Parameters
    ----------
    queries, database : array-like of shape (n, n_features)
        Finite features.
    threshold : float
        Above 0, for example from `neighbour_threshold`.

    Returns
    -------
    Relevance
        A query with nothing that near has no relevant item; average precision and
        recall skip and count it.

    Examples
    --------
    >>> within_distance([[0.0]], [[0.5], [2.0], [-1.0]], 1.5).block(slice(0, 1))
    array([[ True, False,  True]])
    """
    Q, D = _as_pair(queries, database, "euclidean")
    if not 0 < threshold < np.inf:
        raise ArgumentError(f"threshold must be a finite distance, got {threshold}")
    offsets, items = [np.zeros(1, np.int64)], [np.empty(0, np.int64)]
    for span in _blocks(Q, D)[0]:
        screen = _Screen(Q[span], D, "euclidean")
        key = np.float32((threshold * screen.scale) ** 2 * (1 + 1e-6))
        pairs = [np.empty((2, 0), np.int64)]
        for rows in _blocks(Q, D)[1]:
            query, item = np.nonzero(screen.bounds(D[rows])[0] <= key)
            item += rows.start
            distances = _exact_distances(Q[span], D, (query, item), "euclidean")
            pairs.append(np.stack([query, item])[:, distances < threshold])
        query, item = np.concatenate(pairs, axis=1)
        order = np.argsort(query, kind="stable")
        counts = np.bincount(query, minlength=span.stop - span.start)
        offsets.append(offsets[-1][-1] + np.cumsum(counts))
        items.append(item[order])
    return listed(
        np.concatenate(offsets),
        np.concatenate(items),
        len(D),
        f"relevant: Euclidean distance below {threshold:.6g}",
    )


def _as_pair(
    queries: ArrayLike, database: ArrayLike, metric: str
) -> tuple[Array, Array]:
    """Return two matrices of finite features of the same width."""
    check_choice(metric, "metric", METRICS)
    items = as_features(database, "database")
    return as_features(queries, "queries", items.shape[1]), items


def _blocks(
    queries: Array, database: Array
) -> tuple[Iterator[slice], tuple[slice, ...]]:
    """Return spans of queries and of the database whose products fit into memory."""
    width = max(1, _ENTRIES // database.shape[1])
    return (
        spans(len(queries), min(2048, width)),
        tuple(spans(len(database), min(8192, width))),
    )


def _nearest(
    queries: Array, database: Array, k: int, metric: str
) -> tuple[FloatArray, IdArray]:
    screen = _Screen(queries, database, metric)
    smallest = np.full((len(queries), k), np.inf, np.float32)
    # Pairs that may belong to the answer, and what bounds their key from below.
    query, item = np.empty((2, 0), np.int64)
    bound = np.empty(0, np.float32)
    for span in _blocks(queries, database)[1]:
        lower, upper = screen.bounds(database[span])
        smallest = np.concatenate([smallest, upper], axis=1)
        smallest = np.partition(smallest, k - 1, axis=1)[:, :k]
        # The k-th smallest upper bound: no answer has a larger lower bound.
        limit = smallest.max(axis=1)
        row, column = np.nonzero(lower <= limit[:, None])
        query = np.concatenate([query, row])
        item = np.concatenate([item, column + span.start])
        bound = np.concatenate([bound, lower[row, column]])
        keep = bound <= limit[query]
        query, item, bound = query[keep], item[keep], bound[keep]
        if len(query) > max(_MOST, 2 * k * len(queries)):
            # Equal items by the million must not fill memory: the exact best so far.
            _, ids = _first(queries, database, (query, item), k, metric)
            query, item = np.repeat(np.arange(len(ids)), k), ids.ravel()
            bound = np.full(len(item), -np.inf, np.float32)
    return _first(queries, database, (query, item), k, metric)


def _first(
    queries: Array,
    database: Array,
    pairs: tuple[IdArray, IdArray],
    k: int,
    metric: str,
) -> tuple[FloatArray, IdArray]:
    """Return distances and ids (n_queries, k) of the best of pairs (query, item)."""
    query, item = pairs
    distances = _exact_distances(queries, database, pairs, metric)
    order = np.lexsort([item, distances, query])
    starts = np.searchsorted(query[order], np.arange(len(queries)))
    places: NDArray[np.int64] = order[starts[:, None] + np.arange(k)]
    return distances[places], item[places]


class _Screen:
    """Bounds of *keys* ``w (|q|^2 + |d|^2) - c q.d``, which order like distances.

    They are the squared Euclidean distance (w = 1, c = 2), or the negative product (w =
    0, c = 1) of unit vectors (cosine) or with a unit query (dot).
    """

    def __init__(self, queries: Array, database: Array, metric: str) -> None:
        self._metric = metric
        self._w, self._c = (1.0, 2.0) if metric == "euclidean" else (0.0, 1.0)
        self._centre = np.zeros(database.shape[1])
        if metric == "euclidean":
            # Distances do not depend on the origin; their rounding errors do.
            sample = database[:: -(-len(database) // 1024)]
            self._centre = sample.mean(axis=0, dtype=np.float64)
        largest = max(_largest(queries), _largest(database), 1e-150)
        # No row is longer than 1 afterwards.
        self.scale = 1.0 / (2.0 * largest * np.sqrt(database.shape[1]))
        self._queries, self._query_norms = self._transform(
            queries, unit=metric == "dot"
        )
        # Products of n terms, the rounding of their factors, and a few additions.
        self._error = (database.shape[1] + 16) * _ROUNDING

    def bounds(self, rows: Array) -> tuple[Float32Array, Float32Array]:
        """Return the lower and upper bounds of the keys of all queries with `rows`."""
        items, norms = self._transform(rows)
        lower = self._queries @ items.T
        lower *= np.float32(-self._c)
        upper = lower.copy()
        for bounds, sign in ((lower, -1), (upper, 1)):
            weight = self._w + sign * self._error
            bounds += (weight * norms + sign * _UNDERFLOW).astype(np.float32)
            bounds += (weight * self._query_norms).astype(np.float32)[:, None]
        return lower, upper

    def _transform(
        self, X: Array, unit: bool = False
    ) -> tuple[Float32Array, FloatArray]:
        """Return scaled rows in float32 and their squared norms."""
        result = np.empty(X.shape, np.float32)
        norms = np.empty(len(X))
        for span in spans(len(X), _PAIR_ENTRIES // X.shape[1]):
            rows = X[span].astype(np.float64)
            if unit or self._metric == "cosine":
                rows = unit_rows(rows)
            else:
                rows = (rows - self._centre) * self.scale
            norms[span] = np.einsum("ij,ij->i", rows, rows)
            result[span] = rows
        return result, norms


def _largest(X: Array) -> float:
    largest = 0.0
    for span in spans(len(X), _PAIR_ENTRIES // X.shape[1]):
        largest = max(largest, float(X[span].max()), -float(X[span].min()))
    if largest > _LARGEST:
        raise FeatureError(f"features must lie within {_LARGEST:g}, got {largest:g}")
    return largest


def _exact_distances(
    queries: Array, database: Array, pairs: tuple[IdArray, IdArray], metric: str
) -> FloatArray:
    """Return the distances of pairs (query row, database row), a few MB at a time."""
    distances = np.empty(len(pairs[0]))
    for span in spans(len(distances), _PAIR_ENTRIES // database.shape[1]):
        Q = queries[pairs[0][span]].astype(np.float64)
        D = database[pairs[1][span]].astype(np.float64)
        if metric == "euclidean":
            distances[span] = np.sqrt(np.square(Q - D).sum(axis=1))
            continue
        products = (Q * D).sum(axis=1)
        if metric == "dot":
            distances[span] = -products
            continue
        lengths = np.sqrt(np.square(Q).sum(axis=1)) * np.sqrt(np.square(D).sum(axis=1))
        cosines = np.divide(products, lengths, out=np.zeros(len(Q)), where=lengths > 0)
        distances[span] = 1.0 - cosines
    return distances

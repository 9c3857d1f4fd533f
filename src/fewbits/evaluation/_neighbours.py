"""Exact nearest neighbours of features, and how many of them codes find."""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fewbits._checks import check_count
from fewbits._repr import one_line
from fewbits._typing import Array, IdArray
from fewbits.errors import ArgumentError
from fewbits.evaluation._ranking import recall_at
from fewbits.evaluation._relevance import as_ids, ground_truth
from fewbits.evaluation._score import Score, mean_score
from fewbits.evaluation._screen import (
    Float32Array,
    FloatArray,
    Screen,
    blocks,
    check_known,
    check_pair,
    exact_distances,
)

Progress = Callable[[int, int], None]


class FloatNeighbours(NamedTuple):
    """The `k` nearest of every query: two matrices (n_queries, k), nearest first."""

    distances: FloatArray
    ids: IdArray

    def __repr__(self) -> str:
        return one_line(self)


class _Candidates(NamedTuple):
    """Pairs that may belong to the answer; `lower` bounds their key from below."""

    query: IdArray
    item: IdArray
    lower: Float32Array


_NONE = _Candidates(
    np.empty(0, np.int64), np.empty(0, np.int64), np.empty(0, np.float32)
)
_MOST = 1 << 23


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
    Q, D = check_pair(queries, database, metric)
    k = check_count(k, "k")
    check_known(k, len(D), "rows of the database")
    distances, ids = np.empty((len(Q), k)), np.empty((len(Q), k), np.int64)
    for span in blocks(Q, D)[0]:
        distances[span], ids[span] = _nearest(Q[span], D, k, metric)
        if progress is not None:
            progress(span.stop, len(Q))
    return FloatNeighbours(distances, ids)


def neighbour_recall(
    queries: Array,
    database: Array,
    neighbours: ArrayLike,
    at: int,
    *,
    ties: str = "expected",
    metric: str = "hamming",
    random_state: Any = None,
) -> Score:
    """k-recall@R: share of the true `k` neighbours among the first R of a ranking.

    Parameters
    ----------
    queries, database : ndarray of shape (n, n_bytes), dtype uint8
        Packed codes; with another `metric`, features.
    neighbours : array-like of shape (n_queries, k), dtype integer
        The ids of `exact_neighbours`.
    at : int
        R, the number of items looked at.
    ties, metric, random_state
        As in `mean_average_precision`.

    Examples
    --------
    >>> import numpy as np
    >>> database = np.array([[0], [0], [255]], dtype=np.uint8)
    >>> neighbour_recall(database[:1], database, [[1]], at=1).value
    0.5
    """
    relevance = ground_truth(neighbours, max(1, len(database)))
    return recall_at(
        queries,
        database,
        relevance,
        check_count(at, "at"),
        ties=ties,
        metric=metric,
        random_state=random_state,
    )


def search_recall(found: ArrayLike, neighbours: ArrayLike) -> Score:
    """Share of the true neighbours that a search returned, whatever its method.

    Parameters
    ----------
    found : array-like of shape (n_queries, R), dtype integer
        The ids that a search returned, padded with -1.
    neighbours : array-like of shape (n_queries, k), dtype integer
        The true ones, such as the ids of `exact_neighbours`.

    Examples
    --------
    >>> search_recall([[5, 2, 9]], [[2, 3]]).value
    0.5
    """
    found, truth = as_ids(found, "found"), as_ids(neighbours, "neighbours")
    if len(found) != len(truth):
        raise ArgumentError(
            f"found holds {len(found)} queries, neighbours {len(truth)}"
        )
    both = np.sort(np.concatenate([found, truth], axis=1), axis=1)
    hits = ((both[:, 1:] == both[:, :-1]) & (both[:, 1:] >= 0)).sum(axis=1)
    known = (truth >= 0).sum(axis=1)
    values = np.full(len(truth), np.nan)
    np.divide(hits, known, out=values, where=known > 0)
    return mean_score(values, f"recall {truth.shape[1]}@{found.shape[1]} of a search")


def _nearest(
    queries: Array, database: Array, k: int, metric: str
) -> tuple[FloatArray, IdArray]:
    screen = Screen(queries, database, metric)
    smallest = np.full((len(queries), k), np.inf, np.float32)
    candidates = _NONE
    for span in blocks(queries, database)[1]:
        lower, upper = screen.bounds(database[span])
        smallest = _k_smallest(np.concatenate([smallest, upper], axis=1), k)
        # The k-th smallest upper bound: no answer has a larger lower bound.
        limit = smallest.max(axis=1)
        query, item = np.nonzero(lower <= limit[:, None])
        more = _Candidates(query, item + span.start, lower[query, item])
        candidates = _below(limit, _joined(candidates, more))
        if len(candidates.query) > _MOST:
            candidates = _settled(queries, database, candidates, k, metric)
    return _first(queries, database, candidates, k, metric)


def _k_smallest(values: Float32Array, k: int) -> Float32Array:
    return np.partition(values, k - 1, axis=1)[:, :k]


def _joined(a: _Candidates, b: _Candidates) -> _Candidates:
    return _Candidates(
        np.concatenate([a.query, b.query]),
        np.concatenate([a.item, b.item]),
        np.concatenate([a.lower, b.lower]),
    )


def _below(limit: Float32Array, candidates: _Candidates) -> _Candidates:
    query, item, lower = candidates
    keep = lower <= limit[query]
    return _Candidates(query[keep], item[keep], lower[keep])


def _settled(
    queries: Array, database: Array, candidates: _Candidates, k: int, metric: str
) -> _Candidates:
    """Keep the exact best so far: equal items by the million must not fill memory."""
    if k * len(queries) > len(candidates.query) // 2:
        return candidates
    _, ids = _first(queries, database, candidates, k, metric)
    query = np.repeat(np.arange(len(ids)), k)
    return _Candidates(query, ids.ravel(), np.full(ids.size, -np.inf, np.float32))


def _first(
    queries: Array, database: Array, candidates: _Candidates, k: int, metric: str
) -> tuple[FloatArray, IdArray]:
    """Return distances and ids (n_queries, k) of the best candidates."""
    query, item = candidates.query, candidates.item
    distances = exact_distances(queries, database, (query, item), metric)
    order = np.lexsort([item, distances, query])
    starts = np.searchsorted(query[order], np.arange(len(queries)))
    chosen: NDArray[np.int64] = order[starts[:, None] + np.arange(k)]
    return distances[chosen], item[chosen]

"""Rankings with ties, as groups of items at equal distance.

Hamming distance takes few values, so most of a ranking is ties. Everything that the
measures need of a query is, for each distance, how many items are there and how many of
them are relevant: two histograms, made without sorting.
"""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from fewbits._checks import check_choice
from fewbits._spans import spans
from fewbits._typing import Array, IdArray
from fewbits.codes import as_codes, hamming_distances
from fewbits.errors import ArgumentError
from fewbits.evaluation._checks import as_features, check_not_empty
from fewbits.evaluation._relevance import Mask, Relevance

TIES = ("expected", "stable", "optimistic", "pessimistic", "random")
METRICS = ("hamming", "euclidean", "cosine", "dot")

FloatArray = NDArray[np.float64]
WholeArray = NDArray[np.int32] | NDArray[np.int64]
Levels = tuple[slice, WholeArray, int]
_BLOCK_ENTRIES = 1 << 20


class TieGroups(NamedTuple):
    """Two matrices (n_queries, n_groups), nearest group first; groups may be empty."""

    sizes: IdArray
    relevant: IdArray


def tie_groups(
    queries: Array,
    database: Array,
    relevance: Relevance,
    metric: str,
    ties: str,
    rng: np.random.Generator,
) -> Iterator[tuple[slice, TieGroups]]:
    """Rank the database for each query, a block of queries at a time.

    Under ``stable`` and ``random`` each item is a group of its own.
    """
    queries, database = _check(queries, database, relevance, metric)
    check_choice(ties, "ties", TIES)
    blocks = hamming_levels if metric == "hamming" else float_levels
    for span, levels, n_levels in blocks(queries, database, metric):
        relevant = relevance.block(span)
        if ties in ("stable", "random"):
            yield span, ordered(levels, relevant, rng if ties == "random" else None)
        else:
            yield span, histograms(levels, relevant, n_levels)


def histograms(levels: WholeArray, relevant: Mask, n_levels: int) -> TieGroups:
    """Count items and relevant items at each level, for every row at once."""
    n = len(levels)
    # One pass of bincount for all rows: row and level as one number. Few are relevant.
    keys = levels + n_levels * np.arange(n, dtype=np.int64)[:, None]
    sizes, hits = (
        np.bincount(each, minlength=n_levels * n).reshape(n, n_levels)
        for each in (keys.ravel(), keys[np.broadcast_to(relevant, keys.shape)])
    )
    return TieGroups(sizes, hits)


def ordered(
    levels: WholeArray, relevant: Mask, rng: np.random.Generator | None
) -> TieGroups:
    """Break ties by row number, or at random, so that each item is its own group."""
    # Sorting narrow integers is a radix sort.
    keys = levels.astype(np.min_scalar_type(int(levels.max())))
    result = np.empty(levels.shape, np.int64)
    for row, (key, truth) in enumerate(zip(keys, relevant, strict=True)):
        if rng is not None:
            shuffle = rng.permutation(len(key))
            key, truth = key[shuffle], truth[shuffle]
        result[row] = truth[np.argsort(key, kind="stable")]
    return TieGroups(np.ones_like(result), result)


def hamming_levels(queries: Array, database: Array, metric: str) -> Iterator[Levels]:
    """Yield spans of queries, their distances, and the number of possible distances."""
    for span in spans(len(queries), _BLOCK_ENTRIES // len(database)):
        distances = hamming_distances(queries[span], database)
        yield span, distances, 8 * database.shape[1] + 1


def float_levels(queries: Array, database: Array, metric: str) -> Iterator[Levels]:
    """Do the same for real distances, numbering the distinct ones of each query."""
    for chunk in spans(len(queries), 16 * _BLOCK_ENTRIES // len(database)):
        distances = _float_distances(queries[chunk], database, metric)
        for span in spans(len(distances), _BLOCK_ENTRIES // len(database)):
            rows = slice(chunk.start + span.start, chunk.start + span.stop)
            yield rows, *level_numbers(distances[span])


def level_numbers(distances: FloatArray) -> tuple[IdArray, int]:
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


def _float_distances(queries: Array, database: Array, metric: str) -> FloatArray:
    """Return what orders like the distances, in float64, a block of items at a time."""
    Q = _prepared(queries, metric)
    distances = np.empty((len(queries), len(database)))
    for span in spans(len(database), 4 * _BLOCK_ENTRIES // database.shape[1]):
        D = _prepared(database[span], metric)
        np.matmul(Q, D.T, out=distances[:, span])
        distances[:, span] *= -1
        if metric == "euclidean":
            distances[:, span] += np.einsum("ij,ij->i", D, D) / 2
    return distances


def _prepared(X: Array, metric: str) -> FloatArray:
    X = X.astype(np.float64)
    if metric != "cosine":
        return X
    norms = np.linalg.norm(X, axis=1, keepdims=True)
    unit: FloatArray = X / np.where(norms > 0, norms, 1.0)
    return unit


def _check(
    queries: Array, database: Array, relevance: Relevance, metric: str
) -> tuple[Array, Array]:
    if check_choice(metric, "metric", METRICS) == "hamming":
        queries, database = as_codes(queries), as_codes(database)
        check_not_empty(queries, "queries")
        check_not_empty(database, "database")
    else:
        database = as_features(database, "database")
        queries = as_features(queries, "queries", database.shape[1])
    if not isinstance(relevance, Relevance):
        raise ArgumentError(
            "relevance must come from same_label, ground_truth or within_distance, "
            f"got {type(relevance).__name__}"
        )
    needed = relevance.n_queries, relevance.n_database
    if (len(queries), len(database)) != needed:
        raise ArgumentError(
            f"relevance is known for {needed[0]} queries and {needed[1]} items, "
            f"got {len(queries)} queries and {len(database)} items"
        )
    return queries, database

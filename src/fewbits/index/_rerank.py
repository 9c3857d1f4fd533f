"""Better distances for a few candidates per query."""

from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from fewbits import _kernels
from fewbits._spans import spans
from fewbits._typing import CodeArray, IdArray
from fewbits.index._int8 import Int8Vectors
from fewbits.index._matrices import not_finite

#: How vectors are compared, in the order of the kernels' numbers.
METRICS = ("euclidean", "cosine", "dot")

FloatArray = NDArray[np.float64]
Stored: TypeAlias = NDArray[Any] | Int8Vectors
_PAIR_ENTRIES = 1 << 20  # of vectors converted at once
_COMPARED_AS_STORED = ("f2", "f4", "f8")


class Ranked(NamedTuple):
    """The `k` best of every query: two matrices (n_queries, k), padded with inf, -1."""

    distances: NDArray[np.float32]
    ids: IdArray


def asymmetric(
    scores: NDArray[np.float32], codes: CodeArray, rows: IdArray
) -> NDArray[np.float32]:
    """Return the asymmetric distances of queries to `rows` (n_queries, m) of `codes`.

    The sum of ``|score|`` over the bits on which a code and the sign of the score
    disagree: how far the query must move to have that code. Rows of -1 are at inf.
    """
    distances = np.full(rows.shape, np.inf, np.float32)
    if rows.size and len(codes):
        rows = np.ascontiguousarray(rows)
        threads = _kernels.num_threads()
        _kernels.asymmetric_distances(scores, codes, rows, distances, threads)
    return distances


def exact(
    queries: FloatArray, vectors: Stored, rows: IdArray, metric: str
) -> NDArray[np.float32]:
    """Return the distances of queries to `rows` (n_queries, m) of `vectors`.

    Computed pair by pair in float64 and in one order, so that a query gets the same
    answer alone and in a batch, on any processor. Rows of -1 are at inf. Only these
    rows are read, and whether they are finite shows in the distances.
    """
    distances = np.full(rows.shape, np.inf, np.float32)
    if not rows.size or not len(vectors):
        return distances
    rows = np.ascontiguousarray(rows)
    number, threads = METRICS.index(metric), _kernels.num_threads()
    if isinstance(vectors, Int8Vectors):
        stored = vectors.values, vectors.blocks
        _kernels.int8_distances(queries, *stored, rows, number, distances, threads)
    elif _is_compared_as_stored(vectors):
        halves = vectors.dtype == np.float16
        array = vectors.view(np.uint16) if halves else vectors
        _kernels.vector_distances(queries, array, rows, number, distances, threads)
    else:
        _convert_and_compare(queries, vectors, rows, number, distances)
    bad = np.isnan(distances)
    if bad.any():
        raise not_finite("vectors", rows.flat[bad.argmax()])
    return distances


def _is_compared_as_stored(vectors: NDArray[Any]) -> bool:
    flags = vectors.flags
    plain = flags.c_contiguous and flags.aligned and vectors.dtype.isnative
    return bool(plain and vectors.dtype.str[1:] in _COMPARED_AS_STORED)


def _convert_and_compare(
    queries: FloatArray,
    vectors: NDArray[Any],
    rows: IdArray,
    number: int,
    distances: NDArray[np.float32],
) -> None:
    """Compare with vectors of any dtype and layout, a few MB at a time."""
    query, column = np.nonzero(rows >= 0)
    for span in spans(len(query), max(1, _PAIR_ENTRIES // vectors.shape[1])):
        q, c = query[span], column[span]
        D = np.ascontiguousarray(vectors[rows[q, c]], np.float64)
        each = np.arange(len(q))[:, None]
        found = np.empty((len(q), 1), np.float32)
        threads = _kernels.num_threads()
        _kernels.vector_distances(queries[q], D, each, number, found, threads)
        distances[q, c] = found[:, 0]


def best(
    distances: NDArray[np.float32], rows: IdArray, k: int
) -> tuple[NDArray[np.float32], IdArray]:
    """Sort by (distance, row) and keep `k` columns; rows of -1 come last."""
    shape = len(rows), min(k, rows.shape[1])
    found = np.empty(shape, np.float32), np.empty(shape, np.int64)
    if rows.size:
        rows = np.ascontiguousarray(rows)
        _kernels.first_pairs(distances, rows, *found, _kernels.num_threads())
    return found

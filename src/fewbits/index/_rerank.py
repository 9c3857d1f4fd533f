"""Better distances for a shortlist of each query."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fewbits import _kernels
from fewbits._checks import check_choice
from fewbits._spans import spans
from fewbits._typing import CodeArray, IdArray
from fewbits.codes import n_bytes
from fewbits.errors import ArgumentError, FeatureError
from fewbits.index._vectors import (
    Corrections,
    Int8Vectors,
    VectorParts,
    as_matrix,
    as_vectors,
    check_finite,
    not_finite,
)

Float32Array = NDArray[np.float32]
Float64Array = NDArray[np.float64]

#: How vectors are compared, in the order of the kernels' numbers.
METRICS = ("euclidean", "cosine", "dot")

#: Returns what is added to the asymmetric distance of each code, or None; or a
#: correction of each code.
Offsets: TypeAlias = Callable[[CodeArray], Float32Array | None] | Corrections
Stored: TypeAlias = NDArray[Any] | Int8Vectors | VectorParts

_PAIR_ENTRIES = 1 << 20  # of vectors converted at once


class RerankedNeighbours(NamedTuple):
    """The `k` best of every query: two matrices (n_queries, k), padded with inf, -1."""

    distances: Float32Array
    ids: IdArray


def as_scores(scores: ArrayLike, n_queries: int, width: int) -> Float32Array:
    """Return finite float32 scores, a row per query and a column per bit."""
    with np.errstate(over="ignore"):
        array = np.ascontiguousarray(as_matrix(scores, "scores", n_queries), np.float32)
    if not 1 <= array.shape[1] <= 8 * width or n_bytes(array.shape[1]) != width:
        raise ArgumentError(
            f"scores must have a column per bit, got {array.shape[1]} columns for "
            f"codes of {width} bytes"
        )
    check_finite(array, "scores", np.arange(len(array)))
    return array


def as_vector_pair(
    vectors: ArrayLike | Int8Vectors | VectorParts | None,
    query_vectors: ArrayLike | None,
    n: int,
    n_queries: int,
    metric: str,
) -> tuple[Float64Array, Stored] | None:
    """Return finite query vectors in float64, and vectors; None without both."""
    check_choice(metric, "metric", METRICS)
    if vectors is None and query_vectors is None:
        return None
    if vectors is None or query_vectors is None:
        missing = "vectors" if vectors is None else "query_vectors"
        raise ArgumentError(f"comparing vectors needs {missing} too")
    if isinstance(vectors, Int8Vectors | VectorParts):
        stored: Stored = vectors
        if len(vectors) != n:
            raise ArgumentError(f"vectors must have {n} rows, got {len(vectors)}")
    else:
        stored = as_vectors(vectors, n)
    array = as_matrix(query_vectors, "query_vectors", n_queries)
    if array.shape[1] != stored.shape[1]:
        raise FeatureError(
            f"query_vectors must have {stored.shape[1]} features like the vectors, "
            f"got {array.shape[1]}"
        )
    check_finite(array, "query_vectors", np.arange(len(array)))
    return np.ascontiguousarray(array, np.float64), stored


def usable_offsets(
    offsets: Offsets | None, queries: CodeArray, n: int
) -> Offsets | None:
    """Return corrections of `n` rows, or what gives offsets; None where it does not."""
    if isinstance(offsets, Corrections):
        if len(offsets) != n:
            raise ArgumentError(f"corrections must have {n} rows, got {len(offsets)}")
    elif offsets is not None and offsets(queries[:0]) is None:
        return None  # as of most encoders: nothing is gathered for it
    return offsets


def asymmetric(
    scores: Float32Array, codes: CodeArray, positions: IdArray
) -> Float32Array:
    """Return asymmetric distances of queries to codes at `positions` (n_queries, m).

    The sum of ``|score|`` over the bits on which a code and the sign of the score
    disagree: how far the query must move to have that code. Positions of -1 are at inf.
    """
    distances = np.full(positions.shape, np.inf, np.float32)
    if positions.size and len(codes):
        positions = np.ascontiguousarray(positions)
        threads = _kernels.num_threads()
        _kernels.asymmetric_distances(scores, codes, positions, distances, threads)
    return distances


def add_offsets(
    distances: Float32Array,
    offsets: Callable[[CodeArray], Float32Array | None],
    codes: CodeArray,
    positions: IdArray,
) -> None:
    """Add those of the codes at `positions`, each computed once."""
    is_hit = positions >= 0
    chosen, which = np.unique(positions[is_hit], return_inverse=True)
    added = offsets(codes[chosen])
    if added is not None:
        distances[is_hit] += added[which]


def exact(
    queries: Float64Array, vectors: Stored, positions: IdArray, metric: str
) -> Float32Array:
    """Return the distances of queries to vectors at `positions` (n_queries, m).

    Computed pair by pair in float64 and in one order, so that a query gets the same
    answer alone and in a batch, on any processor. Positions of -1 are at inf. Only
    these vectors are read, and whether they are finite shows in the distances.
    """
    distances = np.full(positions.shape, np.inf, np.float32)
    if not positions.size or not len(vectors):
        return distances
    if isinstance(vectors, VectorParts):
        for part, inside in vectors.inside(positions):
            here = exact(queries, part, inside, metric)
            np.copyto(distances, here, where=inside >= 0)
        return distances
    positions = np.ascontiguousarray(positions)
    number, threads = METRICS.index(metric), _kernels.num_threads()
    if isinstance(vectors, Int8Vectors):
        stored = vectors.values, vectors.blocks
        _kernels.int8_distances(queries, *stored, positions, number, distances, threads)
    elif _is_compared_as_stored(vectors):
        halves = vectors.dtype == np.float16
        array = vectors.view(np.uint16) if halves else vectors
        _kernels.vector_distances(queries, array, positions, number, distances, threads)
    else:  # vectors of any dtype and layout are converted, a few MB at a time
        query, column = np.nonzero(positions >= 0)
        for span in spans(len(query), max(1, _PAIR_ENTRIES // vectors.shape[1])):
            q, c = query[span], column[span]
            D = np.ascontiguousarray(vectors[positions[q, c]], np.float64)
            numbers, near = (
                np.arange(len(q))[:, None],
                np.empty((len(q), 1), np.float32),
            )
            _kernels.vector_distances(queries[q], D, numbers, number, near, threads)
            distances[q, c] = near[:, 0]
    bad = np.isnan(distances)
    if bad.any():
        raise not_finite("vectors", positions.flat[bad.argmax()])
    return distances


def _is_compared_as_stored(vectors: NDArray[Any]) -> bool:
    flags = vectors.flags
    plain = flags.c_contiguous and flags.aligned and vectors.dtype.isnative
    return bool(plain and vectors.dtype.str[1:] in ("f2", "f4", "f8"))


def best(
    distances: Float32Array, positions: IdArray, k: int
) -> tuple[Float32Array, IdArray]:
    """Sort by (distance, position) and keep `k` columns; those of -1 come last."""
    shape = len(positions), min(k, positions.shape[1])
    nearest, first = np.empty(shape, np.float32), np.empty(shape, np.int64)
    if positions.size:
        positions = np.ascontiguousarray(positions)
        _kernels.first_pairs(
            distances, positions, nearest, first, _kernels.num_threads()
        )
    return nearest, first

"""Better distances for a few candidates per query."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fewbits import _kernels
from fewbits._typing import CodeArray, IdArray
from fewbits.codes import n_bytes
from fewbits.errors import ArgumentError, FeatureError

METRICS = ("euclidean", "cosine", "dot")

FloatArray = NDArray[np.float64]
_PAIR_ENTRIES = 1 << 20  # of vectors compared at once


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
    queries: NDArray[Any], vectors: NDArray[Any], rows: IdArray, metric: str
) -> NDArray[np.float32]:
    """Return the distances of queries to `rows` (n_queries, m) of `vectors`.

    Computed pair by pair in float64, so that a query gets the same answer alone and in
    a batch, whatever the BLAS. Rows of -1 are at inf.
    """
    distances = np.full(rows.shape, np.inf, np.float32)
    query, column = np.nonzero(rows >= 0)
    step = max(1, _PAIR_ENTRIES // max(1, vectors.shape[1]))
    for start in range(0, len(query), step):
        q, c = query[start : start + step], column[start : start + step]
        D = vectors[rows[q, c]].astype(np.float64)
        _check_finite(D, "vectors", rows[q, c])
        # A distance may be too large for float32: then it is inf.
        with np.errstate(over="ignore"):
            values = pair_distances(queries[q].astype(np.float64), D, metric)
            distances[q, c] = values.astype(np.float32)
    return distances


def pair_distances(Q: FloatArray, D: FloatArray, metric: str) -> FloatArray:
    """Compare each row of `Q` with the same row of `D`.

    Euclidean distance, 1 - cosine (a vector of zeros is at cosine 0 with everything),
    or minus the dot product.
    """
    if metric == "euclidean":
        return np.asarray(np.sqrt(np.square(Q - D).sum(axis=1)))
    products: FloatArray = (Q * D).sum(axis=1)
    if metric == "dot":
        return -products
    lengths = np.sqrt(np.square(Q).sum(axis=1)) * np.sqrt(np.square(D).sum(axis=1))
    cosines = np.divide(products, lengths, out=np.zeros(len(Q)), where=lengths > 0)
    return np.asarray(1.0 - cosines)


def best(
    distances: NDArray[np.float32], rows: IdArray, k: int
) -> tuple[NDArray[np.float32], IdArray]:
    """Sort by (distance, row) and keep `k` columns; rows of -1 come last."""
    last = np.where(rows < 0, np.iinfo(np.int64).max, rows)
    order = np.lexsort((last, distances), axis=1)[:, :k]
    return (
        np.take_along_axis(distances, order, axis=1),
        np.take_along_axis(rows, order, axis=1),
    )


def as_scores(scores: ArrayLike, n_queries: int, width: int) -> NDArray[np.float32]:
    """Return finite float32 scores, a row per query and a column per bit."""
    with np.errstate(over="ignore"):
        array = np.ascontiguousarray(as_matrix(scores, "scores", n_queries), np.float32)
    if not 1 <= array.shape[1] <= 8 * width or n_bytes(array.shape[1]) != width:
        raise ArgumentError(
            f"scores must have a column per bit, got {array.shape[1]} columns for "
            f"codes of {width} bytes"
        )
    _check_finite(array, "scores", np.arange(len(array)))
    return array


def as_matrix(X: ArrayLike, name: str, n: int) -> NDArray[Any]:
    """Return a matrix of `n` rows of real numbers; memory maps stay memory maps."""
    try:
        array: NDArray[Any] = X if isinstance(X, np.ndarray) else np.asarray(X)
    except ValueError as error:
        raise FeatureError(f"{name} are no matrix: {error}") from None
    if array.dtype.kind not in "fiub" or array.ndim != 2:
        raise FeatureError(
            f"{name} must be a matrix of real numbers, "
            f"got dtype {array.dtype} and shape {array.shape}"
        )
    if len(array) != n:
        raise ArgumentError(f"{name} must have {n} rows, got {len(array)}")
    return array


def as_query_vectors(
    queries: ArrayLike, n_queries: int, n_features: int
) -> NDArray[Any]:
    """Return finite query vectors as wide as the stored ones."""
    array = as_matrix(queries, "query_vectors", n_queries)
    if array.shape[1] != n_features:
        raise FeatureError(
            f"query_vectors must have {n_features} features like the vectors, "
            f"got {array.shape[1]}"
        )
    _check_finite(array, "query_vectors", np.arange(len(array)))
    return array


def _check_finite(X: NDArray[Any], name: str, rows: IdArray) -> None:
    # Squares of larger numbers would overflow; NaN fails the comparison as well.
    finite = (np.abs(X.astype(np.float64)) <= 1e150).all(axis=1)
    if not finite.all():
        row = rows[np.argmin(finite)]
        raise FeatureError(f"{name} must be finite, got NaN or infinity in row {row}")

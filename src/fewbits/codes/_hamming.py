"""Search by Hamming distance: check the arguments, allocate, call a kernel."""

import operator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fewbits import _kernels
from fewbits._typing import CodeArray, DistanceArray, IdArray
from fewbits.codes._pack import MAX_BITS, as_codes
from fewbits.errors import ArgumentError, CodeError

__all__ = [
    "MAX_BITS",
    "Neighbours",
    "Ranges",
    "hamming_distances",
    "hamming_topk",
    "hamming_within",
]


class Neighbours(NamedTuple):
    """The `k` nearest of every query: two matrices (n_queries, k), padded with -1."""

    distances: DistanceArray
    ids: IdArray


class Ranges(NamedTuple):
    """Everything within a radius of every query, as in a CSR matrix.

    The neighbours of query ``q`` are ``ids[offsets[q]:offsets[q + 1]]``, nearest first.
    """

    offsets: IdArray
    distances: DistanceArray
    ids: IdArray


def hamming_distances(queries: CodeArray, database: CodeArray) -> DistanceArray:
    """Return the Hamming distance between every query and every code.

    Parameters
    ----------
    queries, database : ndarray of shape (n, n_bytes), dtype uint8
        Packed codes of the same width.

    Returns
    -------
    ndarray of shape (n_queries, n_codes), dtype int32
        Numbers of bits that differ.

    Examples
    --------
    >>> import numpy as np
    >>> hamming_distances(np.array([[3]], np.uint8), np.array([[1], [255]], np.uint8))
    array([[1, 6]], dtype=int32)
    """
    queries, database = _same_width(queries, database)
    distances = np.empty((len(queries), len(database)), dtype=np.int32)
    _kernels.hamming_distances(queries, database, distances, _kernels.num_threads())
    return distances


def hamming_topk(
    queries: CodeArray,
    database: CodeArray,
    k: int,
    *,
    allowed: ArrayLike | None = None,
) -> Neighbours:
    """Find the `k` nearest codes of every query.

    Equal distances are ordered by row, so the answer depends on nothing but the codes.

    Parameters
    ----------
    queries, database : ndarray of shape (n, n_bytes), dtype uint8
        Packed codes of the same width.
    k : int
        Number of neighbours, at least 1. When fewer codes are there, the rest of each
        row is padded with -1.
    allowed : array-like, default=None
        The rows that may be found: a boolean mask of shape (n_codes,), or row numbers.

    Returns
    -------
    Neighbours
        ``distances`` int32 and ``ids`` (row numbers in `database`) int64, each of shape
        (n_queries, k).

    Raises
    ------
    CodeError
        When the codes are not packed or differ in width.
    ArgumentError
        When `k` is below 1, or `allowed` does not fit the database.

    Examples
    --------
    >>> import numpy as np
    >>> database = np.array([[0b0000], [0b0111], [0b0001]], dtype=np.uint8)
    >>> distances, ids = hamming_topk(database[:1], database, k=2)
    >>> distances, ids
    (array([[0, 1]], dtype=int32), array([[0, 2]]))
    """
    queries, database = _same_width(queries, database)
    k = check_k(k)
    found = min(k, len(database))
    shape = (len(queries), found)
    distances, rows = np.empty(shape, np.int32), np.empty(shape, np.int64)
    if found:
        _kernels.hamming_topk(
            queries,
            database,
            _packed_mask(allowed, len(database)),
            distances,
            rows,
            _kernels.num_threads(),
        )
    return Neighbours(pad(distances, k), pad(rows, k))


def hamming_within(
    queries: CodeArray,
    database: CodeArray,
    radius: int,
    *,
    allowed: ArrayLike | None = None,
) -> Ranges:
    """Find every code at most `radius` bits away from each query.

    Parameters
    ----------
    queries, database : ndarray of shape (n, n_bytes), dtype uint8
        Packed codes of the same width.
    radius : int
        The largest distance that counts, 0 or more.
    allowed : array-like, default=None
        As in `hamming_topk`.

    Returns
    -------
    Ranges
        ``offsets`` (n_queries + 1,), ``distances`` int32 and ``ids`` int64, ordered by
        (distance, row) within each query.

    Examples
    --------
    >>> import numpy as np
    >>> database = np.array([[0b0000], [0b0111], [0b0001]], dtype=np.uint8)
    >>> hamming_within(database[:1], database, radius=1).ids
    array([0, 2])
    """
    queries, database = _same_width(queries, database)
    radius = _integer(radius, "radius")
    if radius < 0:
        raise ArgumentError(f"radius must be 0 or more, got {radius}")
    radius = min(radius, 8 * database.shape[1])
    mask, threads = _packed_mask(allowed, len(database)), _kernels.num_threads()
    offsets = np.zeros(len(queries) + 1, np.int64)
    _kernels.hamming_within_count(queries, database, radius, mask, offsets[1:], threads)
    np.cumsum(offsets, out=offsets)
    distances = np.empty(offsets[-1], np.int32)
    rows = np.empty(offsets[-1], np.int64)
    _kernels.hamming_within_fill(
        queries, database, radius, mask, offsets, distances, rows, threads
    )
    return Ranges(offsets, distances, rows)


def check_k(k: int) -> int:
    """Return `k` as an int; it may exceed the number of codes, within reason."""
    k = _integer(k, "k")
    if not 1 <= k < 2**31:
        raise ArgumentError(f"k must be at least 1 and below 2**31, got {k}")
    return k


def pad(found: NDArray[Any], k: int) -> NDArray[Any]:
    """Widen a matrix of neighbours to `k` columns of -1 where fewer were found."""
    if found.shape[1] == k:
        return found
    try:
        padded = np.full((len(found), k), -1, found.dtype)
    except MemoryError as error:
        raise ArgumentError(
            f"k={k} for {len(found)} queries does not fit into memory; "
            f"only {found.shape[1]} codes can be found"
        ) from error
    padded[:, : found.shape[1]] = found
    return padded


def _same_width(queries: CodeArray, database: CodeArray) -> tuple[CodeArray, CodeArray]:
    queries, database = as_codes(queries), as_codes(database)
    if queries.shape[1] != database.shape[1]:
        raise CodeError(
            f"queries have {queries.shape[1]} bytes per code, "
            f"the database has {database.shape[1]}"
        )
    return queries, database


def _integer(value: int, name: str) -> int:
    try:
        return operator.index(value)
    except TypeError:
        raise ArgumentError(f"{name} must be a whole number, got {value!r}") from None


def _packed_mask(allowed: ArrayLike | None, n: int) -> NDArray[np.uint8] | None:
    """Return one bit per row, most significant first, from a mask or row numbers."""
    if allowed is None:
        return None
    chosen = np.asarray(allowed)
    if chosen.dtype == np.bool_:
        if chosen.shape != (n,):
            raise ArgumentError(
                f"an allowed mask must have shape ({n},), got {chosen.shape}"
            )
        return np.packbits(chosen)
    if chosen.ndim != 1 or (chosen.size and chosen.dtype.kind not in "iu"):
        raise ArgumentError(
            "allowed must be a boolean mask or a list of row numbers, "
            f"got dtype {chosen.dtype} and shape {chosen.shape}"
        )
    if chosen.size and not (chosen.min() >= 0 and chosen.max() < n):
        raise ArgumentError(
            f"allowed rows must lie between 0 and {n - 1}, "
            f"got {chosen.min()} to {chosen.max()}"
        )
    mask = np.zeros(n, np.bool_)
    mask[chosen.astype(np.intp, copy=False)] = True
    return np.packbits(mask)

"""Hamming distances and search: check the arguments, allocate, call a kernel."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fewbits import _kernels
from fewbits._allowed import as_allowed
from fewbits._checks import check_k, check_radius
from fewbits._padding import check_padding, pad
from fewbits._repr import short_repr
from fewbits._spans import spans
from fewbits._typing import Array, CodeArray, DistanceArray, IdArray
from fewbits.codes._pack import as_codes, as_words
from fewbits.errors import ArgumentError, CodeError

_BLOCK = 4096  # codes compared with all others at a time


class Neighbours(NamedTuple):
    """The `k` nearest of every query: two matrices (n_queries, k), padded with -1."""

    distances: DistanceArray
    ids: IdArray

    def __repr__(self) -> str:
        return short_repr(self)


class RangeSearchResult(NamedTuple):
    """Everything within a radius of every query, as in a CSR matrix.

    The neighbours of query ``q`` are ``ids[offsets[q]:offsets[q + 1]]``, nearest first.
    """

    offsets: IdArray
    distances: DistanceArray
    ids: IdArray

    def __repr__(self) -> str:
        return short_repr(self)


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
        Numbers that could be meant as a mask are refused: bytes, what is all 0 or 1 and
        repeats, and two values that repeat, one for each code.

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
    width = min(k, len(database))
    check_padding(len(queries), k, width)
    mask = _packed_mask(allowed, len(database))
    shape = (len(queries), width)
    distances, rows = np.empty(shape, np.int32), np.empty(shape, np.int64)
    if width:
        _kernels.hamming_topk(
            queries,
            database,
            mask,
            distances,
            rows,
            _kernels.num_threads(),
        )
    return Neighbours(pad(distances, k), pad(rows, k))


def hamming_range_search(
    queries: CodeArray,
    database: CodeArray,
    radius: int,
    *,
    allowed: ArrayLike | None = None,
) -> RangeSearchResult:
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
    RangeSearchResult
        ``offsets`` (n_queries + 1,), ``distances`` int32 and ``ids`` int64, ordered by
        (distance, row) within each query.

    Examples
    --------
    >>> import numpy as np
    >>> database = np.array([[0b0000], [0b0111], [0b0001]], dtype=np.uint8)
    >>> hamming_range_search(database[:1], database, radius=1).ids
    array([0, 2])
    """
    queries, database = _same_width(queries, database)
    radius = min(check_radius(radius), 8 * database.shape[1])
    mask, threads = _packed_mask(allowed, len(database)), _kernels.num_threads()
    hits = _kernels.HammingHits(queries, database, radius, mask, threads)
    offsets = np.zeros(len(queries) + 1, np.int64)
    hits.counts(offsets[1:])
    np.cumsum(offsets, out=offsets)
    distances = np.empty(offsets[-1], np.int32)
    rows = np.empty(offsets[-1], np.int64)
    hits.write(distances, rows)
    return RangeSearchResult(offsets, distances, rows)


def pair_distances(codes: CodeArray, others: CodeArray) -> DistanceArray:
    """Return the Hamming distance (n,) between each code and the other in its row."""
    counts: Array = np.bitwise_count(as_words(codes ^ others))
    if counts.shape[1] == 1:  # NumPy is slow to add up short rows
        return counts[:, 0].astype(np.int32)
    return np.asarray(counts.sum(axis=1, dtype=np.int32))


def smallest_distance(codes: CodeArray) -> int:
    """Return the smallest Hamming distance between two of several codes."""
    return min(
        int(hamming_topk(codes[block], codes, 2).distances[:, 1].min())
        for block in spans(len(codes), _BLOCK)
    )


def _same_width(queries: CodeArray, database: CodeArray) -> tuple[CodeArray, CodeArray]:
    queries, database = as_codes(queries), as_codes(database)
    if queries.shape[1] != database.shape[1]:
        raise CodeError(
            f"queries have {queries.shape[1]} bytes per code, "
            f"the database has {database.shape[1]}"
        )
    return queries, database


def _packed_mask(allowed: ArrayLike | None, n: int) -> NDArray[np.uint8] | None:
    """Return one bit per row, most significant first, from a mask or row numbers."""
    if allowed is None:
        return None
    chosen = as_allowed(allowed, n, "row numbers")
    if chosen.dtype == np.bool_:
        return np.packbits(chosen)
    if chosen.size and not (chosen.min() >= 0 and chosen.max() < n):
        raise ArgumentError(
            f"allowed rows must be at least 0 and below {n}, "
            f"got {chosen.min()} to {chosen.max()}"
        )
    mask = np.zeros(n, np.bool_)
    mask[chosen.astype(np.intp, copy=False)] = True
    return np.packbits(mask)

"""Multi-index hashing: exact search that looks only where near codes can be."""

from collections.abc import Callable, Iterator
from typing import final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fewbits import _kernels
from fewbits._checks import whole_number
from fewbits._spans import spans
from fewbits._typing import CodeArray, IdArray
from fewbits.codes import (
    Neighbours,
    RangeSearchResult,
    as_codes,
    hamming_range_search,
    hamming_topk,
)
from fewbits.errors import ArgumentError
from fewbits.index._base import Index
from fewbits.index._bucket_search import CANDIDATE, STEP, BucketSearch, Pairs
from fewbits.index._segment import Segment
from fewbits.index._substrings import MAX_LENGTH, SubstringTables

_FEWEST = 1 << 16  # rows: fewer are compared sooner than looked up
# Nanoseconds for 64 bits, of a query among many and of a single one.
_SCAN_BATCH, _SCAN_ONE = 0.08, 0.3
_LEAST = 7  # a radius that k nearest neighbours hardly fall below
_PILOT = 32  # queries that tell whether the rest of a batch is worth looking up
_CANDIDATES = 1 << 21  # at once


@final
class MultiIndexHashing(Index):
    """Look up the codes that share a substring with the query, or nearly.

    Gives the answers of `FlatIndex`. It is faster where near codes are near indeed:
    small radii at any number of bits, and few neighbours among a million codes or more
    that come in clusters. What would take longer than comparing with every code is
    compared with every code. Tables are made at the first search; they take about 2 to
    4 times the memory of the codes.

    Parameters
    ----------
    codes, ids
        As in `FlatIndex`.
    n_substrings : int, default=None
        Into how many parts codes are cut, of 20 bits at most; None means parts of about
        log2 of the number of codes.

    References
    ----------
    Norouzi, Punjani and Fleet, "Fast Exact Search in Hamming Space with Multi-Index
    Hashing", IEEE TPAMI 2014.

    Examples
    --------
    >>> import numpy as np
    >>> index = MultiIndexHashing(np.array([[0], [3], [255]], np.uint8))
    >>> index.range_search(np.array([[1]], np.uint8), radius=1).ids
    array([0, 1])
    """

    __slots__ = ("_n_substrings",)
    _n_substrings: int | None

    def __init__(
        self,
        codes: CodeArray,
        ids: ArrayLike | None = None,
        n_substrings: int | None = None,
    ) -> None:
        n_bits = 8 * as_codes(codes).shape[1]
        self._n_substrings = _checked_number(n_substrings, n_bits)
        super().__init__(codes, ids)

    def _topk(
        self,
        segment: Segment,
        queries: CodeArray,
        k: int,
        mask: NDArray[np.bool_] | None,
    ) -> Neighbours:
        codes = segment.codes
        pairs, rest = self._look_up(
            segment, queries, mask, lambda s: s.nearest(k), _LEAST
        )
        if len(rest) == len(queries):
            return hamming_topk(queries, codes, k, allowed=mask)
        distances = np.full((len(queries), k), -1, np.int32)
        places = np.full((len(queries), k), -1, np.int64)
        first = np.searchsorted(pairs.queries, np.arange(len(queries)))
        rank = np.arange(len(pairs.queries)) - first[pairs.queries]
        kept = pairs.only(rank < k)
        at = kept.queries, rank[rank < k]
        distances[at], places[at] = kept.distances, kept.rows
        if rest.size:
            scanned = hamming_topk(queries[rest], codes, k, allowed=mask)
            distances[rest], places[rest] = scanned
        return Neighbours(distances, places)

    def _within(
        self,
        segment: Segment,
        queries: CodeArray,
        radius: int,
        mask: NDArray[np.bool_] | None,
    ) -> RangeSearchResult:
        codes, radius = segment.codes, min(radius, 8 * segment.codes.shape[1])
        pairs, rest = self._look_up(
            segment, queries, mask, lambda s: s.within(radius), radius
        )
        if len(rest) == len(queries):
            return hamming_range_search(queries, codes, radius, allowed=mask)
        if rest.size:
            scanned = hamming_range_search(queries[rest], codes, radius, allowed=mask)
            asked = np.repeat(rest, np.diff(scanned.offsets))
            more = Pairs(asked, scanned.ids, scanned.distances)
            pairs = Pairs.joined([pairs, more]).ordered()
        offsets = np.searchsorted(pairs.queries, np.arange(len(queries) + 1))
        return RangeSearchResult(offsets, pairs.distances, pairs.rows)

    def _look_up(
        self,
        segment: Segment,
        queries: CodeArray,
        mask: NDArray[np.bool_] | None,
        search: Callable[[BucketSearch], Pairs],
        radius: int,
    ) -> tuple[Pairs, IdArray]:
        """Return what was found, in order, and the queries that are still to scan."""
        n_bits = 8 * segment.codes.shape[1]
        budget = _scan_time(segment.codes, len(queries))
        fewest = (radius + 1) * STEP / max(1, len(queries))  # ns of each query
        if len(segment) < _FEWEST or not len(queries) or fewest > budget:
            return Pairs.joined([]), np.arange(len(queries))
        tables = segment.derived(SubstringTables, n_bits, self._n_substrings)
        found, done = [], np.zeros(len(queries), np.bool_)
        for block in _blocks(len(queries), budget):
            some = BucketSearch(segment.codes, tables, queries[block], mask, budget)
            pairs = search(some)
            found.append(pairs._replace(queries=block[pairs.queries]))
            done[block] = ~some.given_up
            if 2 * np.count_nonzero(some.given_up) > len(block):
                break
        return Pairs.joined(found).ordered(), np.flatnonzero(~done)


def _scan_time(codes: CodeArray, n_queries: int) -> float:
    """Return the nanoseconds for which a query is compared with all codes."""
    words: int = len(codes) * -(-codes.shape[1] // 8)
    if n_queries >= _PILOT:
        return _SCAN_BATCH * words / _kernels.num_threads()
    return _SCAN_ONE * words


def _blocks(n: int, budget: float) -> Iterator[IdArray]:
    """Yield the numbers of some queries from all over the batch, then of the others."""
    pilot = np.unique(np.linspace(0, n - 1, min(n, _PILOT)).astype(np.int64))
    yield pilot
    others = np.setdiff1d(np.arange(n), pilot)
    for span in spans(len(others), int(_CANDIDATES * CANDIDATE / budget) or 1):
        yield others[span]


def _checked_number(n_substrings: int | None, n_bits: int) -> int | None:
    if n_substrings is None:
        return None
    number, fewest = (
        whole_number(n_substrings, "n_substrings"),
        -(-n_bits // MAX_LENGTH),
    )
    if not fewest <= number <= n_bits:
        raise ArgumentError(
            f"n_substrings must lie between {fewest} and {n_bits} for "
            f"codes of {n_bits} bits, got {number}"
        )
    return number

"""Multi-index hashing: exact search that looks only where near codes can be."""

from collections.abc import Iterator
from math import inf
from typing import final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fewbits import _kernels
from fewbits._checks import whole_number
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
from fewbits.index._costs import Costs
from fewbits.index._lazy_tables import LazyTables
from fewbits.index._segment import Segment
from fewbits.index._tables import MAX_LENGTH, MAX_ROWS, Tables

_FEWEST = 1 << 16  # rows: fewer are compared sooner than looked up
_PILOT = 32  # queries that tell whether the rest of a batch is worth looking up


@final
class MultiIndexHashing(Index):
    """Look up the codes that share a substring with the query, or nearly.

    Gives the answers of `FlatIndex`. It is faster where near codes are near indeed:
    small radii at any number of bits, and few neighbours among a million codes or more
    of up to 128 bits that come in clusters. What would take longer than comparing with
    every code is compared with every code, as a few queries of each batch tell. Tables
    are made once they would have spared as much time as they cost; they take at most
    six times the memory of the codes. What is added later has tables of its own.

    Parameters
    ----------
    codes, ids
        As in `FlatIndex`.
    n_substrings : int, default=None
        Into how many parts codes are cut, of 24 bits at most; None means parts of about
        log2 of the number of codes.
    use_scan : bool, default=True
        False makes tables at the first search and looks up each query, however long it
        takes and however few the codes are.

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

    __slots__ = ("_n_substrings", "_use_scan")
    _n_substrings: int | None
    _use_scan: bool

    def __init__(
        self,
        codes: CodeArray,
        ids: ArrayLike | None = None,
        n_substrings: int | None = None,
        *,
        use_scan: bool = True,
    ) -> None:
        n_bits = 8 * as_codes(codes).shape[1]
        self._n_substrings = _checked_number(n_substrings, n_bits)
        self._use_scan = bool(use_scan)
        super().__init__(codes, ids)

    def _topk(
        self,
        segment: Segment,
        queries: CodeArray,
        k: int,
        mask: NDArray[np.bool_] | None,
    ) -> Neighbours:
        costs = self._costs(segment, queries, mask)
        if costs is None:
            return hamming_topk(queries, segment.codes, k, allowed=mask)
        lazy, kind = self._lazy(segment), ("k", k.bit_length(), costs.scan.bit_length())
        if not lazy.outcomes.promise(kind):
            return hamming_topk(queries, segment.codes, k, allowed=mask)
        tables = lazy.get(0 if self._use_scan else inf)

        def scanned(rows: IdArray) -> tuple[IdArray, Neighbours]:
            found = hamming_topk(queries[rows], segment.codes, k, allowed=mask)
            return rows, found

        parts, rest = [], np.arange(len(queries))
        if tables is None:
            # How far the neighbours of a few queries are tells what tables would spare.
            pilot = _spread(len(queries))
            parts, rest = [scanned(pilot)], np.delete(rest, pilot)
            radius = _median(parts[0][1].distances[:, -1], 8 * queries.shape[1])
            spared = costs.spared(lazy.work(radius))
            tables = lazy.get(len(queries) * spared)
            lazy.outcomes.learn(kind, 1 - spared / costs.scan if spared else 2)
        if tables is not None and rest.size:
            batch = _Batch(tables, queries[rest], mask, costs)
            parts += [(rest[some], batch.topk(some, k)) for some in batch.blocks()]
            lazy.outcomes.learn(kind, batch.ratio)
            rest = rest[batch.rest()]
        return _gathered([*parts, scanned(rest)] if rest.size else parts, len(queries))

    def _within(
        self,
        segment: Segment,
        queries: CodeArray,
        radius: int,
        mask: NDArray[np.bool_] | None,
    ) -> RangeSearchResult:
        radius = min(radius, 8 * queries.shape[1])
        costs, batch = self._costs(segment, queries, mask), None
        if costs is not None:
            lazy = self._lazy(segment)
            spared = costs.spared(lazy.work(radius))
            tables = lazy.get(len(queries) * spared) if spared else None
            kind = "radius", radius, costs.scan.bit_length()
            if tables is not None and lazy.outcomes.promise(kind):
                batch = _Batch(tables, queries, mask, costs)
        if batch is None:
            return hamming_range_search(queries, segment.codes, radius, allowed=mask)
        parts = [(some, batch.within(some, radius)) for some in batch.blocks()]
        lazy.outcomes.learn(kind, batch.ratio)
        if (rest := batch.rest()).size:
            found = hamming_range_search(
                queries[rest], segment.codes, radius, allowed=mask
            )
            parts.append((rest, found))
        return _joined(parts, len(queries))

    def _costs(
        self, segment: Segment, queries: CodeArray, mask: NDArray[np.bool_] | None
    ) -> Costs | None:
        """Return what a search costs, None where a scan is as cheap in any case."""
        fewest = _FEWEST if self._use_scan else 1
        if not (len(queries) and fewest <= len(segment) <= MAX_ROWS):
            return None
        n = len(segment) if mask is None else int(np.count_nonzero(mask))
        lazy, shape = self._lazy(segment), (n, queries.shape[1])
        costs = Costs.of(lazy.inside, shape, len(lazy.cuts) - 1, len(queries))
        costs = costs if self._use_scan else costs.unlimited()
        return costs if _kernels.COMPILED and costs.least < costs.scan else None

    def _lazy(self, segment: Segment) -> LazyTables:
        return segment.tables.of(segment.codes, self._n_substrings)


class _Batch:
    """Queries that are looked up, unless the first of them cost more than a scan."""

    def __init__(
        self,
        tables: Tables,
        queries: CodeArray,
        mask: NDArray[np.bool_] | None,
        costs: Costs,
    ) -> None:
        self._tables, self._queries, self._costs = tables, queries, costs
        self._allowed = None if mask is None else np.packbits(mask)
        self._work = np.zeros((len(queries), 2), np.int64)
        self._done = np.zeros(len(queries), np.uint8)
        self._tried = np.zeros(len(queries), np.bool_)

    def blocks(self) -> Iterator[IdArray]:
        """Yield the queries to look up: a few, and the others if these say so."""
        pilot = _spread(len(self._queries))
        yield pilot
        others = np.delete(np.arange(len(self._queries)), pilot)
        if len(others) and self.ratio <= 1:
            yield others

    @property
    def ratio(self) -> float:
        """The cost of the queries that were looked up, as a ratio to that of scans."""
        tried = self._tried
        spent = self._costs.spent(self._work[tried], self._done[tried].astype(np.bool_))
        return float(spent.mean() / self._costs.scan)

    def rest(self) -> IdArray:
        """Return the queries that are still to scan."""
        return np.flatnonzero(self._done == 0)

    def _note(self, block: IdArray, work: IdArray, done: NDArray[np.uint8]) -> None:
        self._work[block], self._done[block], self._tried[block] = work, done, True

    def topk(self, block: IdArray, k: int) -> Neighbours:
        shape = len(block), k
        found = Neighbours(np.empty(shape, np.int32), np.empty(shape, np.int64))
        work, done = np.empty((len(block), 2), np.int64), np.empty(len(block), np.uint8)
        _kernels.multi_index_topk(
            self._queries[block],
            self._tables.native,
            self._allowed,
            self._costs.budget,
            *found,
            work,
            done,
            _kernels.num_threads(),
        )
        self._note(block, work, done)
        return found

    def within(self, block: IdArray, radius: int) -> RangeSearchResult:
        work, done = np.empty((len(block), 2), np.int64), np.empty(len(block), np.uint8)
        hits = _kernels.RangeHits(
            self._queries[block],
            self._tables.native,
            self._allowed,
            radius,
            self._costs.budget,
            _kernels.num_threads(),
        )
        offsets = np.zeros(len(block) + 1, np.int64)
        hits.counts(offsets[1:], work, done)
        np.cumsum(offsets, out=offsets)
        distances, rows = (
            np.empty(offsets[-1], np.int32),
            np.empty(offsets[-1], np.int64),
        )
        hits.write(distances, rows)
        self._note(block, work, done)
        return RangeSearchResult(offsets, distances, rows)


def worthwhile_tables(
    codes: CodeArray, live: NDArray[np.bool_] | None, k: int = 10
) -> Tables | None:
    """Return tables of codes if they find the `k` nearest sooner than a scan.

    Some of the codes are looked up to tell, as if others like them were asked for.
    """
    rows = np.arange(len(codes)) if live is None else np.flatnonzero(live)
    queries = codes[rows[_spread(len(rows))[:_PILOT]]]
    index = MultiIndexHashing(codes[:0])
    segment = Segment(codes, np.arange(len(codes)), len(codes), None, live)
    costs, lazy = index._costs(segment, queries, live), index._lazy(segment)
    if costs is None:
        return None
    # Each finds itself, too.
    found = hamming_topk(queries, codes, k + 1, allowed=live)
    radius = _median(found.distances[:, -1], 8 * codes.shape[1])
    if not costs.spared(lazy.work(radius)):
        return None
    tables = lazy.get()
    assert tables is not None
    batch = _Batch(tables, queries, live, costs)
    batch.topk(np.arange(len(queries)), k + 1)
    return tables if batch.ratio <= 1 else None


def _spread(n: int) -> IdArray:
    """Return the numbers of some queries from all over a batch."""
    if n <= 2 * _PILOT:
        return np.arange(n)
    return np.linspace(0, n - 1, _PILOT).astype(np.int64)


def _median(distances: NDArray[np.int32], n_bits: int) -> int:
    """Return the median of the farthest distances; -1 stands for fewer than k."""
    known = np.sort(np.where(distances < 0, n_bits, distances))
    return int(known[len(known) // 2])


def _gathered(parts: list[tuple[IdArray, Neighbours]], n: int) -> Neighbours:
    """Return what was found for some queries each; what comes later counts."""
    if len(parts) == 1 and len(parts[0][0]) == n:
        return parts[0][1]
    shape = n, parts[0][1].ids.shape[1]
    distances, places = np.empty(shape, np.int32), np.empty(shape, np.int64)
    for block, found in parts:
        distances[block], places[block] = found
    return Neighbours(distances, places)


def _joined(
    parts: list[tuple[IdArray, RangeSearchResult]], n: int
) -> RangeSearchResult:
    """Return what was found for some queries each, given up ones with nothing."""
    if len(parts) == 1 and len(parts[0][0]) == n:
        return parts[0][1]
    counts = np.zeros(n, np.int64)
    for block, found in parts:
        counts[block] += np.diff(found.offsets)
    offsets = np.concatenate([[0], np.cumsum(counts)])
    distances = np.empty(offsets[-1], np.int32)
    rows = np.empty(offsets[-1], np.int64)
    for block, found in parts:
        own = np.diff(found.offsets)
        at = np.repeat(offsets[block] - found.offsets[:-1], own)
        at += np.arange(len(at))
        distances[at], rows[at] = found.distances, found.ids
    return RangeSearchResult(offsets, distances, rows)


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

"""Multi-index hashing: exact search that looks only where near codes can be."""

from __future__ import annotations

from collections.abc import Callable
from typing import final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fewbits import _kernels
from fewbits._typing import CodeArray, DistanceArray, IdArray
from fewbits.codes import RangeSearchResult
from fewbits.index._chunk import Chunk
from fewbits.index._index import Bits, Index, scan_nearest, scan_within
from fewbits.index._tables import (
    MAX_ROWS,
    LazyTables,
    Tables,
    scan_price,
)

FEWEST = 1 << 16  # codes: fewer are compared sooner than looked up
_PILOT = 32  # queries that are answered first, to tell about the rest of a batch
_UNLIMITED = 1 << 62

#: Returns the picoseconds that a scan costs each of so many queries.
ScanPrice = Callable[[int], int]
#: Looks up queries by their numbers, each of which may cost so much; returns the work
#: of each, look-ups and comparisons, and which are answered.
LookUp = Callable[[Tables, IdArray, _kernels.Budget], tuple[IdArray, NDArray[np.uint8]]]


@final
class MultiIndexHashing(Index):
    """Exact search by multi-index hashing: look up substrings of the query in tables.

    Gives the answers of `FlatIndex`. It is faster if neighbours are a few bits away:
    small radii at any number of bits, and few neighbours among a million codes or more
    of up to 128 bits that come in clusters. A few queries of each batch are looked up
    first; where a scan of all codes is faster, the rest is scanned. Tables are made
    once they would have saved as much time as they cost; they take at most six times
    the memory of the codes. Codes added later have tables of their own.

    Parameters
    ----------
    codes, ids
        As in `FlatIndex`.
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

    __slots__ = ("use_scan",)
    use_scan: bool

    def __init__(
        self,
        codes: CodeArray,
        ids: ArrayLike | None = None,
        *,
        use_scan: bool = True,
    ) -> None:
        super().__init__(codes, ids)
        self._configure(use_scan=use_scan)

    def _configure(self, *, use_scan: bool = True) -> None:
        self.use_scan = bool(use_scan)

    def _topk(
        self, chunk: Chunk, queries: CodeArray, k: int, mask: Bits | None
    ) -> tuple[DistanceArray, IdArray]:
        chance = self._chance(chunk, queries, mask, nearest=True)
        if chance is None:
            return scan_nearest(chunk, queries, k, mask)
        lazy, price = chance
        shape, kind = (len(queries), k), _kind_of(k)
        distances, positions = np.empty(shape, np.int32), np.empty(shape, np.int64)
        rest = np.arange(len(queries))

        def scan(numbers: IdArray) -> None:
            distances[numbers], positions[numbers] = scan_nearest(
                chunk, queries[numbers], k, mask
            )

        def look_up(
            tables: Tables, numbers: IdArray, budget: _kernels.Budget
        ) -> tuple[IdArray, NDArray[np.uint8]]:
            hits = (
                np.empty((len(numbers), k), np.int32),
                np.empty((len(numbers), k), np.int64),
            )
            work, done = (
                np.empty((len(numbers), 2), np.int64),
                np.empty(len(numbers), np.uint8),
            )
            _kernels.multi_index_topk(
                queries[numbers],
                tables.native,
                mask,
                budget,
                *hits,
                work,
                done,
                _kernels.num_threads(),
            )
            distances[numbers], positions[numbers] = hits
            return work, done

        if self.use_scan and kind not in lazy.radii:
            # How far the neighbours of a few queries are tells what tables would spare.
            pilot = _spread(len(queries))
            scan(pilot)
            lazy.radii[kind] = _median_distance(distances[pilot], queries.shape[1])
            rest = np.delete(rest, pilot)
        if rest.size:
            radius = lazy.radii.get(kind, 8 * queries.shape[1])
            rest = self._looked_up(lazy, price, rest, kind, radius, look_up)
            if len(rest) == len(queries):
                distances, positions = scan_nearest(chunk, queries, k, mask)
            elif rest.size:
                scan(rest)
            lazy.radii[kind] = _median_distance(distances, queries.shape[1])
        return distances, positions

    def _within(
        self, chunk: Chunk, queries: CodeArray, radius: int, mask: Bits | None
    ) -> RangeSearchResult:
        chance = self._chance(chunk, queries, mask, nearest=False)
        if chance is None:
            return scan_within(chunk, queries, radius, mask)
        lazy, price = chance
        parts: list[tuple[IdArray, RangeSearchResult]] = []

        def look_up(
            tables: Tables, numbers: IdArray, budget: _kernels.Budget
        ) -> tuple[IdArray, NDArray[np.uint8]]:
            hits = _kernels.RangeHits(
                queries[numbers],
                tables.native,
                mask,
                radius,
                budget,
                _kernels.num_threads(),
            )
            work, done = (
                np.empty((len(numbers), 2), np.int64),
                np.empty(len(numbers), np.uint8),
            )
            offsets = np.zeros(len(numbers) + 1, np.int64)
            hits.counts(offsets[1:], work, done)
            np.cumsum(offsets, out=offsets)
            n_hits = int(offsets[-1])
            distances, positions = (
                np.empty(n_hits, np.int32),
                np.empty(n_hits, np.int64),
            )
            hits.write(distances, positions)
            parts.append((numbers, RangeSearchResult(offsets, distances, positions)))
            return work, done

        all_queries = np.arange(len(queries))
        rest = self._looked_up(lazy, price, all_queries, radius, radius, look_up)
        if len(rest) == len(queries):
            return scan_within(chunk, queries, radius, mask)
        if rest.size:
            parts.append((rest, scan_within(chunk, queries[rest], radius, mask)))
        return _joined(parts, len(queries))

    def _chance(
        self, chunk: Chunk, queries: CodeArray, mask: Bits | None, *, nearest: bool
    ) -> tuple[LazyTables, ScanPrice] | None:
        """Return the tables of a chunk, and what a scan costs each of some queries.

        None where all are to be scanned.
        """
        fewest = FEWEST if self.use_scan else 1
        fits = len(queries) and fewest <= len(chunk) <= MAX_ROWS
        if not (fits and _kernels.COMPILED):
            return None
        n = len(chunk) if mask is None else int(np.bitwise_count(mask).sum())

        def price(n_queries: int) -> int:
            if not self.use_scan:
                return _UNLIMITED
            return scan_price(n, queries.shape[1], n_queries, nearest)

        if price(len(queries)) <= 0:
            return None
        if chunk.tables is None:
            chunk.tables = LazyTables(chunk.codes)
        return chunk.tables, price

    def _looked_up(
        self,
        lazy: LazyTables,
        price: ScanPrice,
        numbers: IdArray,
        kind: int,
        radius: int,
        look_up: LookUp,
    ) -> IdArray:
        """Look up some queries while a scan costs more; return those that are left."""
        scan = price(len(numbers))
        spared = lazy.spared(kind, radius, scan)
        tables = lazy.get(len(numbers) * spared) if spared else None
        if tables is None:
            lazy.forget(kind)
            return numbers
        left, pilot, expected = [], _spread(len(numbers)), len(numbers) // 8
        for block in (numbers[pilot], np.delete(numbers, pilot)):
            if block.size and lazy.spared(kind, radius, scan):
                # Those that are given up are scanned in the end, among few others.
                most = max(scan, price(max(1, expected)))
                work, done = look_up(tables, block, _kernels.Budget(*lazy.prices, most))
                lazy.learn(kind, radius, most, work, done)
                left.append(block[done == 0])
                expected = len(numbers) * len(left[0]) // len(block)
            else:
                lazy.forget(kind)
                left.append(block)
        return np.concatenate(left)


def worthwhile_tables(chunk: Chunk) -> Tables | None:
    """Return tables of a chunk if its codes find each other sooner by them."""
    positions = np.arange(len(chunk))
    if chunk.live is not None:
        positions = positions[chunk.live]
    positions = positions[:: max(1, len(positions) // _PILOT)][:_PILOT]
    index, queries = MultiIndexHashing(chunk.codes[:0]), chunk.codes[positions]
    chance = index._chance(chunk, queries, chunk.live_bits, nearest=True)
    if chance is None:
        return None
    lazy, price = chance
    k = 11  # each finds itself, too
    distances, _ = scan_nearest(chunk, queries, k, chunk.live_bits)
    kind, radius = _kind_of(k), _median_distance(distances, queries.shape[1])
    scan = price(len(queries))
    if not lazy.spared(kind, radius, scan):
        return None
    lazy.radii[kind] = radius
    tables = lazy.get()
    index._topk(chunk, queries, k, chunk.live_bits)
    return tables if lazy.spared(kind, radius, scan) else None


def _kind_of(k: int) -> int:
    """Return the kind of a search for the k nearest; others are known by radius."""
    return -1 - k.bit_length()


def _spread(n: int) -> IdArray:
    """Return the numbers of some queries from all over a batch, or of all of a few."""
    if n <= 2 * _PILOT:
        return np.arange(n)
    return np.linspace(0, n - 1, _PILOT).astype(np.int64)


def _median_distance(distances: DistanceArray, n_bytes: int) -> int:
    """Return the median of the farthest distances; -1 stands for fewer than k."""
    far = sorted(distances[:, -1].tolist(), key=lambda d: d if d >= 0 else 8 * n_bytes)
    middle = int(far[len(far) // 2])
    return middle if middle >= 0 else 8 * n_bytes


def _joined(
    parts: list[tuple[IdArray, RangeSearchResult]], n: int
) -> RangeSearchResult:
    """Return the hits of some queries each, given up ones with nothing, in order."""
    if len(parts) == 1:
        return parts[0][1]
    counts = np.zeros(n, np.int64)
    for numbers, hits in parts:
        counts[numbers] += np.diff(hits.offsets)
    offsets = np.concatenate([[0], np.cumsum(counts)])
    distances = np.empty(offsets[-1], np.int32)
    positions = np.empty(offsets[-1], np.int64)
    for numbers, hits in parts:
        at = np.repeat(offsets[numbers] - hits.offsets[:-1], np.diff(hits.offsets))
        at += np.arange(len(at))
        distances[at], positions[at] = hits.distances, hits.ids
    return RangeSearchResult(offsets, distances, positions)

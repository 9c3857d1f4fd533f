"""Queries of one batch that are looked up in tables, and those that are scanned."""

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from fewbits import _kernels
from fewbits._typing import CodeArray, IdArray
from fewbits.codes import Neighbours, RangeSearchResult
from fewbits.index._costs import Costs
from fewbits.index._tables import Tables

PILOT = 32  # queries that are looked up first, to predict the rest of a batch


class Batch:
    """Queries that are looked up, unless the first of them cost more than a scan."""

    def __init__(
        self,
        tables: Tables,
        queries: CodeArray,
        mask: NDArray[np.bool_] | None,
        costs: Costs,
    ) -> None:
        self._tables, self._queries = tables, queries
        self._allowed = None if mask is None else np.packbits(mask)
        self._done = np.zeros(len(queries), np.uint8)
        self._cost, self._scan, self.tried = 0.0, costs.scan, 0
        # Queries that give up are scanned as a small group, at a higher price for each:
        # an eighth of the batch is assumed, until the first queries say how many.
        self._costs = costs.scanned_with(len(queries) // 8)

    def blocks(self) -> Iterator[IdArray]:
        """Yield the queries to look up: a few, and the others if these say so."""
        n = len(self._queries)
        pilot = spread(n)
        yield pilot
        if len(pilot) < n and self.ratio <= 1:
            given_up = len(pilot) - int(np.count_nonzero(self._done[pilot]))
            self._costs = self._costs.scanned_with(n * given_up // len(pilot))
            yield np.delete(np.arange(n), pilot)

    @property
    def ratio(self) -> float:
        """The cost of the queries that were looked up, as a ratio to that of scans."""
        return self._cost / self.tried / self._scan

    def rest(self) -> IdArray:
        """Return the queries that are still to scan."""
        return np.flatnonzero(self._done == 0)

    def _note(
        self, block: IdArray, work: IdArray, done: NDArray[np.uint8], n_hits: int
    ) -> None:
        self._done[block] = done
        self._cost += self._costs.spent(work, done, n_hits)
        self.tried += len(block)

    def _of(self, block: IdArray) -> CodeArray:
        return self._queries if len(block) == len(self._done) else self._queries[block]

    def topk(self, block: IdArray, k: int) -> Neighbours:
        shape = len(block), k
        found = Neighbours(np.empty(shape, np.int32), np.empty(shape, np.int64))
        work, done = np.empty((len(block), 2), np.int64), np.empty(len(block), np.uint8)
        _kernels.multi_index_topk(
            self._of(block),
            self._tables.native,
            self._allowed,
            self._costs.budget,
            *found,
            work,
            done,
            _kernels.num_threads(),
        )
        self._note(block, work, done, 0)
        return found

    def within(self, block: IdArray, radius: int) -> RangeSearchResult:
        work, done = np.empty((len(block), 2), np.int64), np.empty(len(block), np.uint8)
        hits = _kernels.RangeHits(
            self._of(block),
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
        self._note(block, work, done, len(rows))
        return RangeSearchResult(offsets, distances, rows)


def spread(n: int) -> IdArray:
    """Return the numbers of some queries from all over a batch."""
    if n <= 2 * PILOT:
        return np.arange(n)
    return np.linspace(0, n - 1, PILOT).astype(np.int64)


def gathered(parts: list[tuple[IdArray, Neighbours]], n: int) -> Neighbours:
    """Return what was found for some queries each; what comes later counts."""
    if len(parts) == 1 and len(parts[0][0]) == n:
        return parts[0][1]
    shape = n, parts[0][1].ids.shape[1]
    distances, places = np.empty(shape, np.int32), np.empty(shape, np.int64)
    for block, found in parts:
        distances[block], places[block] = found
    return Neighbours(distances, places)


def joined(parts: list[tuple[IdArray, RangeSearchResult]], n: int) -> RangeSearchResult:
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

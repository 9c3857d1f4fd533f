"""NumPy versions of multi-index hashing, one query after the other.

They define the tables and the answers, and the work that a search counts: it gives up
the same queries everywhere.
"""

from collections.abc import Iterator
from itertools import combinations, count, pairwise
from math import comb
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from fewbits._typing import CodeArray, DistanceArray, IdArray

Mask = NDArray[np.uint8]

_AHEAD = 32  # look-ups after which a search asks whether it can afford the rest


class MultiIndexTables(NamedTuple):
    codes: CodeArray
    cuts: IdArray
    starts: NDArray[np.uint32]
    rows: NDArray[np.uint32]
    entries: NDArray[np.uint8] | None


class Budget(NamedTuple):
    lookup: int
    candidate: int
    limit: int


def multi_index_build(
    codes: CodeArray,
    cuts: IdArray,
    starts: NDArray[np.uint32],
    rows: NDArray[np.uint32],
    entries: NDArray[np.uint8] | None,
    n_threads: int,
) -> None:
    bits = np.unpackbits(codes, axis=1)
    first = at = 0
    for number, (begin, end) in enumerate(pairwise(cuts.tolist())):
        values = bits[:, begin:end].astype(np.int64) @ (
            1 << np.arange(end - begin, dtype=np.int64)[::-1]
        )
        n_values = 1 << (end - begin)
        counts = np.bincount(values, minlength=n_values)
        starts[first : first + n_values + 1] = np.append(0, np.cumsum(counts))
        first += n_values + 1
        rows[number] = np.argsort(values, kind="stable")
        if entries is not None:
            kept = np.delete(codes, slice(-(-begin // 8), max(end // 8, 0)), axis=1)
            if end // 8 <= -(-begin // 8):
                kept = codes
            entries[at : at + kept.size] = kept[rows[number]].ravel()
            at += kept.size


def multi_index_topk(
    queries: CodeArray,
    tables: MultiIndexTables,
    allowed: Mask | None,
    budget: Budget,
    distances: DistanceArray,
    rows: IdArray,
    work: IdArray,
    done: NDArray[np.uint8],
    n_threads: int,
) -> None:
    distances[:], rows[:] = -1, -1
    k, n_bits = rows.shape[1], 8 * queries.shape[1]
    for q, query in enumerate(queries):
        search = _Search(tables, query, allowed, k)
        done[q] = search.run(n_bits, budget)
        work[q] = search.work
        if done[q]:
            found = sorted(search.found)[:k]
            for rank, (distance, row) in enumerate(found):
                distances[q, rank], rows[q, rank] = distance, row


def multi_index_nearest(
    queries: CodeArray,
    tables: MultiIndexTables,
    budget: Budget,
    distances: DistanceArray,
    rows: IdArray,
    ties: IdArray,
    work: IdArray,
    done: NDArray[np.uint8],
    n_threads: int,
) -> None:
    for q, query in enumerate(queries):
        search = _Search(tables, query, None, 1)
        done[q] = search.run(8 * queries.shape[1], budget)
        work[q] = search.work
        found = sorted(search.found) if done[q] else []
        distances[q], rows[q] = found[0] if found else (-1, -1)
        ties[q] = sum(each[0] == found[0][0] for each in found)


class RangeHits:
    def __init__(
        self,
        queries: CodeArray,
        tables: MultiIndexTables,
        allowed: Mask | None,
        radius: int,
        budget: Budget,
        n_threads: int,
    ) -> None:
        searches = [_Search(tables, query, allowed, None) for query in queries]
        self._done = [each.run(radius, budget) for each in searches]
        self._work = [each.work for each in searches]
        self._found = [
            sorted(pair for pair in each.found if pair[0] <= radius) if done else []
            for each, done in zip(searches, self._done, strict=True)
        ]

    def counts(self, counts: IdArray, work: IdArray, done: NDArray[np.uint8]) -> None:
        counts[:] = [len(each) for each in self._found]
        work[:], done[:] = np.reshape(self._work, (-1, 2)), self._done

    def write(self, distances: DistanceArray, rows: IdArray) -> None:
        every = [pair for found in self._found for pair in found]
        distances[:] = [pair[0] for pair in every]
        rows[:] = [pair[1] for pair in every]


class _Search:
    """Search of one query; `found` are pairs of a distance and a row."""

    def __init__(
        self,
        tables: MultiIndexTables,
        query: CodeArray,
        allowed: Mask | None,
        k: int | None,
    ) -> None:
        self._tables, self._k = tables, k
        codes = tables.codes
        self._distances = np.bitwise_count(codes ^ query).sum(axis=1, dtype=np.int64)
        # Rows that are not allowed count as seen: they are compared and never found.
        self._seen = np.zeros(len(codes), np.bool_)
        if allowed is not None:
            self._seen = np.unpackbits(allowed, count=len(codes)) == 0
        bits = np.unpackbits(query)
        self._values = [
            int("".join(map(str, bits[a:b])), 2) for a, b in pairwise(tables.cuts)
        ]
        self.work = [0, 0]
        self.found: list[tuple[int, int]] = []

    def run(self, bound: int, budget: Budget) -> bool:
        """Look up until nothing nearer can be found; False where that costs more."""
        m = len(self._values)
        for flips, number in ((f, j) for f in count() for j in range(m)):
            length = int(self._tables.cuts[number + 1] - self._tables.cuts[number])
            if flips * m + number > bound or flips > length:
                return True
            if not self._affordable(length, flips, budget):
                return False
            if not self._look_up(number, _patterns(length, flips), budget):
                return False
            near = sorted(pair[0] for pair in self.found)
            if self._k is not None and len(near) >= self._k:
                bound = near[self._k - 1]
        raise AssertionError("a search ends when all flips are done")

    def _affordable(self, length: int, flips: int, budget: Budget) -> bool:
        lookups = float(comb(length, flips))
        candidates = lookups * float(len(self._seen)) / float(1 << length)
        spent = self.work[0] * budget.lookup + self.work[1] * budget.candidate
        cost = spent + lookups * float(budget.lookup)
        return cost + candidates * float(budget.candidate) <= float(budget.limit)

    def _look_up(
        self, number: int, patterns: NDArray[np.int64], budget: Budget
    ) -> bool:
        begins, ends = self._buckets(number, self._values[number] ^ patterns)
        n, candidates = len(patterns), 0
        for start in range(0, n, _AHEAD):
            span = slice(start, start + _AHEAD)
            candidates += int((ends[span] - begins[span]).sum())
            looked_up = min(n, start + _AHEAD)
            all_lookups = self.work[0] + n
            all_candidates = self.work[1] + candidates * n // looked_up
            cost = all_lookups * budget.lookup + all_candidates * budget.candidate
            if cost > budget.limit:
                self.work[0] += looked_up
                self.work[1] += candidates
                return False
        self.work[0] += n
        self.work[1] += candidates
        for begin, end in zip(begins.tolist(), ends.tolist(), strict=True):
            rows = self._tables.rows[number, begin:end]
            new = rows[~self._seen[rows]]
            self._seen[new] = True
            self.found += zip(self._distances[new].tolist(), new.tolist(), strict=True)
        return True

    def _buckets(self, number: int, values: IdArray) -> tuple[IdArray, IdArray]:
        lengths = np.diff(self._tables.cuts)[:number]
        starts = self._tables.starts[int((2**lengths + 1).sum()) :].astype(np.int64)
        return starts[values], starts[values + 1]


def _patterns(length: int, flips: int) -> NDArray[np.int64]:
    """Return all numbers with so many of the lowest bits set, in order."""
    each: Iterator[tuple[int, ...]] = combinations(range(length), flips)
    return np.sort(np.array([sum(1 << bit for bit in c) for c in each], np.int64))


class PairJoin:
    """All pairs at once, by comparing every code with every other."""

    def __init__(
        self,
        codes: CodeArray,
        allowed: Mask | None,
        parts: IdArray,
        radius: int,
        before: int,
        n_threads: int,
    ) -> None:
        apart = np.bitwise_count(codes[:, None] ^ codes[None]).sum(axis=2, dtype=int)
        near = np.triu(apart <= radius, 1)
        near[before:] = False
        if allowed is not None:
            mask = np.unpackbits(allowed, count=len(codes)).astype(np.bool_)
            near &= mask[:, None] & mask
        self._pairs = np.argwhere(near)
        self._distances = apart[near]
        self._is_new = True

    def advance(self) -> bool:
        self._is_new, was_new = False, self._is_new
        return was_new

    def __len__(self) -> int:
        return len(self._pairs)

    def write(self, distances: DistanceArray, pairs: IdArray) -> None:
        distances[:], pairs[:] = self._distances, self._pairs

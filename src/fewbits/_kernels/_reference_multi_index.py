"""NumPy versions of multi-index hashing.

The tables are what the compiled ones must equal. A search compares with every code:
this defines the answers, and is what a search in NumPy would come to.
"""

from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from fewbits._typing import CodeArray, DistanceArray, IdArray

Mask = NDArray[np.uint8]


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
    from fewbits._kernels import _reference

    _reference.hamming_topk(queries, tables.codes, allowed, distances, rows, n_threads)
    work[:], done[:] = 0, 1


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
        self._given = queries, tables.codes, radius, allowed

    def counts(self, counts: IdArray, work: IdArray, done: NDArray[np.uint8]) -> None:
        from fewbits._kernels import _reference

        _reference.hamming_within_count(*self._given, counts, 1)
        work[:], done[:] = 0, 1

    def write(self, distances: DistanceArray, rows: IdArray) -> None:
        from fewbits._kernels import _reference

        counts = np.zeros(len(self._given[0]) + 1, np.int64)
        _reference.hamming_within_count(*self._given, counts[1:], 1)
        offsets = np.cumsum(counts)
        _reference.hamming_within_fill(*self._given, offsets, distances, rows, 1)


class PairJoin:
    """All pairs at once, by comparing every code with every other."""

    def __init__(
        self,
        codes: CodeArray,
        allowed: Mask | None,
        parts: IdArray,
        radius: int,
        n_threads: int,
    ) -> None:
        apart = np.bitwise_count(codes[:, None] ^ codes[None]).sum(axis=2, dtype=int)
        near = np.triu(apart <= radius, 1)
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

"""Multi-index hashing: the nearest of very many codes without comparing with all."""

from collections.abc import Iterator
from functools import lru_cache
from itertools import combinations, pairwise
from typing import NamedTuple, final

import numpy as np
from numpy.typing import NDArray

from fewbits._frozen import Immutable, frozen_array
from fewbits._typing import CodeArray, DistanceArray, IdArray
from fewbits.classify._decoded import Answers, first_of_each
from fewbits.classify._pairs import pair_distances
from fewbits.codes import unpack

_LONGEST = 20  # bits of a chunk: its table has a place for each value


class Chunk(NamedTuple):
    """Rows sorted by the value of some successive bits; `starts` of each value."""

    bits: slice
    rows: IdArray
    starts: IdArray

    @property
    def length(self) -> int:
        return int(self.bits.stop - self.bits.start)


@final
class MultiIndexHashing(Immutable):
    """Codes cut into chunks, with a table of the rows that have each value of a chunk.

    Two codes that differ in d bits agree in all but ``d // m`` bits of one of their m
    chunks at least. So the values of a query's chunks are looked up, then all values
    with one bit flipped, and so on, until what was found is no farther than whatever
    could have been missed.

    References
    ----------
    Norouzi, Punjani and Fleet, "Fast Search in Hamming Space with Multi-Index Hashing",
    CVPR 2012. Chunks have about log2 of the number of codes bits.
    """

    def __init__(self, codes: CodeArray, n_bits: int) -> None:
        self._codes = frozen_array(codes)
        bits = unpack(codes, n_bits)
        self._multi_index = tuple(
            _chunk(bits, span) for span in _spans(n_bits, len(codes))
        )

    def nearest(self, codes: CodeArray, n_bits: int, work: int) -> Answers:
        """Find the nearest row of each code, the lowest if tied.

        Parameters
        ----------
        codes : ndarray of shape (n, n_bytes), dtype uint8
        n_bits : int
        work : int
            Look-ups and comparisons after which a code is given up.

        Returns
        -------
        Answers
            Rows of -1 for the codes that were given up.
        """
        search = _Search(self._codes, codes)
        values = [_values(unpack(codes, n_bits)[:, c.bits]) for c in self._multi_index]
        for n_flips, number in self._steps():
            # Whatever is not farther than this has been seen.
            seen = n_flips * len(self._multi_index) + number - 1
            search.close(seen)
            if not search.open.size:
                break
            chunk = self._multi_index[number]
            flips = _flips(chunk.length, n_flips)
            search.look_up(chunk, values[number][search.open, None] ^ flips, work)
        search.close(n_bits)
        return search.answers()

    def _steps(self) -> Iterator[tuple[int, int]]:
        for n_flips in range(max(chunk.length for chunk in self._multi_index) + 1):
            for number in range(len(self._multi_index)):
                yield n_flips, number


class _Search:
    """What has been found for each query so far."""

    def __init__(self, codes: CodeArray, queries: CodeArray) -> None:
        self._codes, self._queries = codes, queries
        self._answers = Answers.none(len(queries))
        self._best = np.full(len(queries), np.iinfo(np.int32).max, np.int32)
        self._pairs = [(np.empty(0, np.int64), np.empty(0, np.int64))]
        self._closed = np.zeros(len(queries), np.bool_)
        self.open: IdArray = np.arange(len(queries))

    def close(self, seen: int) -> None:
        """End the search of the queries that nothing nearer can be found for."""
        settled = self._best[self.open] <= seen
        self._closed[self.open[settled]] = True
        self.open = self.open[~settled]

    def look_up(self, chunk: Chunk, values: IdArray, work: int) -> None:
        """Compare the open queries with the rows that have certain values of a chunk.

        `values` has a row for each open query. One that is worth more than `work` is
        given up.
        """
        starts = chunk.starts[values]
        sizes = chunk.starts[values + 1] - starts
        totals = sizes.sum(axis=1)
        spent = self._answers.lookups[self.open] + self._answers.comparisons[self.open]
        within = spent + totals + values.shape[1] <= work
        self.open = self.open[within]
        self._answers.lookups[self.open] += values.shape[1]
        self._answers.comparisons[self.open] += totals[within]
        queries = np.repeat(self.open, totals[within])
        rows = chunk.rows[_ranges(starts[within].ravel(), sizes[within].ravel())]
        distances = pair_distances(self._queries[queries], self._codes[rows])
        self._note(queries, rows, distances)

    def _note(self, queries: IdArray, rows: IdArray, distances: DistanceArray) -> None:
        """Keep what is as near as anything yet; queries are in order."""
        if queries.size:
            firsts = np.flatnonzero(np.diff(queries, prepend=-1))
            nearest = np.minimum.reduceat(distances, firsts)
            some = queries[firsts]
            self._best[some] = np.minimum(self._best[some], nearest)
        near = distances <= self._best[queries]
        self._pairs.append((queries[near], rows[near]))

    def answers(self) -> Answers:
        """Return the lowest of the nearest rows, for the queries that were settled."""
        queries = np.concatenate([pair[0] for pair in self._pairs])
        rows = np.concatenate([pair[1] for pair in self._pairs])
        distances = pair_distances(self._queries[queries], self._codes[rows])
        kept = self._closed[queries] & (distances == self._best[queries])
        queries, rows = queries[kept], rows[kept]
        self._answers.rows, self._answers.ties = first_of_each(
            len(self._queries), queries, rows, np.ones_like(rows)
        )
        self._answers.distances = np.where(self._closed, self._best, np.int32(-1))
        return self._answers


def _spans(n_bits: int, n_codes: int) -> Iterator[slice]:
    length = min(_LONGEST, max(4, n_codes.bit_length()))
    ends = np.linspace(0, n_bits, -(-n_bits // length) + 1).astype(int).tolist()
    for start, end in pairwise(ends):
        yield slice(start, end)


def _chunk(bits: NDArray[np.uint8], span: slice) -> Chunk:
    values = _values(bits[:, span])
    rows = np.argsort(values, kind="stable")
    n_values = 1 << (span.stop - span.start)
    starts = np.searchsorted(values[rows], np.arange(n_values + 1))
    return Chunk(span, frozen_array(rows), frozen_array(starts))


def _values(bits: NDArray[np.uint8]) -> IdArray:
    """Return the numbers whose binary digits are the rows."""
    values = np.zeros(len(bits), np.int64)
    for column in bits.T:
        values = 2 * values + column
    return values


@lru_cache(maxsize=256)
def _flips(length: int, n_flips: int) -> IdArray:
    """Return all numbers of `length` binary digits of which `n_flips` are 1."""
    digits = [1 << digit for digit in range(length)]
    return np.array([sum(c) for c in combinations(digits, n_flips)], np.int64)


def _ranges(starts: IdArray, sizes: IdArray) -> IdArray:
    """Return ``start, start + 1, ...`` of each range, one after the other."""
    ends = np.cumsum(sizes)
    first = np.repeat(starts - (ends - sizes), sizes)
    places: IdArray = first + np.arange(len(first))
    return places

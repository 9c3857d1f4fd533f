"""Prices of look-ups and scans: constants, so that nothing depends on a clock.

They decide how long a search takes, never what it answers. Picoseconds, fitted to
figures of one machine by benchmarks/multi_index.py; their ratios matter.
"""

from typing import NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from fewbits import _kernels
from fewbits._typing import IdArray


class ScanPrices(NamedTuple):
    """Of comparing a query with a code.

    Among many queries: `word`, of 64 bits, and `lay_out`, which all of them share.
    Alone: `one` for codes of 64 bits, otherwise `words` for each word, and `tail` more
    where the last one is not full.
    """

    word: int
    lay_out: int
    one: int
    words: int
    tail: int

    def of(self, n_bytes: int, n_queries: int) -> float:
        n_words = -(-n_bytes // 8)
        shared = n_words * (self.word + self.lay_out / n_queries)
        tail = self.tail if n_bytes % 8 else 0
        return min(shared, self.one if n_bytes == 8 else n_words * self.words + tail)


_FEW = 12  # queries: fewer do not share what is read from memory
_SCAN = {
    "avx512": ScanPrices(48, 2_100, 150, 330, 800),
    "avx2": ScanPrices(95, 1_900, 220, 370, 700),
    "neon": ScanPrices(200, 2_000, 400, 800, 1_600),
    "portable": ScanPrices(200, 3_000, 2_400, 2_300, 800),
}
# Of a look-up, and more in tables of more bytes, which the caches hold less of: once
# where buckets hold the codes, twice where they hold rows.
_LOOKUP, _MISSED = 15_000, ((0, 0), (1 << 23, 17_000), (3 << 23, 45_000))
# Of a comparison in a bucket; elsewhere, of each word of a code, in the caches or not.
_INSIDE, _WORD, _CACHED_WORDS = 5_000, (3_000, 7_000), 1 << 22
#: Of a byte of more codes than that, which few queries do not share.
_STREAMED, _CACHED_CODES = 35, 1 << 24
#: Of a code within a radius, more than what it takes a scan.
_HIT = 25_000
#: Of a call in either way, which its queries share; and of a query, more for a scan for
#: its nearest, and for looking it up.
_CALL, _NEAREST, _LOOKED_UP = (15_000_000, 36_000_000), 4_000_000, 1_000_000
#: Of a code in one table: to make the table, and to read it from a file and check it.
BUILD, READ = 30_000, 5_000
_UNLIMITED = 1 << 62


class Search(NamedTuple):
    """Codes to compare queries with, for their nearest or for all within a radius."""

    n: int
    n_bytes: int
    nearest: bool

    def scan(self, n_queries: int) -> int:
        """Return the picoseconds of a scan for each of some queries."""
        threads, isa = _kernels.num_threads(), _kernels.active_isa()
        each = _SCAN.get(isa, _SCAN["portable"]).of(self.n_bytes, n_queries)
        if n_queries < _FEW and self.n * self.n_bytes > _CACHED_CODES:
            each = max(each, self.n_bytes * _STREAMED)
        # A scan is shared among threads even where there are few queries.
        whole = self.n * each * min(n_queries, threads) / threads
        return int(whole + self.nearest * _NEAREST + _CALL[0] / n_queries)

    def can_pay(self, n_queries: int) -> bool:
        """Return whether a scan takes longer than looking up takes at least."""
        return self.scan(n_queries) > _LOOKED_UP + _CALL[1] // n_queries


class Costs(NamedTuple):
    """Picoseconds of a look-up, of a comparison, and for one query of all else.

    That is a scan, or what looking up takes at least; and what is searched.
    """

    lookup: int
    candidate: int
    scan: int
    least: int
    search: Search

    @classmethod
    def of(cls, search: Search, inside: bool, m: int, n_queries: int) -> Self:
        """Return the costs of a search.

        Parameters
        ----------
        search : Search
        inside : bool
            Whether buckets hold the codes.
        m : int
            Number of tables.
        n_queries : int
            Of the batch.
        """
        n, n_bytes = search.n, search.n_bytes
        missed = max(more for size, more in _MISSED if 4 * m * n >= size)
        lookup = _LOOKUP + missed * (1 if inside else 2)
        word = _WORD[n * n_bytes > _CACHED_WORDS]
        candidate = _INSIDE if inside else word * -(-n_bytes // 8)
        scan, least = search.scan(n_queries), _LOOKED_UP + _CALL[1] // n_queries
        return cls(lookup, candidate, scan, least, search)

    def unlimited(self) -> Self:
        """Return the costs of a search that is never given up for a scan."""
        return self._replace(scan=_UNLIMITED)

    def scanned_with(self, n_queries: int) -> Self:
        """Return the costs where so many queries are scanned in the end."""
        if self.scan == _UNLIMITED:
            return self
        return self._replace(scan=self.search.scan(max(1, n_queries)))

    @property
    def budget(self) -> _kernels.Budget:
        """The most that one query may cost."""
        most = max(0, self.scan - self.least)
        return _kernels.Budget(self.lookup, self.candidate, most)

    def spent(self, work: IdArray, done: NDArray[np.uint8], n_hits: int) -> float:
        """Return the cost of some queries, a scan included where one was given up."""
        lookups, candidates = work.sum(axis=0).tolist()
        given_up = len(done) - int(np.count_nonzero(done))
        looked_up = lookups * self.lookup + candidates * self.candidate
        each = len(done) * self.least + given_up * self.scan
        return float(looked_up + each + n_hits * _HIT)

    def spared(self, work: tuple[float, float]) -> float:
        """Return what tables spare a query, 0 where a scan is as cheap.

        Parameters
        ----------
        work : (lookups, candidates)
        """
        looked_up = work[0] * self.lookup + work[1] * self.candidate
        return max(0.0, self.scan - self.least - looked_up)

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
    Alone: `one` for codes of 64 bits, `words` for each of several words, and at least
    `tail` where the last word is not full.
    """

    word: int
    lay_out: int
    one: int
    words: int
    tail: int

    def of(self, n_bytes: int, n_queries: int) -> float:
        n_words = -(-n_bytes // 8)
        if n_queries >= _FEW:
            return n_words * (self.word + self.lay_out / n_queries)
        if n_bytes % 8:
            return max(self.tail, n_words * self.words)
        return self.one if n_words == 1 else n_words * self.words


_FEW = 12  # queries: fewer are compared one after another
_SCAN = {
    "avx512": ScanPrices(48, 2_100, 150, 330, 1_700),
    "avx2": ScanPrices(95, 1_900, 220, 370, 1_700),
    "neon": ScanPrices(200, 2_000, 400, 800, 2_400),
    "portable": ScanPrices(200, 3_000, 2_400, 2_300, 2_400),
}
# Of a look-up and of a comparison, where the buckets hold the codes, and where they
# hold rows: then of a comparison also for each word.
_INSIDE, _ELSEWHERE, _WORD = (15_000, 3_500), (4_000, 9_500), 3_000
#: Of a look-up in more bytes of rows than that, which the caches do not hold.
_MISSED, _CACHED = 55_000, 1 << 23
#: Of a byte of more codes than that, which few queries do not share.
_STREAMED, _CACHED_CODES = 45, 1 << 24
#: Of a query in either way, and of a call, which its queries share.
_QUERY, _CALL = (4_000_000, 1_000_000), (15_000_000, 60_000_000)
#: Of a code in one table: to make the table, and to read it from a file and check it.
BUILD, READ = 30_000, 5_000
_UNLIMITED = 1 << 62


class Costs(NamedTuple):
    """Picoseconds of a look-up, of a comparison, and for one query of all else.

    That is a scan, or what looking up takes at least.
    """

    lookup: int
    candidate: int
    scan: int
    least: int

    @classmethod
    def of(cls, inside: bool, shape: tuple[int, int], m: int, n_queries: int) -> Self:
        """Return the costs of a search.

        Parameters
        ----------
        inside : bool
            Whether buckets hold the codes.
        shape : (n, n_bytes)
            Of the codes.
        m : int
            Number of tables.
        n_queries : int
            Of the batch.
        """
        n, n_bytes = shape
        threads, isa = _kernels.num_threads(), _kernels.active_isa()
        each = _SCAN.get(isa, _SCAN["portable"]).of(n_bytes, n_queries)
        if n_queries < _FEW and n * n_bytes > _CACHED_CODES:
            each = max(each, n_bytes * _STREAMED)
        # A scan is shared among threads even where there are few queries.
        scan = n * each * min(n_queries, threads) / threads
        scan += _QUERY[0] + _CALL[0] / n_queries
        least = _QUERY[1] + _CALL[1] / n_queries
        lookup, candidate = _INSIDE if inside else _ELSEWHERE
        lookup += _MISSED if 4 * m * n > _CACHED else 0
        candidate += 0 if inside else _WORD * -(-n_bytes // 8)
        return cls(lookup, candidate, int(scan), int(least))

    def unlimited(self) -> Self:
        """Return the costs of a search that is never given up for a scan."""
        return self._replace(scan=_UNLIMITED)

    @property
    def budget(self) -> _kernels.Budget:
        """The most that one query may cost."""
        most = max(0, self.scan - self.least)
        return _kernels.Budget(self.lookup, self.candidate, most)

    def spent(self, work: IdArray, done: NDArray[np.bool_]) -> NDArray[np.float64]:
        """Return the cost of each query, a scan included where it was given up."""
        looked_up = work[:, 0] * self.lookup + work[:, 1] * self.candidate
        scanned = np.where(done, 0, self.scan)
        return np.asarray(self.least + looked_up + scanned, np.float64)

    def spared(self, work: tuple[float, float]) -> float:
        """Return what tables spare a query, 0 where a scan is as cheap.

        Parameters
        ----------
        work : (lookups, candidates)
        """
        looked_up = work[0] * self.lookup + work[1] * self.candidate
        return max(0.0, self.scan - self.least - looked_up)

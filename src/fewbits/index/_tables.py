"""Tables of multi-index hashing, made once they would have paid."""

from collections.abc import Callable
from functools import cached_property
from itertools import pairwise
from math import comb, inf, log2
from threading import Lock
from typing import final

import numpy as np
from numpy.typing import NDArray

from fewbits import _kernels
from fewbits._frozen import Immutable, read_only
from fewbits._typing import CodeArray, IdArray

MAX_LENGTH = 24  # bits of a substring: its table has a position for each value
MAX_ROWS = 2**32 - 1
_MOST = 6  # times the codes: tables that hold codes, too, take no more
_ROOM = 8  # bytes after the last code, which the kernels may read

# Prices in picoseconds, of one machine; their ratios matter. They decide how long a
# search takes, never what it answers, and are constants so that nothing hangs on a
# clock. Of a comparison in a bucket that holds the codes, or of a word of a code
# elsewhere; of a call, which its queries share; of keeping the nearest of a scan.
_INSIDE, _WORD, _CALL, _NEAREST = 5_000, 7_000, 20_000_000, 3_000_000
# Of a look-up: the more bytes the tables have, the less of them the caches hold.
_LOOKUP = {0: 15_000, 8 << 20: 30_000, 24 << 20: 60_000}
# Of a code in one table: to make the table, and to read it from a file.
_BUILD, _READ = 30_000, 5_000
# Of comparing one query with a code of a word, with each word of another one, and with
# a last word that is not full; and with each word where many queries share the laying
# out of a code.
_SCAN = {
    "avx512": (150, 330, 800, 48),
    "avx2": (220, 370, 700, 95),
    "neon": (400, 800, 1_600, 200),
    "portable": (2_400, 2_300, 800, 200),
}
_LAY_OUT = 2_000

#: Reads the tables of some codes where they are kept, None if they are not there.
ReadTables = Callable[[CodeArray], "Tables | None"]


@final
class Tables(Immutable):
    """A table for each of m substrings of some codes.

    Two codes that differ in d bits agree in all but ``d // m`` bits of one of their m
    substrings at least. So the substrings of a query are looked up, then all values
    with one bit flipped, and so on.

    Substring j has the bits from ``cuts[j]`` up to ``cuts[j + 1]``. `starts` are, for
    each substring in turn, where the `positions` (m, n) of each of its values start,
    and their number; `entries` the codes in the same order, without the whole bytes of
    the substring, or None where that would take more than six times their memory.
    """

    def __init__(
        self,
        codes: CodeArray,
        cuts: IdArray,
        starts: NDArray[np.uint32],
        positions: NDArray[np.uint32],
        entries: NDArray[np.uint8] | None,
    ) -> None:
        self.codes, self.cuts = codes, read_only(cuts)
        self.starts, self.positions = read_only(starts), read_only(positions)
        self.entries = None if entries is None else read_only(entries)

    @cached_property
    def native(self) -> _kernels.MultiIndexTables:
        """The tables as the kernels take them."""
        return _kernels.MultiIndexTables(
            self.codes, self.cuts, self.starts, self.positions, self.entries
        )

    @property
    def n_bytes(self) -> int:
        """The memory that the tables take."""
        entries = 0 if self.entries is None else self.entries.nbytes
        return self.starts.nbytes + self.positions.nbytes + entries


def build_tables(codes: CodeArray, n_bits: int | None = None) -> Tables:
    """Return the tables of codes; the bits after the first `n_bits` are always 0."""
    cuts = default_cuts(len(codes), n_bits or 8 * codes.shape[1])
    n_starts, n_entries = sizes(codes.shape, cuts)
    starts = np.empty(n_starts, np.uint32)
    positions = np.empty((len(cuts) - 1, len(codes)), np.uint32)
    entries = np.empty(n_entries, np.uint8) if n_entries else None
    if entries is not None:  # np.zeros would not ask the system for large pages
        entries[-_ROOM:] = 0
    _kernels.multi_index_build(
        codes, cuts, starts, positions, entries, _kernels.num_threads()
    )
    return Tables(codes, cuts, starts, positions, entries)


def default_cuts(n: int, n_bits: int) -> IdArray:
    """Return where codes are cut: no table has more positions than there are codes."""
    longest = min(MAX_LENGTH, log2(max(16, n)))
    return np.linspace(0, n_bits, int(np.ceil(n_bits / longest)) + 1).astype(np.int64)


def sizes(shape: tuple[int, ...], cuts: IdArray) -> tuple[int, int]:
    """Return the number of starts, and of bytes of entries, 0 for none."""
    n, n_bytes = shape
    lengths = np.diff(cuts).tolist()
    n_starts = sum(2**length + 1 for length in lengths)
    n_entries = entry_bytes(shape, cuts)
    total = 4 * n_starts + 4 * len(lengths) * n + n_entries
    return n_starts, n_entries if total <= _MOST * n * n_bytes else 0


def entry_bytes(shape: tuple[int, ...], cuts: IdArray) -> int:
    """Return the bytes of entries: codes without the whole bytes of substrings."""
    n, n_bytes = shape
    ends: list[int] = cuts.tolist()
    left_out = sum(max(0, b // 8 - -(-a // 8)) for a, b in pairwise(ends))
    return n * ((len(cuts) - 1) * n_bytes - left_out) + _ROOM


def scan_price(n: int, n_bytes: int, n_queries: int, nearest: bool) -> int:
    """Return the picoseconds that a scan of `n` codes takes each of some queries.

    Less what the call of looking them up takes more, which they share. `nearest` asks
    for the k nearest, in place of all within a radius.
    """
    one, wide, tail, word = _SCAN.get(_kernels.active_isa(), _SCAN["portable"])
    n_words, threads = -(-n_bytes // 8), _kernels.num_threads()
    alone = one if n_bytes == 8 else wide * n_words + tail * (n_bytes % 8 > 0)
    shared = n_words * (word + _LAY_OUT / n_queries)
    # A scan is shared among threads even where there are few queries.
    scan = n * min(alone, shared) * min(n_queries, threads) / threads
    return int(scan + nearest * _NEAREST - _CALL / n_queries)


class LazyTables:
    """The tables of some codes, and the rule by which queries are looked up in them.

    A batch of queries is looked up where that costs less than a scan. What it costs is
    reckoned from the radius within which the neighbours are, as if codes were spread
    evenly, times a factor learnt from the look-ups of that kind so far (buckets of
    codes in clusters are larger where queries are). What tables would have spared is
    added up. Once it is as much as they cost, they are read where they are kept, or
    made: so searching costs at most about twice what it would if all queries were known
    in advance.
    """

    def __init__(self, codes: CodeArray, read: ReadTables | None = None) -> None:
        self._codes, self._read = codes, read
        self._tables: Tables | None = None
        self._credit, self._lock = 0.0, Lock()
        n, n_bytes = codes.shape
        cuts = default_cuts(n, 8 * n_bytes)
        lengths = np.diff(cuts).tolist()
        self._n_entries = len(lengths) * n
        inside = sizes(codes.shape, cuts)[1] > 0
        lookup = max(ps for size, ps in _LOOKUP.items() if 4 * self._n_entries >= size)
        #: Picoseconds of a look-up, and of a comparison in a bucket.
        self.prices = lookup, _INSIDE if inside else _WORD * -(-n_bytes // 8)
        # A radius one larger takes one more flip of one more substring.
        steps = [divmod(step, len(lengths)) for step in range(8 * n_bytes + 1)]
        lookups = np.array([float(comb(lengths[j], flips)) for flips, j in steps])
        buckets = n / 2.0 ** np.array([lengths[j] for _, j in steps])
        self._price = np.cumsum(lookups * (self.prices[0] + buckets * self.prices[1]))
        #: A factor for each kind of search: its radius, or -1 less the bits of `k`.
        self._skew: dict[int, float] = {}
        #: Of a kind of search for the `k` nearest, the median distance of the farthest.
        self.radii: dict[int, int] = {}

    def spared(self, kind: int, radius: int, scan: int) -> float:
        """Return what a query is spared by look-ups in place of a scan, 0 for nothing.

        `radius` is that within which its neighbours are.
        """
        skew = self._skew.get(kind, 1.0)
        return max(0.0, scan - skew * float(self._price[radius]))

    def learn(
        self, kind: int, radius: int, scan: int, work: IdArray, done: NDArray[np.uint8]
    ) -> None:
        """Take in what queries cost that were looked up, given up ones with a scan."""
        lookups, candidates = work.sum(axis=0).tolist()
        given_up = len(done) - int(np.count_nonzero(done))
        cost = lookups * self.prices[0] + candidates * self.prices[1] + given_up * scan
        ratio = cost / len(done) / float(self._price[radius])
        share = min(1.0, max(0.5, len(done) / 32))
        skew = self._skew.get(kind, 1.0)
        self._skew[kind] = max(1.0, skew + share * (ratio - skew))

    def forget(self, kind: int) -> None:
        """Believe a little less that look-ups cost more than was reckoned."""
        self._skew[kind] = max(1.0, 0.97 * self._skew.get(kind, 1.0))

    def get(self, spared: float = inf) -> Tables | None:
        """Return the tables, or pay for them by what the queries are spared."""
        if self._tables is None:
            self._credit += spared
            # A thread that comes while another makes them does a scan.
            while self._are_due() and self._lock.acquire(blocking=False):
                try:
                    if self._are_due():
                        read, self._read = self._read, None
                        self._tables = (
                            build_tables(self._codes)
                            if read is None
                            else read(self._codes)
                        )
                except MemoryError:
                    self._credit = -inf  # a scan needs none
                finally:
                    self._lock.release()
        return self._tables

    def _are_due(self) -> bool:
        price = _BUILD if self._read is None else _READ
        return self._tables is None and self._credit >= price * self._n_entries

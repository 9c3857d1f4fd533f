"""Tables of multi-index hashing: the rows that have each value of a substring."""

from functools import cached_property
from itertools import pairwise
from math import log2
from typing import final

import numpy as np
from numpy.typing import NDArray

from fewbits import _kernels
from fewbits._frozen import Immutable, read_only
from fewbits._typing import CodeArray, IdArray

MAX_LENGTH = 24  # bits of a substring: its table has a place for each value
MAX_ROWS = 2**32 - 1
_MOST = 6  # times the codes: tables that hold codes, too, take no more
_ROOM = 8  # bytes after the last code, which the kernels may read


@final
class Tables(Immutable):
    """A table for each of m substrings of some codes.

    Two codes that differ in d bits agree in all but ``d // m`` bits of one of their m
    substrings at least. So the substrings of a query are looked up, then all values
    with one bit flipped, and so on.

    Parameters
    ----------
    codes : ndarray of shape (n, n_bytes), dtype uint8
    cuts : ndarray of shape (m + 1,), dtype int64
        Substring j has the bits from ``cuts[j]`` up to ``cuts[j + 1]``.
    starts : ndarray, dtype uint32
        For each substring in turn, where the rows of each value start, and their
        number.
    rows : ndarray of shape (m, n), dtype uint32
        Rows by the value of each substring.
    entries : ndarray of dtype uint8, or None
        The codes in the same order, without the whole bytes of the substring. None
        where that would take more than six times the memory of the codes.

    References
    ----------
    Norouzi, Punjani and Fleet, "Fast Exact Search in Hamming Space with Multi-Index
    Hashing", IEEE TPAMI 2014.
    """

    def __init__(
        self,
        codes: CodeArray,
        cuts: IdArray,
        starts: NDArray[np.uint32],
        rows: NDArray[np.uint32],
        entries: NDArray[np.uint8] | None,
    ) -> None:
        self.codes, self.cuts = codes, read_only(cuts)
        self.starts, self.rows = read_only(starts), read_only(rows)
        self.entries = None if entries is None else read_only(entries)

    @property
    def lengths(self) -> list[int]:
        """The bits of each substring."""
        return [b - a for a, b in pairwise(self.cuts.tolist())]

    @property
    def n_bytes(self) -> int:
        """The memory that the tables take."""
        entries = 0 if self.entries is None else self.entries.nbytes
        return self.starts.nbytes + self.rows.nbytes + entries

    @cached_property
    def native(self) -> _kernels.MultiIndexTables:
        """The tables as the kernels take them."""
        return _kernels.MultiIndexTables(
            self.codes, self.cuts, self.starts, self.rows, self.entries
        )


def build_tables(
    codes: CodeArray, n_substrings: int | None = None, n_bits: int | None = None
) -> Tables:
    """Return the tables of codes.

    Parameters
    ----------
    codes : ndarray of shape (n, n_bytes), dtype uint8
    n_substrings : int, default=None
        None takes substrings of about log2(n) bits.
    n_bits : int, default=None
        Where the bits after these are always 0.
    """
    cuts = default_cuts(len(codes), n_bits or 8 * codes.shape[1], n_substrings)
    n_starts, n_rows, n_entries = sizes(codes.shape, cuts)
    starts = np.empty(n_starts, np.uint32)
    rows = np.empty((len(cuts) - 1, n_rows), np.uint32)
    entries = np.empty(n_entries, np.uint8) if n_entries else None
    if entries is not None:  # np.zeros would not ask the system for large pages
        entries[-_ROOM:] = 0
    _kernels.multi_index_build(
        codes, cuts, starts, rows, entries, _kernels.num_threads()
    )
    return Tables(codes, cuts, starts, rows, entries)


def default_cuts(n: int, n_bits: int, n_substrings: int | None = None) -> IdArray:
    """Return where codes are cut: no table has more places than there are codes."""
    longest = min(MAX_LENGTH, log2(max(16, n)))
    number = n_substrings or int(np.ceil(n_bits / longest))
    return np.linspace(0, n_bits, number + 1).astype(np.int64)


def sizes(shape: tuple[int, ...], cuts: IdArray) -> tuple[int, int, int]:
    """Return the number of starts, of rows, and of bytes of entries, 0 for none."""
    n, n_bytes = shape
    lengths = np.diff(cuts).tolist()
    n_starts = sum(2**length + 1 for length in lengths)
    n_entries = entry_bytes(shape, cuts)
    total = 4 * n_starts + 4 * len(lengths) * n + n_entries
    return n_starts, n, n_entries if total <= _MOST * n * n_bytes else 0


def entry_bytes(shape: tuple[int, ...], cuts: IdArray) -> int:
    """Return the bytes of entries: codes without the whole bytes of substrings."""
    n, n_bytes = shape
    ends: list[int] = cuts.tolist()
    left_out = sum(max(0, b // 8 - -(-a // 8)) for a, b in pairwise(ends))
    return n * ((len(cuts) - 1) * n_bytes - left_out) + _ROOM

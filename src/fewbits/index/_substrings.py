"""Codes cut into substrings, with a table of the rows that have each value of one."""

from collections.abc import Iterator
from functools import lru_cache
from itertools import combinations, pairwise
from typing import NamedTuple, final

import numpy as np
from numpy.typing import NDArray

from fewbits._frozen import Immutable, frozen_array
from fewbits._typing import CodeArray, IdArray

MAX_LENGTH = 20  # bits of a substring: its table has a place for each value


class Substring(NamedTuple):
    """Rows sorted by the value of some successive bits; `starts` of each value."""

    bits: slice
    rows: NDArray[np.signedinteger]
    starts: NDArray[np.signedinteger]

    @property
    def length(self) -> int:
        return int(self.bits.stop - self.bits.start)

    def values(self, codes: CodeArray) -> NDArray[np.uint32]:
        """Return the numbers whose binary digits are the substrings of codes."""
        first, last = self.bits.start // 8, -(-self.bits.stop // 8)
        values: NDArray[np.uint32] = np.zeros(len(codes), np.uint32)
        for byte in range(first, last):
            values = np.asarray(values << 8 | codes[:, byte], np.uint32)
        unused = 8 * last - self.bits.stop
        mask = np.uint32((1 << self.length) - 1)
        return np.asarray(values >> unused & mask)

    def bucket_sizes(self, values: IdArray) -> tuple[IdArray, IdArray]:
        """Return where the rows with each value start, and how many there are."""
        starts = self.starts[values].astype(np.int64)
        return starts, self.starts[values + 1] - starts

    def rows_in(self, starts: IdArray, sizes: IdArray) -> IdArray:
        """Return the rows of each bucket, one after the other."""
        rows = self.rows[_ranges(starts.ravel(), sizes.ravel())]
        return np.asarray(rows, np.int64)


@final
class SubstringTables(Immutable):
    """Multi-index hashing: a table for each of m substrings of the codes.

    Two codes that differ in d bits agree in all but ``d // m`` bits of one of their m
    substrings at least. So the substrings of a query are looked up, then all values
    with one bit flipped, and so on.

    Parameters
    ----------
    codes : ndarray of shape (n, n_bytes), dtype uint8
    n_bits : int
    n_substrings : int, default=None
        None means substrings of about log2(n) bits.

    References
    ----------
    Norouzi, Punjani and Fleet, "Fast Exact Search in Hamming Space with Multi-Index
    Hashing", IEEE TPAMI 2014.
    """

    def __init__(
        self, codes: CodeArray, n_bits: int, n_substrings: int | None = None
    ) -> None:
        number = n_substrings or _default_number(n_bits, len(codes))
        ends = np.linspace(0, n_bits, number + 1).astype(int).tolist()
        self.substrings = tuple(_substring(codes, slice(*s)) for s in pairwise(ends))

    def steps(self) -> Iterator[tuple[int, int]]:
        """Yield (bits flipped, substring) in the order to look up.

        Before step (f, j), all codes not farther than ``f * m + j - 1`` have been seen.
        """
        for n_flips in range(max(each.length for each in self.substrings) + 1):
            for number in range(len(self.substrings)):
                yield n_flips, number

    def first_steps(self, differing: CodeArray) -> IdArray:
        """Return the step, ``f * m + j``, that first sees codes that differ so."""
        m = len(self.substrings)
        steps = [
            m * np.bitwise_count(each.values(differing)).astype(np.int64) + number
            for number, each in enumerate(self.substrings)
        ]
        return np.asarray(np.minimum.reduce(steps))


@lru_cache(maxsize=256)
def flips(length: int, n_flips: int) -> IdArray:
    """Return all numbers of `length` binary digits of which `n_flips` are 1."""
    digits = [1 << digit for digit in range(length)]
    return np.array([sum(c) for c in combinations(digits, n_flips)], np.int64)


def _default_number(n_bits: int, n_codes: int) -> int:
    return -(-n_bits // min(MAX_LENGTH, max(4, n_codes.bit_length())))


def _substring(codes: CodeArray, span: slice) -> Substring:
    empty = np.empty(0, np.int32)
    values = Substring(span, empty, empty).values(codes)
    n_values = 1 << (span.stop - span.start)
    number: type[np.signedinteger] = np.int32 if len(codes) < 2**31 else np.int64
    counts = np.bincount(values, minlength=n_values)
    starts = np.asarray(np.concatenate([[0], np.cumsum(counts)]), number)
    # NumPy sorts 16 bits by radix, many times as fast.
    short = values.astype(np.uint16) if n_values <= 1 << 16 else values
    rows = np.asarray(np.argsort(short, kind="stable"), number)
    return Substring(span, frozen_array(rows), frozen_array(starts))


def _ranges(starts: IdArray, sizes: IdArray) -> IdArray:
    """Return ``start, start + 1, ...`` of each range, one after the other."""
    ends = np.cumsum(sizes)
    first = np.repeat(starts - (ends - sizes), sizes)
    places: IdArray = first + np.arange(len(first))
    return places

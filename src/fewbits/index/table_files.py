"""Tables of multi-index hashing as bytes, which spare making them again.

The caller ensures that the bytes are intact, and of the same codes. What is
read here leads no search out of its arrays, whatever it is: there are no tables then.
"""

import struct
from collections.abc import Callable
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from fewbits._typing import CodeArray, IdArray
from fewbits.index._lazy_tables import TableCache as TableCache
from fewbits.index._tables import MAX_LENGTH, Tables, build_tables, entry_bytes
from fewbits.index._worthwhile import worthwhile_tables

_MAGIC = b"fewbits mih 2\r\n\0"
_FIELDS = struct.Struct("<16sQQQQ")
_HEADER = 64
_ALIGNED = 64  # bytes, at a multiple of which each array begins


class _Header(NamedTuple):
    magic: bytes
    n: int
    n_bytes: int
    m: int
    n_entries: int

    @classmethod
    def of(cls, tables: Tables) -> Self:
        n_entries = 0 if tables.entries is None else len(tables.entries)
        n, n_bytes = tables.codes.shape
        return cls(_MAGIC, n, n_bytes, len(tables.cuts) - 1, n_entries)

    def is_of(self, codes: CodeArray) -> bool:
        same = (self.magic, self.n, self.n_bytes) == (_MAGIC, *codes.shape)
        return same and 0 < self.m <= 8 * self.n_bytes


def cached_tables(read: Callable[[], Any]) -> TableCache:
    """Return what an index reads tables with once they pay.

    Parameters
    ----------
    read : callable
        Returns the bytes that were kept, None if there are none.
    """

    def saved(codes: CodeArray) -> Tables | None:
        data = read()
        return None if data is None else tables_from(data, codes)

    return TableCache(saved)


def bytes_to_keep(
    codes: CodeArray, live: NDArray[np.bool_] | None, *, always: bool = False
) -> list[Any] | None:
    """Return the bytes of tables of codes, None where a scan finds neighbours sooner.

    Parameters
    ----------
    codes : ndarray of shape (n, n_bytes), dtype uint8
    live : ndarray of shape (n,), dtype bool, or None
        Which codes can be found.
    always : bool, default=False
        Whether they are wanted even where a scan is as fast.
    """
    tables = build_tables(codes) if always else worthwhile_tables(codes, live)
    return None if tables is None else table_bytes(tables)


def table_bytes(tables: Tables) -> list[Any]:
    """Return the bytes of tables, in pieces that are written one after another."""
    head = _FIELDS.pack(*_Header.of(tables)).ljust(_HEADER, b"\0")
    pieces: list[Any] = [head]
    for array in _arrays(tables):
        data = np.ascontiguousarray(array).reshape(-1).view(np.uint8).data
        pieces += [data, bytes(_room(len(data)) - len(data))]
    return [piece for piece in pieces if len(piece)]


def tables_from(data: Any, codes: CodeArray) -> Tables | None:
    """Return the tables of some codes that bytes hold, None if they hold others.

    Parameters
    ----------
    data : bytes-like
        As of `table_bytes`, such as a mapped file, which is not copied.
    codes : ndarray of shape (n, n_bytes), dtype uint8
    """
    data = memoryview(data)
    if len(data) < _HEADER:
        return None
    header = _Header(*_FIELDS.unpack(data[: _FIELDS.size]))
    if not header.is_of(codes):
        return None
    body = data[_HEADER:]
    cuts = _cuts(body, header)
    if cuts is None or header.n_entries not in {0, entry_bytes(codes.shape, cuts)}:
        return None
    if len(body) != sum(map(_room, _lengths(cuts, header))):
        return None
    return _checked(body, cuts, header, codes)


def _arrays(tables: Tables) -> list[NDArray[Any]]:
    entries = [] if tables.entries is None else [tables.entries]
    return [tables.cuts, tables.starts, tables.rows, *entries]


def _cuts(body: memoryview, header: _Header) -> IdArray | None:
    """Return where codes are cut, None if they cannot be cut so."""
    if len(body) < 8 * (header.m + 1):
        return None
    cuts = np.frombuffer(body, "<i8", header.m + 1)
    ends = int(cuts[0]), int(cuts[-1])
    lengths = np.diff(cuts)
    right = ends == (0, 8 * header.n_bytes) and (lengths >= 1).all()
    return cuts if right and (lengths <= MAX_LENGTH).all() else None


def _lengths(cuts: IdArray, header: _Header) -> list[int]:
    """Return the bytes of each array."""
    n_starts = sum(2 ** int(length) + 1 for length in np.diff(cuts))
    return [cuts.nbytes, 4 * n_starts, 4 * header.m * header.n, header.n_entries]


def _checked(
    body: memoryview, cuts: IdArray, header: _Header, codes: CodeArray
) -> Tables | None:
    """Return the tables if no kernel can be led astray by them."""
    at, parts = 0, []
    for length in _lengths(cuts, header):
        parts.append(body[at : at + length])
        at += _room(length)
    starts, rows = (np.frombuffer(part, "<u4") for part in parts[1:3])
    first = 0
    for length in np.diff(cuts).tolist():
        own = starts[first : first + 2**length + 1]
        if own[0] != 0 or own[-1] != header.n or (own[1:] < own[:-1]).any():
            return None
        first += len(own)
    if rows.size and rows.max() >= header.n:
        return None
    entries = np.frombuffer(parts[3], np.uint8) if header.n_entries else None
    return Tables(codes, cuts, starts, rows.reshape(header.m, header.n), entries)


def _room(length: int) -> int:
    return -(-length // _ALIGNED) * _ALIGNED

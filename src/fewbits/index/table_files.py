"""Tables of multi-index hashing as bytes, which spare making them again.

The caller ensures that the bytes are intact, and of the same codes. What is
read here leads no search out of its arrays, whatever it is: there are no tables then.
"""

import struct
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fewbits._typing import CodeArray
from fewbits.index._chunk import Chunk
from fewbits.index._multi_index import FEWEST as FEWEST
from fewbits.index._multi_index import worthwhile_tables
from fewbits.index._tables import MAX_LENGTH, Tables, entry_bytes
from fewbits.index._tables import LazyTables as LazyTables
from fewbits.index._tables import build_tables as build_tables

_MAGIC = b"fewbits mih 2\r\n\0"
_FIELDS = struct.Struct("<16sQQQQ")  # then n, n_bytes, m and n_entries
_HEADER = 64
_ALIGNED = 64  # bytes, at a multiple of which each array begins


def kept_tables(codes: CodeArray, read: Callable[[], Any]) -> LazyTables:
    """Return the tables of codes, which are read once they pay.

    `read` returns the bytes that were kept, None if there are none.
    """

    def read_tables(codes: CodeArray) -> Tables | None:
        data = read()
        return None if data is None else tables_from(data, codes)

    return LazyTables(codes, read_tables)


def bytes_to_keep(
    codes: CodeArray, live: NDArray[np.bool_] | None, *, always: bool = False
) -> list[Any] | None:
    """Return the bytes of tables of codes, None where a scan finds neighbours sooner.

    Some of the codes are looked up to tell, as if others like them were asked for;
    `live` is which can be found, and `always` wants tables in any case.
    """
    if always:
        return table_bytes(build_tables(codes))
    tables = worthwhile_tables(Chunk(codes, range(len(codes)), live))
    return None if tables is None else table_bytes(tables)


def table_bytes(tables: Tables) -> list[Any]:
    """Return the bytes of tables, in pieces that are written one after another."""
    n_entries = 0 if tables.entries is None else len(tables.entries)
    head = _FIELDS.pack(_MAGIC, *tables.codes.shape, len(tables.cuts) - 1, n_entries)
    pieces: list[Any] = [head.ljust(_HEADER, b"\0")]
    for array in (tables.cuts, tables.starts, tables.positions, tables.entries):
        if array is not None:
            data = np.ascontiguousarray(array).reshape(-1).view(np.uint8).data
            pieces += [data, bytes(_room(len(data)) - len(data))]
    return [piece for piece in pieces if len(piece)]


def tables_from(data: Any, codes: CodeArray) -> Tables | None:
    """Return the tables of some codes that bytes hold, None if they hold others.

    A mapped file is not copied.
    """
    data = memoryview(data)
    if len(data) < _HEADER:
        return None
    magic, n, n_bytes, m, n_entries = _FIELDS.unpack(data[: _FIELDS.size])
    body = data[_HEADER:]
    if (magic, n, n_bytes) != (_MAGIC, *codes.shape) or not 0 < m <= 8 * n_bytes:
        return None
    if len(body) < 8 * (m + 1):
        return None
    cuts = np.frombuffer(body, "<i8", m + 1)
    lengths = np.diff(cuts).tolist()
    if (int(cuts[0]), int(cuts[-1])) != (0, 8 * n_bytes):
        return None
    if min(lengths) < 1 or max(lengths) > MAX_LENGTH:
        return None
    if n_entries not in {0, entry_bytes(codes.shape, cuts)}:
        return None
    n_starts = sum(2**length + 1 for length in lengths)
    sizes = [cuts.nbytes, 4 * n_starts, 4 * m * n, n_entries]
    if len(body) != sum(map(_room, sizes)):
        return None
    at, parts = 0, []
    for size in sizes:
        parts.append(body[at : at + size])
        at += _room(size)
    starts, positions = np.frombuffer(parts[1], "<u4"), np.frombuffer(parts[2], "<u4")
    # No kernel can be led astray by positions of codes that are there.
    first = 0
    for length in lengths:
        table = starts[first : first + 2**length + 1]
        if table[0] != 0 or table[-1] != n or (table[1:] < table[:-1]).any():
            return None
        first += len(table)
    if positions.size and positions.max() >= n:
        return None
    entries = np.frombuffer(parts[3], np.uint8) if n_entries else None
    return Tables(codes, cuts, starts, positions.reshape(m, n), entries)


def _room(length: int) -> int:
    return -(-length // _ALIGNED) * _ALIGNED

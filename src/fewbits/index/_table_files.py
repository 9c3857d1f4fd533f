"""Tables of multi-index hashing in a file, which spare making them again.

They follow from the codes, so a file that is missing, damaged or of other codes is no
error: there are no tables then.
"""

import mmap
import struct
from pathlib import Path
from typing import Any, NamedTuple, Self
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from fewbits._files import atomic_write
from fewbits._typing import CodeArray, IdArray
from fewbits.index._tables import MAX_LENGTH, Tables, entry_bytes

_MAGIC, _VERSION = b"fewbits mih\r\n\x1a\n\x00", 1
_FIELDS = struct.Struct("<16sIIQQQQI")  # then a CRC-32 of these fields
_HEADER = 64
_ALIGNED = 64  # bytes, at a multiple of which each array begins


class _Header(NamedTuple):
    """The first bytes of a file; `crc` is that of all that follows them."""

    magic: bytes
    version: int
    codes_crc: int
    n: int
    n_bytes: int
    m: int
    n_entries: int
    crc: int

    @classmethod
    def of(cls, tables: Tables, crc: int) -> Self:
        n_entries = 0 if tables.entries is None else len(tables.entries)
        codes_crc = crc32(np.ascontiguousarray(tables.codes).data)
        n, n_bytes = tables.codes.shape
        m = len(tables.cuts) - 1
        return cls(_MAGIC, _VERSION, codes_crc, n, n_bytes, m, n_entries, crc)

    @classmethod
    def read(cls, content: mmap.mmap) -> Self | None:
        head = content[: _FIELDS.size + 4]
        if len(content) < _HEADER or crc32(head[:-4]) != int.from_bytes(
            head[-4:], "little"
        ):
            return None
        header = cls(*_FIELDS.unpack(head[:-4]))
        known = header.magic == _MAGIC and header.version == _VERSION
        return header if known else None

    def written(self) -> bytes:
        fields = _FIELDS.pack(*self)
        return (fields + crc32(fields).to_bytes(4, "little")).ljust(_HEADER, b"\0")

    def is_of(self, codes: CodeArray) -> bool:
        same = (self.n, self.n_bytes) == codes.shape and 0 < self.m <= 8 * self.n_bytes
        return same and self.codes_crc == crc32(np.ascontiguousarray(codes).data)


def save_tables(path: str | Path, tables: Tables) -> None:
    """Write tables to a file, such as ``mih-0.bin``, whole or not at all."""
    parts = [_padded(array) for array in _arrays(tables)]
    crc = 0
    for part in parts:
        crc = crc32(part, crc)
    with atomic_write(path) as file:
        file.write(_Header.of(tables, crc).written())
        for part in parts:
            file.write(part)


def load_tables(path: str | Path, codes: CodeArray) -> Tables | None:
    """Return tables mapped from a file, None if it is not, whole, that of `codes`.

    All of it is read once, to check it.
    """
    try:
        with Path(path).open("rb") as file:
            content = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
    except (OSError, ValueError):  # not there, or empty
        return None
    header = _Header.read(content)
    if header is None or not header.is_of(codes):
        return None
    body = memoryview(content)[_HEADER:]
    cuts = _cuts(body, header)
    if cuts is None or header.n_entries not in {0, entry_bytes(codes.shape, cuts)}:
        return None
    if len(body) != sum(map(_room, _lengths(cuts, header))):
        return None
    if crc32(body) != header.crc:
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


def _padded(array: NDArray[Any]) -> bytes | memoryview:
    data = np.ascontiguousarray(array).reshape(-1).view(np.uint8)
    missing = _room(data.nbytes) - data.nbytes
    return np.concatenate([data, np.zeros(missing, np.uint8)]).data


def _room(length: int) -> int:
    return -(-length // _ALIGNED) * _ALIGNED

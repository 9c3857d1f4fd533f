"""Files of deleted rows: their places, or a bit for each row where that is shorter."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from fewbits.errors import ArtefactError
from fewbits.store._blocks import crc32c
from fewbits.store._disk import Disk
from fewbits.store._files import write_file
from fewbits.store._flipped import flipped_bit
from fewbits.store._manifest import SegmentEntry
from fewbits.store._names import deletes_name

_MAGIC = b"fewbits del 1\n\0\0"
_HEAD = np.dtype([("n_rows", "<u8"), ("n_deleted", "<u8"), ("packed", "<u8")])
_START = len(_MAGIC) + 16 + _HEAD.itemsize  # of a token and the head
_HINT = "'fewbits verify --repair' keeps what is intact"

Mask = NDArray[np.bool_]


def write_deletes(disk: Disk, token: str, number: int, live: Mask) -> None:
    """Write which rows of a segment are deleted, as of one manifest."""
    places = np.flatnonzero(~live).astype("<u4")
    packed = 4 * len(places) > len(live) // 8
    head = np.array([(len(live), len(places), packed)], _HEAD)
    body = np.packbits(~live) if packed else places
    data = _MAGIC + token.encode() + head.tobytes() + body.tobytes()
    sealed = data + crc32c(data).to_bytes(4, "little")
    write_file(disk, deletes_name(token, number), sealed)


def read_live(disk: Disk, segment: SegmentEntry) -> Mask | None:
    """Return which rows of a segment are not deleted, None for all.

    Raises
    ------
    ArtefactError
        When the file is damaged or gone.
    """
    if segment.deletes is None:
        return None
    name = deletes_name(segment.token, segment.deletes)
    path = disk.folder / name
    try:
        data = bytes(disk.map(name))
    except FileNotFoundError:
        raise ArtefactError(
            f"{path} is missing; 'fewbits verify --repair' goes on without it"
        ) from None
    if not _is_sealed(data):
        raise ArtefactError(f"{path} is damaged: its checksum does not match; {_HINT}")
    live = _parsed(data[:-4], segment)
    if live is None:
        raise ArtefactError(
            f"{path} is damaged: it is not about the segment that it is named after; "
            f"{_HINT}"
        )
    live.setflags(write=False)
    return live


def mended_live(disk: Disk, segment: SegmentEntry) -> tuple[Mask | None, bool]:
    """Return what `read_live` does, and whether a flipped bit had to be put back.

    What comes out must match the checksum, and leave as many rows as the manifest says.

    Raises
    ------
    ArtefactError
        When more is damaged than a bit, or the file is gone.
    """
    try:
        return read_live(disk, segment), False
    except ArtefactError:
        mended = None
        if segment.deletes is not None:
            mended = _mended(disk, deletes_name(segment.token, segment.deletes))
        live = None if mended is None else _parsed(mended[:-4], segment)
        if live is None:
            raise
        return live, True


def deleted_count(disk: Disk, token: str, number: int) -> int | None:
    """Return how many rows a file says are deleted, None where it cannot be read.

    One flipped bit is put back before.
    """
    data = _mended(disk, deletes_name(token, number))
    if data is None or len(data) < _START or not data.startswith(_MAGIC):
        return None
    return _stated(data)


def stated_count(disk: Disk, token: str, number: int) -> int:
    """Return how many rows a damaged file may have said are deleted."""
    data = bytes(disk.map(deletes_name(token, number)))
    return _stated(data) if len(data) >= _START else 0


def _stated(data: bytes) -> int:
    return int(np.frombuffer(data, _HEAD, 1, len(_MAGIC) + 16)[0]["n_deleted"])


def _is_sealed(data: bytes | bytearray) -> bool:
    return crc32c(data[:-4]).to_bytes(4, "little") == data[-4:]


def _mended(disk: Disk, name: str) -> bytes | None:
    """Return a file that its checksum matches, after one bit is put back if need be."""
    try:
        data = bytearray(disk.map(name))
    except FileNotFoundError:
        return None
    if _is_sealed(data):
        return bytes(data)
    stated = int.from_bytes(data[-4:], "little")
    if (crc32c(data[:-4]) ^ stated).bit_count() == 1:  # the checksum's own bit
        data[-4:] = crc32c(data[:-4]).to_bytes(4, "little")
        return bytes(data)
    found = flipped_bit(data[:-4], stated)
    if found is None:
        return None
    data[found[0]] ^= found[1]
    return bytes(data)


def _parsed(data: bytes, segment: SegmentEntry) -> Mask | None:
    if len(data) < _START or not data.startswith(_MAGIC + segment.token.encode()):
        return None
    head: Any = np.frombuffer(data, _HEAD, 1, len(_MAGIC) + 16)[0]
    body = data[_START:]
    n_deleted = segment.n_rows - segment.n_live
    if head["n_rows"] != segment.n_rows or head["n_deleted"] != n_deleted:
        return None
    if head["packed"]:
        if len(body) != -(-segment.n_rows // 8):
            return None
        deleted = np.unpackbits(np.frombuffer(body, np.uint8), count=segment.n_rows)
        live = deleted == 0
    else:
        places = np.frombuffer(body[: len(body) // 4 * 4], "<u4")
        if len(body) != 4 * n_deleted or (places >= segment.n_rows).any():
            return None
        live = np.ones(segment.n_rows, np.bool_)
        live[places] = False
    return live if int(np.count_nonzero(live)) == segment.n_live else None

"""Files of deleted rows: their places, or a bit for each row where that is shorter."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from fewbits.errors import ArtefactError
from fewbits.store._blocks import crc32c
from fewbits.store._disk import Disk
from fewbits.store._files import write_file
from fewbits.store._manifest import SegmentEntry
from fewbits.store._names import deletes_name

_MAGIC = b"fewbits del 1\n\0\0"
_HEAD = np.dtype([("n_rows", "<u8"), ("n_deleted", "<u8"), ("packed", "<u8")])
_START = len(_MAGIC) + 16 + _HEAD.itemsize  # of a token and the head

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
    if crc32c(data[:-4]).to_bytes(4, "little") != data[-4:]:
        raise ArtefactError(f"{path} is damaged: its checksum does not match")
    live = _parsed(data[:-4], segment)
    if live is None:
        raise ArtefactError(f"{path} is not about the segment that it is named after")
    live.setflags(write=False)
    return live


def deleted_count(disk: Disk, token: str, number: int) -> int | None:
    """Return how many rows a file says are deleted, None where it is damaged."""
    data = bytes(disk.map(deletes_name(token, number)))
    sealed = crc32c(data[:-4]).to_bytes(4, "little") == data[-4:]
    if not sealed or len(data) < _START or not data.startswith(_MAGIC):
        return None
    return int(np.frombuffer(data, _HEAD, 1, len(_MAGIC) + 16)[0]["n_deleted"])


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

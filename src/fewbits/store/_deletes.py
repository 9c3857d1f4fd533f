"""Files of deleted rows: their places, or a bit for each row where that is shorter."""

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fewbits._formats import check_kind
from fewbits.errors import ArtefactError
from fewbits.store._disk import Disk, write_file
from fewbits.store._manifest import REPAIR, SegmentEntry
from fewbits.store._sums import is_sealed, mended_seal, sealed

_MAGIC = b"fewbits del 1\n\0\0"
_HEAD = np.dtype([("n_rows", "<u8"), ("n_deleted", "<u8"), ("packed", "<u8")])
_START = len(_MAGIC) + 16 + _HEAD.itemsize  # of a token and the head

Mask = NDArray[np.bool_]


def write_deletes(
    disk: Disk, segment: SegmentEntry, number: int, live: Mask
) -> SegmentEntry:
    """Write which rows are deleted as of one manifest, and return its segment."""
    n_live = int(np.count_nonzero(live))
    deleted = replace(segment, n_live=n_live, deletes=number)
    places = np.flatnonzero(~live).astype("<u4")
    packed = 4 * len(places) > len(live) // 8
    head = np.array([(len(live), len(places), packed)], _HEAD)
    body = np.packbits(~live) if packed else places
    data = _MAGIC + segment.token.encode() + head.tobytes() + body.tobytes()
    write_file(disk, deleted.deletes_name, sealed(data))
    return deleted


def read_live(disk: Disk, segment: SegmentEntry, *, mends: bool = False) -> Mask | None:
    """Return which rows of a segment are not deleted, None for all.

    One that `mends` puts a flipped bit back: what comes out must match the checksum,
    and leave as many rows as the manifest says. Raises ArtefactError where the file is
    damaged or gone, NewerFormatError where it is of a newer kind.
    """
    if segment.deletes is None:
        return None
    path = disk.folder / segment.deletes_name
    try:
        data: bytes | None = bytes(disk.map(segment.deletes_name))
    except FileNotFoundError:
        raise ArtefactError(f"{path} is missing; {REPAIR}") from None
    if not is_sealed(data):
        data = mended_seal(data) if mends else None
    if data is None:
        raise ArtefactError(f"{path} is damaged: its checksum does not match; {REPAIR}")
    is_ours = check_kind(path, data, _MAGIC)
    live = _parsed(data[:-4], segment) if is_ours else None
    if live is None:
        raise ArtefactError(
            f"{path} is damaged: it is not about the segment that it is named after; "
            f"{REPAIR}"
        )
    live.setflags(write=False)
    return live


def _parsed(data: bytes, segment: SegmentEntry) -> Mask | None:
    if len(data) < _START or data[len(_MAGIC) :][:16] != segment.token.encode():
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

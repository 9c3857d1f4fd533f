"""Deleted rows of a segment: their positions, or a bit for each row where shorter."""

import contextlib
from dataclasses import replace
from functools import cached_property
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from fewbits._formats import check_kind
from fewbits._typing import IdArray
from fewbits.errors import ArtefactError
from fewbits.store._disk import Disk, write_file
from fewbits.store._manifest import REPAIR, SegmentEntry
from fewbits.store._sums import is_sealed, repair_seal, seal

_MAGIC = b"fewbits del 1\n\0\0"
_HEAD = np.dtype([("n_rows", "<u8"), ("n_deleted", "<u8"), ("packed", "<u8")])
_START = len(_MAGIC) + 16 + _HEAD.itemsize  # of a token and the head
#: Positions that a manifest takes, before they go to a file.
INLINE = 128
_NO_POSITIONS: NDArray[Any] = np.empty(0, np.uint32)

Mask = NDArray[np.bool_]


class Deletes:
    """Which of some rows are deleted, in the form that a file has. A value.

    The content is rising positions, uint32, or a bit for each row, uint8, the highest
    first; `more` are those of the positions that are in no file, in any order.
    """

    def __init__(
        self,
        n_rows: int,
        n_deleted: int = 0,
        content: NDArray[Any] = _NO_POSITIONS,
        more: IdArray = _NO_POSITIONS,
    ) -> None:
        self.n_rows, self.n_deleted = n_rows, n_deleted
        self.content, self.more = content, more

    @property
    def is_packed(self) -> bool:
        return bool(self.content.dtype == np.uint8)

    def has(self, positions: IdArray) -> Mask:
        """Return whether the row at each position, from 0 on, is deleted."""
        mask: Mask
        if self.is_packed:
            bits = self.content[positions >> 3] >> (7 - (positions & 7)).astype("u1")
            mask = (bits & 1) == 1
        elif self.n_deleted:
            nearest = np.searchsorted(self.content, positions.astype(np.uint32))
            nearest = np.minimum(nearest, self.n_deleted - 1)
            mask = self.content[nearest] == positions
        else:
            mask = np.zeros(len(positions), np.bool_)
        return mask

    def adding(self, positions: IdArray) -> Self:
        """Return these and more, which rise and are not deleted yet."""
        n_deleted = self.n_deleted + len(positions)
        all_more = np.concatenate([self.more, positions])
        if self.is_packed:
            bits = self.content.copy()
        elif 4 * n_deleted <= self.n_rows // 8:
            more = positions.astype(np.uint32)
            at = np.searchsorted(self.content, more)
            content = np.insert(self.content, at, more)
            return type(self)(self.n_rows, n_deleted, content, all_more)
        else:
            bits = np.packbits(~self._mask)
        flags = np.uint8(128) >> (positions & 7).astype(np.uint8)
        np.bitwise_or.at(bits, positions >> 3, flags)
        return type(self)(self.n_rows, n_deleted, bits, all_more)

    @cached_property
    def live(self) -> Mask | None:
        """Mask of the rows that are not deleted, read-only; None for all."""
        if not self.n_deleted:
            return None
        live = self._mask
        live.setflags(write=False)
        return live

    @property
    def _mask(self) -> Mask:
        if self.is_packed:
            mask: Mask = np.unpackbits(self.content, count=self.n_rows) == 0
        else:
            mask = np.ones(self.n_rows, np.bool_)
            mask[self.content] = False
        return mask


def write_deletes(
    disk: Disk, segment: SegmentEntry, number: int, deletes: Deletes
) -> SegmentEntry:
    """Write which rows are deleted as of one manifest, and return its segment."""
    n_live = deletes.n_rows - deletes.n_deleted
    is_all = segment.deletes is not None or len(deletes.more) == deletes.n_deleted
    if is_all and len(deletes.more) <= INLINE:
        more = tuple(np.sort(deletes.more).tolist())
        return replace(segment, n_live=n_live, deleted=more)
    deleted = replace(segment, n_live=n_live, deletes=number, deleted=())
    head = np.array([(deletes.n_rows, deletes.n_deleted, deletes.is_packed)], _HEAD)
    data = _MAGIC + segment.token.encode() + head.tobytes() + deletes.content.tobytes()
    name = deleted.name("del")
    with contextlib.suppress(FileNotFoundError):  # of a state that was not published
        disk.remove(name)
    write_file(disk, name, seal(data))
    return deleted


def read_deletes(disk: Disk, segment: SegmentEntry, *, mends: bool = False) -> Deletes:
    """Return which rows of a segment are deleted.

    One that `mends` puts a flipped bit back: what comes out must match the checksum,
    and leave as many rows as the manifest says. Raises ArtefactError where the file is
    damaged or gone, NewerFormatError where it is of a newer kind.
    """
    more, deletes = np.array(segment.deleted, np.int64), Deletes(segment.n_rows)
    if segment.deletes is not None:
        deletes = _read_file(disk, segment, mends)
        if deletes.has(more).any():
            raise ArtefactError(
                f"{disk.folder / segment.name('del')} is damaged: its manifest says "
                f"otherwise; {REPAIR}"
            )
    return deletes.adding(more) if len(more) else deletes


def _read_file(disk: Disk, segment: SegmentEntry, mends: bool) -> Deletes:
    path = disk.folder / segment.name("del")
    try:
        data: bytes | None = disk.read(path.name)
    except FileNotFoundError:
        raise ArtefactError(f"{path} is missing; {REPAIR}") from None
    if not is_sealed(data):
        data = repair_seal(data) if mends else None
    if data is None:
        raise ArtefactError(f"{path} is damaged: its checksum does not match; {REPAIR}")
    begin = _MAGIC + segment.token.encode()
    n_rows = segment.n_rows
    n_deleted = n_rows - segment.n_live - len(segment.deleted)
    is_ours = check_kind(path, data, _MAGIC) and data.startswith(begin)
    if is_ours and len(data) >= _START + 4:
        head: Any = np.frombuffer(data, _HEAD, 1, len(begin))[0]
        body = np.frombuffer(data, np.uint8, len(data) - _START - 4, _START)
        is_same = head["n_rows"] == n_rows and head["n_deleted"] == n_deleted
        if is_same and head["packed"]:
            n_set = np.bitwise_count(body).sum()
            if len(body) == -(-n_rows // 8) and n_set == n_deleted:
                return Deletes(n_rows, n_deleted, body)
        elif is_same and len(body) == 4 * n_deleted:
            positions = body.view("<u4").astype(np.uint32)
            rises = (positions[1:] > positions[:-1]).all()
            if rises and (positions[-1:] < n_rows).all():
                return Deletes(n_rows, n_deleted, positions)
    raise ArtefactError(
        f"{path} is damaged: it is not about the segment that it is named after; "
        f"{REPAIR}"
    )

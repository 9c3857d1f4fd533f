"""Data that search derives from the codes of a segment, kept beside it.

The file can be made again from the codes: one that is missing, damaged or of another
segment is none. It holds any bytes, the CRC-32C of their blocks, and which segment they
are of.
"""

import contextlib
from collections.abc import Iterable
from typing import Any

import numpy as np

from fewbits.errors import ArtefactError
from fewbits.store._blocks import BLOCK, SummedFile, block_sums, crc32c
from fewbits.store._disk import Disk
from fewbits.store._manifest import SegmentEntry
from fewbits.store._names import derived_name, draft_name

_MAGIC = b"fewbits der 1\n\0\0"


def write_derived(disk: Disk, entry: SegmentEntry, pieces: Iterable[Any]) -> None:
    """Write the file of a segment, in the place of one that is there.

    The caller holds the lock of the store; without it, the file could be collected.

    Raises
    ------
    OSError
        When there is no room; then there is no file.
    """
    remove_derived(disk, entry)
    draft = draft_name()
    try:
        file = disk.create(draft)
        try:
            summed = SummedFile(file)
            for piece in pieces:
                summed.write(piece)
            n_bytes, sums = summed.finish()
            tail = sums.astype("<u4").tobytes() + _seal(entry, n_bytes)
            file.write(tail + crc32c(tail).to_bytes(4, "little"))
        finally:
            file.close()  # not synced: it can be made again
        disk.publish(draft, derived_name(entry.token))
    except OSError:
        with contextlib.suppress(OSError):
            disk.remove(draft)
        raise


def remove_derived(disk: Disk, entry: SegmentEntry) -> None:
    """Remove the file of a segment, if there is one."""
    with contextlib.suppress(FileNotFoundError):
        disk.remove(derived_name(entry.token))


def has_derived(disk: Disk, entry: SegmentEntry) -> bool:
    """Return whether a segment has a file, whatever is in it."""
    try:
        return disk.size(derived_name(entry.token)) > 0
    except OSError:
        return False


def read_derived(disk: Disk, entry: SegmentEntry) -> memoryview:
    """Return the derived file of a segment, memory-mapped, after checking all of it.

    Raises
    ------
    ArtefactError
        When it is damaged, or of another segment.
    OSError
        When it is not there.
    """
    name = derived_name(entry.token)
    path = str(disk.folder / name)
    view = memoryview(disk.map(name))
    size = len(_seal(entry, 0))
    n_bytes = int.from_bytes(view[-12:-4], "little")
    tail = view[n_bytes:-4]
    if len(tail) != 4 * -(-n_bytes // BLOCK) + size:
        raise ArtefactError(f"{path} is damaged: its length does not fit")
    if tail[-size:] != _seal(entry, n_bytes):
        raise ArtefactError(f"{path} is damaged: it is of another segment")
    intact = crc32c(tail).to_bytes(4, "little") == view[-4:]
    sums = np.frombuffer(tail[:-size], "<u4")
    if not (intact and np.array_equal(block_sums(view[:n_bytes]), sums)):
        raise ArtefactError(f"{path} is damaged: its checksum does not match")
    return view[:n_bytes]


def _seal(entry: SegmentEntry, n_bytes: int) -> bytes:
    """Return what ties a file to its segment, and its length."""
    numbers = np.array([entry.rows.n_bytes, entry.rows.crc, n_bytes], "<u8")
    return _MAGIC + entry.token.encode() + numbers.tobytes()

"""CRC-32C of each 64 KiB of a file, computed when written and checked when read."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from fewbits import _kernels
from fewbits.errors import ArtefactError
from fewbits.store._disk import OutFile

BLOCK = 1 << 16
Sums = NDArray[np.uint32]


def block_sums(data: Any) -> Sums:
    """Return the CRC-32C of each block of some bytes; the last may be shorter."""
    array = np.frombuffer(data, np.uint8)
    edges = np.append(np.arange(0, len(array), BLOCK, dtype=np.int64), len(array))
    sums = np.empty(len(edges) - 1, np.uint32)
    _kernels.crc32c(array, edges, sums)
    return sums


def crc32c(data: Any) -> int:
    """Return the CRC-32C of some bytes."""
    array = np.frombuffer(data, np.uint8)
    sums = np.empty(1, np.uint32)
    _kernels.crc32c(array, np.array([0, len(array)], np.int64), sums)
    return int(sums[0])


class SummedFile:
    """File that Arrow writes to: it passes bytes on to another and sums their blocks.

    Parameters
    ----------
    file : OutFile
        Synced and closed by the caller.
    """

    closed = False

    def __init__(self, file: OutFile) -> None:
        self._file, self._size = file, 0
        self._begun = bytearray()
        self._sums: list[Sums] = []

    def write(self, data: Any) -> int:
        """Write bytes; of those that fill no block, a copy is kept."""
        view = memoryview(data).cast("B")
        size, start = len(view), 0
        if self._begun:
            start = min(size, BLOCK - len(self._begun))
            self._begun += view[:start]
            if len(self._begun) == BLOCK:
                self._sums.append(block_sums(self._begun))
                self._begun = bytearray()
        whole = start + (size - start) // BLOCK * BLOCK
        if whole > start:
            self._sums.append(block_sums(view[start:whole]))
        if whole < size:
            self._begun += view[whole:]
        self._file.write(view)
        self._size += size
        return size

    def tell(self) -> int:
        return self._size

    def flush(self) -> None:
        """Do nothing: syncing is the writer's decision."""

    def close(self) -> None:
        """Do nothing: Arrow closes what it writes to, but the sums come after it."""

    def finish(self) -> tuple[int, Sums]:
        """Return the length of the file, and the sums of its blocks."""
        rest = [block_sums(self._begun)] if self._begun else []
        return self._size, np.concatenate([np.empty(0, np.uint32), *self._sums, *rest])


class CheckedBytes:
    """The bytes of a file whose blocks are compared with their sums at first touch.

    Parameters
    ----------
    data : buffer
        The whole file, usually mapped.
    sums : ndarray of uint32
    name : str
        What errors call the file.
    """

    def __init__(self, data: Any, sums: Sums, name: str) -> None:
        # Unlike `np.frombuffer` this names the map as its owner, which is read-only.
        self.bytes = np.ndarray((len(data),), np.uint8, data)
        self.data = data
        self._sums, self._name = sums, name
        # Threads may check a block twice, which does no harm.
        self._good = np.zeros(len(sums), np.bool_)

    def check(self, start: int, stop: int) -> None:
        """Check the blocks of ``[start, stop)``.

        Raises
        ------
        ArtefactError
            When one differs from what was written.
        """
        first, last = start // BLOCK, -(-stop // BLOCK)
        if stop > start and not self._good[first:last].all():
            self.check_blocks(np.arange(first, last))

    def check_blocks(self, blocks: NDArray[np.int64]) -> None:
        """Check some blocks, which may repeat, in any order."""
        unknown = blocks[~self._good[blocks]]
        if not len(unknown):
            return
        wanted = np.unique(unknown)
        if bad := self.damaged(wanted):
            raise ArtefactError(
                f"{self._name} is damaged at byte {bad[0] * BLOCK:,}: its checksum "
                "does not match; 'fewbits verify --repair' keeps what is intact"
            )
        self._good[wanted] = True

    def check_at(self, places: NDArray[np.int64]) -> None:
        """Check the blocks in which some bytes lie."""
        blocks = places // BLOCK
        if not self._good[blocks].all():
            self.check_blocks(blocks)

    def damaged(self, blocks: NDArray[np.int64]) -> list[int]:
        """Return which of some blocks, rising, differ from their sums."""
        ends = np.append(np.flatnonzero(np.diff(blocks) != 1) + 1, len(blocks))
        bad: list[int] = []
        begin = 0
        for end in ends.tolist():
            if end > begin:
                first, last = int(blocks[begin]), int(blocks[end - 1]) + 1
                found = block_sums(self.bytes[first * BLOCK : last * BLOCK])
                bad += (
                    np.flatnonzero(found != self._sums[first:last]) + first
                ).tolist()
            begin = end
        return bad

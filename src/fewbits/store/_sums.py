"""Checksums: the CRC-32C of each 64 KiB of a file, made when it is written.

What is read is compared with them at first touch. The sums of a segment's Arrow files
stand in a file of their own, with copies of what Arrow needs to find their columns.
"""

import json
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fewbits import _kernels
from fewbits._formats import check_kind
from fewbits.errors import ArtefactError, NewerFormatError
from fewbits.store._disk import OutFile, read_at
from fewbits.store._manifest import BLOCK, REPAIR, FileEntry, plain_entry

_CHUNK = 1 << 19  # bytes that are read at once
Sums = NDArray[np.uint32]

_MAGIC = b"fewbits sum 1\n\0\0"
_HEAD = np.dtype([("n_bytes", "<u8"), ("body", "<u8"), ("tail", "<u8")])


def block_sums(data: Any) -> Sums:
    """Return the CRC-32C of each block of some bytes; the last may be shorter."""
    array = np.frombuffer(data, np.uint8)
    edges = np.append(np.arange(0, len(array), BLOCK, dtype=np.int64), len(array))
    sums = np.empty(len(edges) - 1, np.uint32)
    _kernels.crc32c(array, edges, sums)
    return sums


def sums_of(data: Any, first: int = 0, last: int = 1 << 50) -> Sums:
    """Return the sums of blocks of what `Disk.map` returned, after reading them.

    That of a block that has been cut off is of the bytes that are left.
    """
    size = min(last * BLOCK, len(data))
    starts = range(first * BLOCK, size, _CHUNK)
    pieces = (read_at(data, at, min(at + _CHUNK, size)) for at in starts)
    sums = np.concatenate([np.empty(0, np.uint32), *map(block_sums, pieces)])
    n_lacking = -(-size // BLOCK) - first - len(sums)
    return np.pad(sums, (0, n_lacking)) if n_lacking else sums


def crc32c(data: Any) -> int:
    """Return the CRC-32C of some bytes."""
    array = np.frombuffer(data, np.uint8)
    sums = np.empty(1, np.uint32)
    _kernels.crc32c(array, np.array([0, len(array)], np.int64), sums)
    return int(sums[0])


def sum_of_sums(sums: Sums) -> int:
    """Return the number by which a manifest knows all blocks of a file."""
    return crc32c(sums.astype("<u4").tobytes())


def seal(data: bytes) -> bytes:
    """Return the content of a small file, with its CRC-32C at the end."""
    return data + crc32c(data).to_bytes(4, "little")


def is_sealed(data: Any) -> bool:
    return crc32c(data[:-4]).to_bytes(4, "little") == bytes(data[-4:])


class SummedFile:
    """File that Arrow writes to: it passes blocks on to another and sums them.

    `finish` passes on the last one. The caller syncs and closes the other file.
    """

    closed = False

    def __init__(self, file: OutFile) -> None:
        self._file, self._size = file, 0
        self._begun = bytearray()
        self._sums: list[Sums] = []

    def write(self, data: Any) -> int:
        """Take bytes, and keep a copy of those that fill no block."""
        view = memoryview(data).cast("B")
        size, start = len(view), 0
        if self._begun:
            start = min(size, BLOCK - len(self._begun))
            self._begun += view[:start]
            if len(self._begun) == BLOCK:
                self._pass_on(self._begun)
                self._begun = bytearray()
        whole = start + (size - start) // BLOCK * BLOCK
        if whole > start:
            self._pass_on(view[start:whole])
        if whole < size:
            self._begun += view[whole:]
        self._size += size
        return size

    def _pass_on(self, blocks: Any) -> None:
        self._sums.append(block_sums(blocks))
        self._file.write(blocks)

    def tell(self) -> int:
        return self._size

    def flush(self) -> None:
        """Do nothing: syncing is the writer's decision."""

    def close(self) -> None:
        """Do nothing: Arrow closes what it writes to, but the sums come after it."""

    def finish(self) -> tuple[int, Sums]:
        """Return the length of the file, and the sums of its blocks."""
        if self._begun:
            self._pass_on(self._begun)
        return self._size, np.concatenate([np.empty(0, np.uint32), *self._sums])


class CheckedBytes:
    """The bytes of a file, usually mapped, compared with their sums at first touch."""

    def __init__(self, data: Any, sums: Sums, path: str) -> None:
        # Unlike `np.frombuffer` this names the map as its owner, which is read-only.
        self.bytes = np.ndarray((len(data),), np.uint8, data)
        self.path = path
        self._data, self._sums = data, sums
        # Threads may check a block twice, which does no harm.
        self._good = np.zeros(len(sums), np.bool_)

    def check(self, start: int, stop: int) -> None:
        """Raise ArtefactError where a block of ``[start, stop)`` is damaged."""
        if stop > start:
            self.check_blocks(np.arange(start // BLOCK, -(-stop // BLOCK)))

    def check_blocks(self, blocks: NDArray[np.int64]) -> None:
        """Check some blocks, which may repeat, in any order."""
        good = self._good[blocks]
        if good.all():
            return
        blocks = np.unique(blocks[~good])
        for run in np.split(blocks, np.flatnonzero(np.diff(blocks) != 1) + 1):
            first, last = int(run[0]), int(run[-1]) + 1
            sums = sums_of(self._data, first, last)
            bad = np.flatnonzero(sums != self._sums[first:last])
            if len(bad):
                raise ArtefactError(
                    f"{self.path} is damaged at byte {(first + bad[0]) * BLOCK:,}: "
                    f"its checksum does not match; {REPAIR}"
                )
        self._good[blocks] = True


@dataclass(frozen=True)
class FileSums:
    """The sums of one Arrow file, and its frame.

    `head` and `tail` stand before and behind the values: Arrow's schema, and where
    things are. Of a file whose sums stand in the manifest they are not kept.
    """

    sums: Sums
    n_bytes: int
    head: bytes = b""
    tail: bytes = b""

    @property
    def body(self) -> tuple[int, int]:
        """The bytes in which the values lie."""
        return len(self.head), self.n_bytes - len(self.tail)

    def entry(self, *, inline: bool = False) -> FileEntry:
        """Return the facts that a manifest keeps of the file, perhaps with its sums."""
        sums = tuple(self.sums.tolist()) if inline else ()
        return FileEntry(self.n_bytes, sum_of_sums(self.sums), sums)

    def to_bytes(self) -> bytes:
        head = np.array([(self.n_bytes, *self.body)], _HEAD)
        sums = self.sums.astype("<u4").tobytes()
        return head.tobytes() + sums + self.head + self.tail


def sums_bytes(files: list[FileSums], facts: dict[str, Any]) -> bytes:
    """Return the content of a file of sums, of rows and of vectors.

    The facts are what the first manifest with the segment says of it, for other tools.
    """
    text = json.dumps(facts, default=plain_entry).encode()
    data = _MAGIC + len(text).to_bytes(8, "little") + text
    return seal(data + b"".join(file.to_bytes() for file in files))


def facts_of(data: bytes) -> dict[str, Any]:
    """Return the facts that `sums_bytes` has written, which are sealed."""
    start = len(_MAGIC) + 8
    end = start + int.from_bytes(data[len(_MAGIC) : start], "little")
    return dict(json.loads(data[start:end]))


def parse_sums(data: bytes, path: str) -> list[FileSums]:
    """Return the sums of the files of a segment, of rows and of vectors.

    Raises ArtefactError where they are damaged, NewerFormatError where they are of a
    newer kind.
    """
    try:
        if not is_sealed(data):
            raise ValueError("its checksum does not match")
        start = len(_MAGIC) + 8
        at = start + int.from_bytes(data[len(_MAGIC) : start], "little")
        end = len(data) - 4
        if not check_kind(path, data, _MAGIC) or at >= end:
            raise ValueError("it holds no sums")
        files = []
        while at < end:
            n_bytes, start, stop = np.frombuffer(data, _HEAD, 1, at)[0].tolist()
            if not start <= stop <= n_bytes < 1 << 62:
                raise ValueError("its numbers make no sense")
            n_blocks, of_sums = -(-n_bytes // BLOCK), at + _HEAD.itemsize
            of_head = of_sums + 4 * n_blocks
            of_tail = of_head + start
            at = of_tail + n_bytes - stop
            if at > end:
                raise ValueError("it is too short")
            sums = np.frombuffer(data, "<u4", n_blocks, of_sums).astype(np.uint32)
            head, tail = data[of_head:of_tail], data[of_tail:at]
            files.append(FileSums(sums, n_bytes, head, tail))
    except NewerFormatError:
        raise
    except ValueError as error:
        raise ArtefactError(f"{path} is damaged: {error}; {REPAIR}") from error
    return files


# A bit that was flipped is found from the checksum alone. Sums of blocks of one length
# differ by a number that their differing bits alone decide, and no two single bits have
# the same. Any other damage has that of some bit by chance, with a probability of one
# in 8,000 for 64 KiB.

_POLYNOMIAL = 0x82F63B78  # Castagnoli's, its bits in reverse order


def _shifted(byte: int) -> int:
    for _ in range(8):
        byte = byte >> 1 ^ (_POLYNOMIAL if byte & 1 else 0)
    return byte


_TABLE = [_shifted(byte) for byte in range(256)]
_BY_TOP = {entry >> 24: byte for byte, entry in enumerate(_TABLE)}
_BITS = {_TABLE[1 << bit]: 1 << bit for bit in range(8)}


def flipped_bit(block: Any, expected: int) -> tuple[int, int] | None:
    """Return the byte and the mask of the bit whose flip gives the expected CRC-32C.

    None where more than a bit differs, or nothing.
    """
    difference = crc32c(block) ^ expected
    for at in range(len(block) - 1, -1, -1):
        if difference in _BITS:
            return at, _BITS[difference]
        # What it would be without the last byte.
        byte = _BY_TOP[difference >> 24]
        difference = (difference ^ _TABLE[byte]) << 8 & 0xFFFFFFFF | byte
    return None


def repair_seal(data: Any) -> bytes | None:
    """Return a sealed file, after one flipped bit is put back if need be.

    None where more is damaged.
    """
    mended = bytearray(data)
    if is_sealed(mended):
        return bytes(mended)
    crc, stated = crc32c(mended[:-4]), int.from_bytes(mended[-4:], "little")
    if (crc ^ stated).bit_count() == 1:  # of the checksum itself
        return seal(bytes(mended[:-4]))
    bit = flipped_bit(mended[:-4], stated)
    if bit is None:
        return None
    mended[bit[0]] ^= bit[1]
    return bytes(mended)


def repair_blocks(data: Any, entry: FileEntry, sums: FileSums | None) -> Any:
    """Return a file as it was written, where a manifest's entry proves all of it.

    Its frame is put back from the copy, and a flipped bit of a block by its sum, where
    these are known. None where more is damaged.
    """
    if len(data) > entry.n_bytes:
        data = data[: entry.n_bytes]
    if (len(data), sum_of_sums(block_sums(data))) == (entry.n_bytes, entry.crc):
        return data
    if sums is None or sums.entry() != entry or len(data) != entry.n_bytes:
        return None
    start, stop = sums.body
    mended = bytearray(sums.head + bytes(data[start:stop]) + sums.tail)
    for block in np.flatnonzero(block_sums(mended) != sums.sums).tolist():
        at = block * BLOCK
        bit = flipped_bit(mended[at : at + BLOCK], int(sums.sums[block]))
        if bit is None:
            return None
        mended[at + bit[0]] ^= bit[1]
    return bytes(mended)

"""The sums of a segment's files, and copies of what Arrow needs to find its columns."""

import contextlib
import json
from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from fewbits.errors import ArtefactError
from fewbits.store._blocks import BLOCK, Sums, crc32c
from fewbits.store._manifest import FileEntry

_MAGIC = b"fewbits sum 1\n\0\0"
_HEAD = np.dtype([("n_bytes", "<u8"), ("body", "<u8"), ("tail", "<u8")])


@dataclass(frozen=True)
class FileSums:
    """Sums of one Arrow file, and its frame.

    Parameters
    ----------
    sums : ndarray of uint32
        CRC-32C of each block.
    head, tail : bytes
        What stands before and behind the values: Arrow's schema, and where things are.
    n_bytes : int
    """

    sums: Sums
    head: bytes
    tail: bytes
    n_bytes: int

    @property
    def body(self) -> tuple[int, int]:
        """The bytes in which the values lie."""
        return len(self.head), self.n_bytes - len(self.tail)

    @property
    def entry(self) -> FileEntry:
        """Return what a manifest keeps of the file."""
        return FileEntry(self.n_bytes, crc32c(self.sums.astype("<u4").tobytes()))

    def to_bytes(self) -> bytes:
        start, stop = self.body
        head = np.array([(self.n_bytes, start, stop)], _HEAD)
        sums = self.sums.astype("<u4").tobytes()
        return head.tobytes() + sums + self.head + self.tail

    @classmethod
    def from_bytes(cls, data: memoryview) -> tuple[Self, memoryview]:
        """Return what a file is known by, and the bytes behind it."""
        head: Any = np.frombuffer(data, _HEAD, 1)[0]
        n_bytes, start, stop = (int(value) for value in head)
        if not start <= stop <= n_bytes < 1 << 62:
            raise ValueError("its numbers make no sense")
        n_blocks = -(-n_bytes // BLOCK)
        at = _HEAD.itemsize + 4 * n_blocks
        middle, end = at + start, at + start + n_bytes - stop
        if end > len(data):
            raise ValueError("it is too short")
        sums = np.frombuffer(data, "<u4", n_blocks, _HEAD.itemsize)
        copies = bytes(data[at:middle]), bytes(data[middle:end])
        return cls(sums.astype(np.uint32), *copies, n_bytes), data[end:]


def sums_bytes(files: list[FileSums], facts: dict[str, Any]) -> bytes:
    """Return the content of a file of sums.

    Parameters
    ----------
    files : list of FileSums
        Of rows and of vectors.
    facts : dict
        What a manifest says of the segment, for when there is none.
    """
    text = json.dumps(facts).encode()
    data = _MAGIC + len(text).to_bytes(8, "little") + text
    data += b"".join(file.to_bytes() for file in files)
    return data + crc32c(data).to_bytes(4, "little")


def parse_sums(data: Any, path: str) -> list[FileSums]:
    """Return what is known of the files of a segment, of rows and of vectors.

    Raises
    ------
    ArtefactError
        When it is damaged.
    """
    data = bytes(data)
    if crc32c(data[:-4]).to_bytes(4, "little") != data[-4:]:
        raise ArtefactError(f"{path} is damaged: its checksum does not match")
    files, _ = lenient_sums(data)
    if not files:
        raise ArtefactError(f"{path} is damaged: its numbers make no sense")
    return files


def lenient_sums(data: Any) -> tuple[list[FileSums], dict[str, Any]]:
    """Return what can be read of files and facts, although something is damaged."""
    data = memoryview(bytes(data))
    files: list[FileSums] = []
    facts: dict[str, Any] = {}
    start = len(_MAGIC) + 8
    with contextlib.suppress(ValueError, IndexError, RecursionError):
        if bytes(data[: len(_MAGIC)]) != _MAGIC:
            return [], {}
        end = start + int.from_bytes(data[len(_MAGIC) : start], "little")
        rest = data[end:-4] if end <= len(data) else data[:0]
        while len(rest):
            file, rest = FileSums.from_bytes(rest)
            files.append(file)
        found = json.loads(bytes(data[start:end]))
        facts = found if isinstance(found, dict) else {}
    return files, facts

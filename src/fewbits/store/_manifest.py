"""Manifests: what a collection consists of at one moment, in a sealed JSON file."""

import base64
import contextlib
import hashlib
import json
import re
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any, Self

from fewbits.errors import ArtefactError
from fewbits.store._disk import Disk
from fewbits.store._names import (
    deletes_name,
    has_segments,
    is_token,
    manifest_name,
    manifest_numbers,
    rows_name,
    sums_name,
    vectors_name,
)

FORMAT = 1
_SEAL = re.compile(rb'\{"sha256": "([0-9a-f]{64})",\n')
_LARGEST = 1 << 62  # of numbers in a manifest
_LONGEST = 1 << 28  # bytes of a manifest


@dataclass(frozen=True)
class FileEntry:
    """The length of a file, and the CRC-32C over the sums of its blocks."""

    n_bytes: int
    crc: int


@dataclass(frozen=True)
class SegmentEntry:
    """Facts of a manifest about a segment.

    Parameters
    ----------
    token : str
        Part of the names of its files.
    n_rows, n_live : int
        Rows, and those that are not deleted.
    first, last : int
        The smallest and the largest sequence number of its rows.
    rows, vectors : FileEntry
        Its files.
    id_range : (int, int) or None
        The smallest and the largest id, where ids are numbers.
    ids_rise : bool
        Whether ids rise with the rows, so that they need no index.
    deletes : int or None
        The number in the name of the file that says which rows are deleted.
    """

    token: str
    n_rows: int
    n_live: int
    first: int
    last: int
    rows: FileEntry
    vectors: FileEntry | None
    id_range: tuple[int, int] | None
    ids_rise: bool
    deletes: int | None = None

    @property
    def n_bytes(self) -> int:
        """Length of the files of rows and vectors."""
        return self.rows.n_bytes + (self.vectors.n_bytes if self.vectors else 0)

    def names(self) -> list[str]:
        """Return the names of the files that cannot be made again."""
        names = [rows_name(self.token), sums_name(self.token)]
        names += [vectors_name(self.token)] if self.vectors else []
        if self.deletes is not None:
            names.append(deletes_name(self.token, self.deletes))
        return names


@dataclass(frozen=True)
class Manifest:
    """A state of the collection.

    Parameters
    ----------
    number : int
        Counts commits.
    schema : pyarrow.Schema
        The rows as they are given: ids, codes, vectors, the user's columns.
    n_bits : int
    fingerprint : str
        Of the encoder that the codes are from.
    next_row, next_id : int
        The next sequence number, and the next id where none is given.
    segments : tuple of SegmentEntry
        By rising sequence numbers.
    """

    number: int
    schema: Any
    n_bits: int
    fingerprint: str
    next_row: int
    next_id: int
    segments: tuple[SegmentEntry, ...]

    @property
    def n_live(self) -> int:
        return sum(segment.n_live for segment in self.segments)

    def names(self) -> set[str]:
        """Return the names of the files that this state needs."""
        return {name for segment in self.segments for name in segment.names()}

    def following(self, segments: tuple[SegmentEntry, ...], **changes: Any) -> Self:
        """Return the next state."""
        return replace(self, number=self.number + 1, segments=segments, **changes)

    def to_bytes(self) -> bytes:
        """Return the content of a manifest file: JSON, sealed by its first line."""
        content = {
            "format": FORMAT,
            "number": self.number,
            "n_bits": self.n_bits,
            "bit_order": "msb",
            "fingerprint": self.fingerprint,
            "schema": base64.b64encode(self.schema.serialize()).decode(),
            "next_row": self.next_row,
            "next_id": self.next_id,
            "segments": self.segments,
        }
        body = "\n" + json.dumps(content, ensure_ascii=False, default=vars)[1:]
        return f'{{"sha256": "{_digest(body.encode())}",{body}'.encode()

    @classmethod
    def from_bytes(cls, data: Any, name: str) -> Self:
        """Return the state that a file holds.

        Raises
        ------
        ArtefactError
            When it is damaged, or was written by another version.
        """
        data = bytes(data[:_LONGEST])
        seal = _SEAL.match(data)
        if seal is None or seal[1].decode() != _digest(data[seal.end() - 1 :]):
            raise ArtefactError(f"{name} is damaged: its checksum does not match")
        try:
            content = json.loads(data)
            if content["format"] != FORMAT:
                raise ArtefactError(
                    f"{name} was written in format {content['format']}, this version "
                    f"reads format {FORMAT}: install a newer fewbits"
                )
            return cls(
                number=_count(content["number"]),
                schema=_schema(content["schema"]),
                n_bits=_count(content["n_bits"], 1),
                fingerprint=_text(content["fingerprint"]),
                next_row=_count(content["next_row"]),
                next_id=_count(content["next_id"], most=1 << 63),
                segments=_segments(content["segments"]),
            )
        except (LookupError, TypeError, AttributeError, RecursionError) as error:
            raise ArtefactError(f"{name} is damaged: {error}") from error
        except ValueError as error:
            if isinstance(error, ArtefactError):
                raise
            raise ArtefactError(f"{name} is damaged: {error}") from error


def read_manifest(disk: Disk, number: int) -> Manifest:
    """Return one state.

    Raises
    ------
    ArtefactError
        When its file is damaged.
    FileNotFoundError
        When there is none.
    """
    name = manifest_name(number)
    manifest = Manifest.from_bytes(disk.map(name), str(disk.folder / name))
    if manifest.number != number:
        raise ArtefactError(
            f"{disk.folder / name} is damaged: it is that of number {manifest.number}"
        )
    return manifest


def newest_number(disk: Disk) -> int:
    """Return the number of the newest manifest.

    Raises
    ------
    ArtefactError
        When there is none, or it is gone and its copy is there.
    """
    try:
        names = disk.names()
    except (FileNotFoundError, NotADirectoryError):
        names = []
    numbers = manifest_numbers(names)
    copies = manifest_numbers(names, "copy")
    if not numbers and not copies:
        raise no_collection(disk)
    if copies and copies[-1] > max(numbers, default=-1):
        raise ArtefactError(
            f"{disk.folder / manifest_name(copies[-1])} is missing; "
            "'fewbits verify --repair' makes it again"
        )
    return numbers[-1]


def no_collection(disk: Disk) -> ArtefactError:
    """Return the error of a folder without any manifest."""
    told = f"{disk.folder} holds no collection: it has no manifest"
    with contextlib.suppress(OSError):
        if has_segments(disk.names()):
            told = (
                f"{disk.folder} is damaged: all of its manifests are missing; "
                "'fewbits verify --repair' makes one of what segments say"
            )
    return ArtefactError(told)


def newest_manifest(disk: Disk) -> Manifest:
    """Return the newest state.

    Raises
    ------
    ArtefactError
        When there is none, or it is damaged: an older one never takes its place.
    """
    return needed_manifest(disk, newest_number(disk))


def needed_manifest(disk: Disk, number: int) -> Manifest:
    """Return a state that should be there; an error of damage names `repair`."""
    try:
        return read_manifest(disk, number)
    except ArtefactError as error:
        if "damaged" not in str(error):
            raise
        raise ArtefactError(
            f"{error}; 'fewbits verify --repair' goes back to what can still be read"
        ) from None


def _digest(body: bytes) -> str:
    return hashlib.sha256(body).hexdigest()


def _count(value: Any, least: int = 0, most: int = _LARGEST) -> int:
    if type(value) is not int or not least <= value <= most:
        raise ValueError(f"a number from {least} to {most} is needed, got {value!r}")
    return value


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise ValueError(f"a text is needed, got {value!r}")
    return value


def _schema(text: Any) -> Any:
    import pyarrow as pa

    try:
        return pa.ipc.read_schema(pa.py_buffer(base64.b64decode(_text(text))))
    except (pa.ArrowException, OSError) as error:
        raise ValueError(f"its schema cannot be read: {error}") from error


def _segments(entries: Any) -> tuple[SegmentEntry, ...]:
    segments = tuple(segment_entry(entry) for entry in entries)
    for before, after in pairwise(segments):
        if before.last >= after.first:
            raise ValueError("sequence numbers of its segments do not rise")
    if len({segment.token for segment in segments}) != len(segments):
        raise ValueError("it names a segment twice")
    return segments


def segment_entry(entry: Any) -> SegmentEntry:
    """Return what some JSON says of a segment, or raise ValueError."""
    if not is_token(entry["token"]):
        raise ValueError(f"it names a segment {entry['token']!r}")
    n_rows = _count(entry["n_rows"], 1)
    rows = _file(entry["rows"])
    first = _count(entry["first"])
    # Each row has at least a number of 8 bytes, an id and a code.
    if 9 * n_rows > rows.n_bytes:
        raise ValueError(f"{n_rows} rows do not fit in {rows.n_bytes} bytes")
    limits = entry["id_range"]
    deletes = entry["deletes"]
    return SegmentEntry(
        token=entry["token"],
        n_rows=n_rows,
        n_live=_count(entry["n_live"], 0, n_rows),
        first=first,
        last=_count(entry["last"], first + n_rows - 1),
        rows=rows,
        vectors=None if entry["vectors"] is None else _file(entry["vectors"]),
        id_range=None if limits is None else (_id(limits[0]), _id(limits[1])),
        ids_rise=bool(entry["ids_rise"]),
        deletes=None if deletes is None else _count(deletes),
    )


def _id(value: Any) -> int:
    return _count(value, 0, (1 << 63) - 1)


def _file(entry: Any) -> FileEntry:
    return FileEntry(_count(entry["n_bytes"]), _count(entry["crc"], 0, (1 << 32) - 1))

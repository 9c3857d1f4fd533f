"""Manifests: what a collection consists of at one moment, in a sealed JSON file.

Here are also the names of files, the commit protocol (`publish`), and the removal of
what no state needs any more (`collect`).
"""

import base64
import contextlib
import hashlib
import json
import re
import secrets
import time
from collections.abc import Iterable, Set
from dataclasses import dataclass, field, fields, replace
from itertools import pairwise
from pathlib import Path
from typing import Any, Self

from fewbits._formats import check_changeable, check_readable
from fewbits.errors import ArtefactError, NewerFormatError
from fewbits.store._disk import Disk, write_file
from fewbits.store._lock import FileLock
from fewbits.store._schema import RESERVED

FORMAT = 2
IMPLICIT, INLINE, UPDATES = "implicit-rows", "inline", "updates"
TAGS = "tags"
#: What its lists of features may name, see FORMAT.md, and what that means.
FEATURES = {
    IMPLICIT: "rows of a segment without `_row` count on from its first: for readers",
    INLINE: "checksums or deletes of a segment stand in the manifest: for readers",
    UPDATES: "values of some rows stand in files of their own: for readers",
    TAGS: "states stay while they have a name: for writers, who remove files",
}
#: Bytes of a file that have a checksum.
BLOCK = 1 << 16
#: Manifests that stay, for `repair` and for people.
KEPT = 3
#: What reading raises where a file has a checksum that fits, but other values.
NOT_AS_WRITTEN = (LookupError, TypeError, ValueError, AttributeError, RecursionError)
#: How messages about damage end.
REPAIR = "'fewbits verify --repair' mends what it can and says what is lost"

_SEAL = re.compile(rb'\{"sha256": "([0-9a-f]{64})",\n')
_LARGEST = 1 << 62  # of numbers in a manifest
_CRC = (1 << 32) - 1  # the largest
_LONGEST = 1 << 28  # bytes of a manifest

# Names of files. None is used twice, but for those of derived files.

LOCK, HOLDER = "LOCK", "LOCK.holder"
_TOKEN = r"[0-9a-f]{16}"
_MANIFEST = re.compile(r"(?:manifest|copy)-(\d{6}|[1-9]\d{6,17})\.json")
_OWN = re.compile(
    rf"(seg|vec)-{_TOKEN}\.arrow|(sum|ids|mih)-{_TOKEN}\.bin|del-{_TOKEN}-\d{{1,18}}\.bin"
    rf"|upd-{_TOKEN}-{_TOKEN}\.arrow|draft-{_TOKEN}\.tmp|(manifest|copy)-\d{{6,18}}\.json"
)
#: What the files of each prefix are; all others are manifests, or of nothing yet.
_KINDS = {
    "seg": "rows",
    "upd": "rows",
    "vec": "vectors",
    "sum": "checksums",
    "ids": "derived",
    "mih": "tables",
    "del": "deleted",
}
KINDS = (*dict.fromkeys(_KINDS.values()), "manifests")


def kind_of(name: str) -> str:
    return _KINDS.get(name.partition("-")[0], "manifests")


def new_token() -> str:
    return secrets.token_hex(8)


def is_own(name: str) -> bool:
    """Return whether a file is one that may be collected when no manifest names it."""
    return _OWN.fullmatch(name) is not None


def draft_name() -> str:
    return f"draft-{new_token()}.tmp"


def manifest_name(number: int, kind: str = "manifest") -> str:
    """Return the name of a manifest, or of the ``"copy"`` of it."""
    return f"{kind}-{number:06d}.json"


def manifest_numbers(names: Iterable[str], kind: str = "manifest") -> list[int]:
    """Return the numbers of the manifests (or copies) among files, rising."""
    some = [name for name in names if name.startswith(kind)]
    matches = [match for name in some if (match := _MANIFEST.fullmatch(name))]
    return sorted(int(match[1]) for match in matches)


def has_segments(names: list[str]) -> bool:
    return any(is_own(name) and name.startswith(("seg-", "sum-")) for name in names)


@dataclass(frozen=True)
class FileEntry:
    """The length of a file, and the CRC-32C over the sums of its blocks.

    The `sums` of a small file stand beside.
    """

    n_bytes: int
    crc: int
    sums: tuple[int, ...] = field(default=(), compare=False)
    unknown: dict[str, Any] = field(default_factory=dict, compare=False)


@dataclass(frozen=True)
class UpdateEntry:
    """Facts of a manifest about a file of new values of some rows of a segment."""

    token: str
    n_rows: int
    columns: tuple[str, ...]
    file: FileEntry
    unknown: dict[str, Any] = field(default_factory=dict, compare=False)


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
        Its smallest and its largest row.
    rows, vectors : FileEntry
        Its files.
    id_range : (int, int) or None
        The smallest and the largest id, where ids are numbers.
    ids_rise : bool
        Whether ids rise with the rows, so that they need no index.
    deletes : int or None
        The number in the name of the file that says which rows are deleted.
    has_rows : bool
        Whether its file has the column `_row`: none is written where rows count on from
        the first.
    deleted : tuple of int
        Positions that are deleted beside those of that file, rising.
    updates : tuple of UpdateEntry
        Files of values that were changed, the last of which holds.
    absent : tuple of str
        Columns that its file lacks, as they came later: null but for its updates.
    unknown : dict
        What a newer fewbits has added, which stays as it is.
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
    has_rows: bool = True
    deleted: tuple[int, ...] = ()
    updates: tuple[UpdateEntry, ...] = ()
    absent: tuple[str, ...] = ()
    unknown: dict[str, Any] = field(default_factory=dict, compare=False)

    @property
    def has_deletes(self) -> bool:
        return self.n_live < self.n_rows

    @property
    def has_sums(self) -> bool:
        """Whether its files have their sums in a file, not in the manifest."""
        return not self.rows.sums

    @property
    def n_updated(self) -> int:
        """Rows in files of changed values; one that changed again may count twice."""
        return sum(update.n_rows for update in self.updates)

    @property
    def is_dense(self) -> bool:
        """True where the numbers of the rows count on from the first."""
        return self.last - self.first + 1 == self.n_rows

    @property
    def n_bytes(self) -> int:
        """Length of the files of rows and vectors."""
        return sum(file.n_bytes for file in self.arrow_files.values())

    @property
    def arrow_files(self) -> dict[str, FileEntry]:
        """Files of rows, ``"seg"``, and perhaps of vectors, ``"vec"``."""
        files = {"seg": self.rows}
        return files if self.vectors is None else {**files, "vec": self.vectors}

    def name(self, kind: str) -> str:
        """Return the name of its file of a kind: seg, vec, sum, del, ids or mih."""
        if kind == "del":
            return f"del-{self.token}-{self.deletes}.bin"
        return f"{kind}-{self.token}.{'arrow' if kind in ('seg', 'vec') else 'bin'}"

    def names(self) -> list[str]:
        """Return the names of the files that cannot be made again."""
        names = [self.name(kind) for kind in self.arrow_files]
        names += [self.name("sum")] * self.has_sums
        names += [self.name("del")] * (self.deletes is not None)
        return names + [self.update_name(update) for update in self.updates]

    def update_name(self, update: UpdateEntry) -> str:
        return f"upd-{self.token}-{update.token}.arrow"


@dataclass(frozen=True)
class Manifest:
    """A state of the collection.

    Parameters
    ----------
    number : int
        Counts commits.
    schema : pyarrow.Schema
        Of all columns but `_row`: ids, codes, perhaps corrections (`_correction`) and
        vectors, the user's columns.
    n_bits : int
    fingerprint : str
        Of the encoder that the codes are from.
    next_row, next_id : int
        The next row, and the next id where none is given.
    segments : tuple of SegmentEntry
        By rising rows.
    tags : dict of str to int
        Names of states that stay, with their numbers.
    tag_times : dict of str to (int, int)
        For names the number, and when it got the name, in seconds since 1970.
    writer_features : tuple of str
        What a program that changes the rows must know.
    unknown : dict
        What a newer fewbits has added, which stays as it is.
    """

    number: int
    schema: Any
    n_bits: int
    fingerprint: str
    next_row: int
    next_id: int
    segments: tuple[SegmentEntry, ...]
    tags: dict[str, int] = field(default_factory=dict)
    tag_times: dict[str, tuple[int, int]] = field(default_factory=dict)
    writer_features: tuple[str, ...] = ()
    unknown: dict[str, Any] = field(default_factory=dict, compare=False)

    @property
    def n_live(self) -> int:
        return sum(segment.n_live for segment in self.segments)

    def names(self) -> set[str]:
        """Return the names of the files that this state needs."""
        return {name for segment in self.segments for name in segment.names()}

    @property
    def reader_features(self) -> tuple[str, ...]:
        """What a program that reads the rows must know."""
        features = {
            IMPLICIT: not all(x.has_rows for x in self.segments),
            INLINE: any(x.deleted or not x.has_sums for x in self.segments),
            UPDATES: any(x.updates or x.absent for x in self.segments),
        }
        return tuple(name for name, is_needed in features.items() if is_needed)

    def following(self, segments: tuple[SegmentEntry, ...], **changes: Any) -> Self:
        """Return the next state."""
        return replace(self, number=self.number + 1, segments=segments, **changes)

    def check_changeable(self, folder: Path) -> None:
        """Raise NewerFormatError where only a newer fewbits may change the rows."""
        check_changeable(folder, self.writer_features, FEATURES)

    def tagged(self, tags: dict[str, int]) -> Self:
        """Return this state with other names of states, which writers must know."""
        features = {*self.writer_features} - {TAGS} | ({TAGS} if tags else set())
        now, times = int(time.time()), self.tag_times
        new = {x: (n, now) for x, n in tags.items() if self.tags.get(x) != n}
        return replace(
            self,
            tags=tags,
            tag_times={x: y for x, y in {**times, **new}.items() if x in tags},
            writer_features=tuple(sorted(features)),
        )

    def to_bytes(self) -> bytes:
        """Return the content of a manifest file: JSON, sealed by its first line."""
        content = {
            **self.unknown,
            "format": FORMAT,
            "reader_features": self.reader_features,
            "writer_features": self.writer_features,
            "number": self.number,
            "n_bits": self.n_bits,
            "bit_order": "msb",
            "fingerprint": self.fingerprint,
            "schema": base64.b64encode(self.schema.serialize()).decode(),
            "next_row": self.next_row,
            "next_id": self.next_id,
            "segments": self.segments,
        }
        if self.tags:
            content |= {"tags": self.tags, "tag_times": self.tag_times}
        text = json.dumps(content, ensure_ascii=False, default=plain_entry)
        body = f"\n{text[1:]}".encode()
        return b'{"sha256": "%s",' % hashlib.sha256(body).hexdigest().encode() + body

    @classmethod
    def from_bytes(cls, data: bytes, path: str) -> Self:
        """Return the state that a file holds.

        Raises ArtefactError where it is damaged, NewerFormatError where it needs a
        newer fewbits.
        """
        import pyarrow as pa

        seal = _SEAL.match(data)
        body = data[seal.end() - 1 :] if seal else b""
        if seal is None or seal[1].decode() != hashlib.sha256(body).hexdigest():
            raise ArtefactError(
                f"{path} is damaged: its checksum does not match; {REPAIR}"
            )
        try:
            content = json.loads(data)
            check_readable(path, content, FORMAT, FEATURES)
            number, tags = _count(content["number"]), content.get("tags", {})
            schema = pa.py_buffer(base64.b64decode(_text(content["schema"])))
            segments = tuple(map(_segment, content["segments"]))
            if any(one.last >= after.first for one, after in pairwise(segments)):
                raise ValueError("the rows of its segments do not rise")
            if len({segment.token for segment in segments}) != len(segments):
                raise ValueError("it names a segment twice")
            schema = pa.ipc.read_schema(schema)
            for segment in segments:
                for names in (segment.absent, *(x.columns for x in segment.updates)):
                    if not {*schema.names}.difference(RESERVED).issuperset(names):
                        raise ValueError(f"its schema lacks one of {names}")
            return cls(
                number=number,
                schema=schema,
                n_bits=_count(content["n_bits"], 1),
                fingerprint=_text(content["fingerprint"]),
                next_row=_count(content["next_row"]),
                next_id=_count(content["next_id"], most=1 << 63),
                segments=segments,
                tags={_text(x): _count(n, most=number) for x, n in tags.items()},
                tag_times={  # others may have changed tags without it
                    name: (n, at)
                    for name, (n, at) in content.get("tag_times", {}).items()
                    if tags.get(name) == _count(n) and _count(at) >= 0
                },
                writer_features=tuple(content.get("writer_features", ())),
                unknown=_unknown(content, _FIELDS),
            )
        except NewerFormatError:
            raise
        except (*NOT_AS_WRITTEN, pa.ArrowException) as error:
            raise ArtefactError(f"{path} is damaged: {error}; {REPAIR}") from error


#: The fields that this version knows, of a manifest, a segment and a file.
_FIELDS = {each.name for each in fields(Manifest)} - {"unknown"} | {
    "sha256",
    "format",
    "reader_features",
    "bit_order",
}
_OF_SEGMENT = {each.name for each in fields(SegmentEntry)} - {"unknown"}
_OF_UPDATE = {each.name for each in fields(UpdateEntry)} - {"unknown"}
_OF_FILE = {each.name for each in fields(FileEntry)} - {"unknown"}


def plain_entry(entry: SegmentEntry | UpdateEntry | FileEntry) -> dict[str, Any]:
    """Return what JSON says of a segment or a file."""
    values = {name: value for name, value in vars(entry).items() if value != ()}
    return {**values.pop("unknown"), **values}


def _unknown(content: dict[str, Any], known: set[str]) -> dict[str, Any]:
    return {name: value for name, value in content.items() if name not in known}


def _count(value: Any, least: int = 0, most: int = _LARGEST) -> int:
    if type(value) is not int or not least <= value <= most:
        raise ValueError(f"a number from {least} to {most} is needed, got {value!r}")
    return value


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise ValueError(f"a text is needed, got {value!r}")
    return value


def _segment(entry: Any) -> SegmentEntry:
    if not re.fullmatch(_TOKEN, _text(entry["token"])):
        raise ValueError(f"it names a segment {entry['token']!r}")
    n_rows, rows = _count(entry["n_rows"], 1), _file(entry["rows"])
    # Each row has at least an id of 8 bytes, or its end, and a code.
    if 9 * n_rows > rows.n_bytes:
        raise ValueError(f"{n_rows} rows do not fit in {rows.n_bytes} bytes")
    first = _count(entry["first"])
    last = _count(entry["last"], first + n_rows - 1)
    has_rows = bool(entry.get("has_rows", True))
    if not has_rows and last != first + n_rows - 1:
        raise ValueError("it does not say which rows a segment has")
    id_range, vectors, deletes = entry["id_range"], entry["vectors"], entry["deletes"]
    if id_range is not None:
        id_range = tuple(_count(id_range[i], 0, (1 << 63) - 1) for i in (0, 1))
    vectors = None if vectors is None else _file(vectors)
    if vectors is not None and bool(vectors.sums) != bool(rows.sums):
        raise ValueError("it has the checksums of one file of two")
    n_live = _count(entry["n_live"], 0, n_rows)
    deleted = tuple(_count(x, 0, n_rows - 1) for x in entry.get("deleted", ()))
    if any(one >= after for one, after in pairwise(deleted)):
        raise ValueError("the positions of deleted rows do not rise")
    if n_rows - n_live < len(deleted) or (
        deletes is None and n_rows - n_live != len(deleted)
    ):
        raise ValueError("it does not say which rows are deleted")
    return SegmentEntry(
        token=entry["token"],
        n_rows=n_rows,
        n_live=n_live,
        first=first,
        last=last,
        rows=rows,
        vectors=vectors,
        id_range=id_range,
        ids_rise=bool(entry["ids_rise"]),
        deletes=None if deletes is None else _count(deletes),
        has_rows=has_rows,
        deleted=deleted,
        updates=tuple(_update(each, n_rows) for each in entry.get("updates", ())),
        absent=tuple(map(_text, entry.get("absent", ()))),
        unknown=_unknown(entry, _OF_SEGMENT),
    )


def _update(entry: Any, n_rows: int) -> UpdateEntry:
    if not re.fullmatch(_TOKEN, _text(entry["token"])):
        raise ValueError(f"it names an update {entry['token']!r}")
    return UpdateEntry(
        token=entry["token"],
        n_rows=_count(entry["n_rows"], 1, n_rows),
        columns=tuple(map(_text, entry["columns"])),
        file=_file(entry["file"]),
        unknown=_unknown(entry, _OF_UPDATE),
    )


def _file(entry: Any) -> FileEntry:
    n_bytes, crc = _count(entry["n_bytes"]), _count(entry["crc"], most=_CRC)
    sums = tuple(_count(x, most=_CRC) for x in entry.get("sums", ()))
    if sums and len(sums) != -(-n_bytes // BLOCK):
        raise ValueError(f"it has {len(sums)} sums of {n_bytes} bytes")
    return FileEntry(n_bytes, crc, sums, _unknown(entry, _OF_FILE))


def newest_number(disk: Disk) -> int:
    """Return the number of the newest manifest.

    Raises ArtefactError where there is none, or it is gone and its copy is there.
    """
    try:
        names = disk.names()
    except (FileNotFoundError, NotADirectoryError):
        names = []
    numbers, copies = manifest_numbers(names), manifest_numbers(names, "copy")
    if copies and copies[-1] > max(numbers, default=-1):
        missing = disk.folder / manifest_name(copies[-1])
        raise ArtefactError(f"{missing} is missing; {REPAIR}")
    if numbers:
        return numbers[-1]
    if has_segments(names):
        raise ArtefactError(
            f"{disk.folder} is damaged: all of its manifests are missing; {REPAIR}"
        )
    raise ArtefactError(f"{disk.folder} holds no collection: it has no manifest")


_LAST: dict[tuple[str, bytes], Manifest] = {}  # the last that were read or written


def read_manifest(disk: Disk, number: int, kind: str = "manifest") -> Manifest:
    """Return one state, from its manifest or the ``"copy"`` of it.

    Raises ArtefactError where its file is damaged, FileNotFoundError where it is gone.
    """
    name = manifest_name(number, kind)
    path, data = str(disk.folder / name), disk.read(name, _LONGEST)
    # Read once, as each change asks for the same few several times.
    manifest = _LAST.get((path, data))
    if manifest is None:
        manifest = Manifest.from_bytes(data, path)
        if manifest.number != number:
            raise ArtefactError(
                f"{path} is damaged: it is that of number {manifest.number}; {REPAIR}"
            )
        _remember(path, data, manifest)
    return manifest


def _remember(path: str, data: bytes, manifest: Manifest) -> None:
    for key in list(_LAST)[:-7]:
        _LAST.pop(key, None)
    _LAST[path, data] = manifest


def newest_manifest(disk: Disk) -> Manifest:
    """Return the newest state.

    Raises ArtefactError where there is none, or it is damaged or of another collection:
    an older one never takes its place.
    """
    manifest = read_manifest(disk, newest_number(disk))
    check_ours(disk, manifest)
    return manifest


def check_ours(disk: Disk, newest: Manifest) -> None:
    """Refuse a state that names no file that is there, where all of an older one are.

    Its manifest was copied here from elsewhere, or all that its commit wrote is gone.
    """
    with contextlib.suppress(OSError):
        if not newest.segments or disk.size(newest.segments[0].name("seg")) >= 0:
            return
    names = {*disk.names()}
    numbers = manifest_numbers(names)
    if newest.names() & names or numbers[-1:] > [newest.number]:  # of others meanwhile
        return
    for number in reversed(numbers):
        older = None
        with contextlib.suppress(ArtefactError, NewerFormatError, OSError):
            older = read_manifest(disk, number)
        if older and number < newest.number and names >= older.names() != set():
            raise ArtefactError(
                f"{disk.folder / manifest_name(newest.number)} names no file that is "
                f"there, while all of {manifest_name(number)} are: move it away if it "
                f"is of another collection; {REPAIR}"
            )


def publish(disk: Disk, manifest: Manifest) -> None:
    """Make a state the newest one. Its files are on the disk, their names need not be.

    The copy is for `repair` alone. It is written after the manifest is on the disk, so
    that a copy without its manifest means that the manifest got lost.
    """
    manifest.check_changeable(disk.folder)
    data = manifest.to_bytes()
    disk.sync_folder()
    name = manifest_name(manifest.number)
    draft = draft_name()
    write_file(disk, draft, data)
    disk.publish(draft, name)
    disk.sync_folder()
    _remember(str(disk.folder / name), data, manifest)
    with contextlib.suppress(OSError):
        write_file(disk, manifest_name(manifest.number, "copy"), data, sync=False)


def copy_state(folder: Path, manifest: Manifest, disk: Disk) -> None:
    """Make a new folder with one state of another, which is held meanwhile.

    Files are links where possible: they never change.
    """
    disk.make_folder()
    disk.sync_parent()
    for name in sorted(manifest.names()):
        disk.take(folder, name)
    for segment in manifest.segments:
        for kind in ("ids", "mih"):
            with contextlib.suppress(OSError):
                disk.take(folder, segment.name(kind))
    tags = {name: n for name, n in manifest.tags.items() if n == manifest.number}
    publish(disk, manifest.tagged(tags))


def collect(
    disk: Disk,
    newest: Manifest,
    new: Set[str] = frozenset(),
    *,
    is_durable: bool = False,
) -> None:
    """Remove the files that neither the newest state, a held nor a tagged one names.

    Those that are `new`, for a state to come, stay. All do while one that the newest
    state names is missing.

    The caller holds the lock of the store. A file that cannot be removed stays until
    the next time: Windows keeps what is mapped.

    Unless the name of the newest state is known to be on the disk (`is_durable`), that
    is made sure of first: a process may have been killed before it did, and then the
    state before must not go first.
    """
    names = disk.names()
    numbers = manifest_numbers(names)
    if numbers[-1] > newest.number or not newest.names() <= {*names}:
        return
    older = numbers[:-1]
    locks: dict[int, FileLock] = {}  # of states that no reader holds
    try:
        for number in older:
            with contextlib.suppress(OSError):
                lock = disk.lock(manifest_name(number), shared=False)
                if lock is not None:
                    locks[number] = lock
        tagged = {*newest.tags.values()} - {newest.number}
        held = ({*older} - {*locks}) | tagged
        kept = _needed(disk, newest, held) | new
        stay = {newest.number, *held, *older[len(older) - KEPT + 1 :]}
        kept |= {manifest_name(n, kind) for n in stay for kind in ("manifest", "copy")}
        gone = [name for name in names if is_own(name) and name not in kept]
        if gone and not is_durable:
            disk.sync_folder()
        for name in gone:
            with contextlib.suppress(OSError):
                disk.remove(name)
    finally:
        for lock in locks.values():
            lock.release()


def _needed(disk: Disk, newest: Manifest, held: set[int]) -> set[str]:
    states = [newest]
    for number in held:
        try:
            states.append(read_manifest(disk, number))
        except NewerFormatError:  # what it needs is not known
            return {*disk.names()}
        except (ArtefactError, OSError):
            # Nobody can read it. What a tag keeps stays until it is put back.
            if number in newest.tags.values():
                return {*disk.names()}
    segments = [segment for state in states for segment in state.segments]
    kept = {name for segment in segments for name in segment.names()}
    return kept | {name for s in segments for name in (s.name("ids"), s.name("mih"))}

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
from collections.abc import Callable, Iterable, Set
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import Any, Self, TypeAlias

from fewbits._formats import check_changeable, check_readable
from fewbits.errors import ArtefactError, NewerFormatError
from fewbits.store._disk import Disk, write_file
from fewbits.store._lock import FileLock
from fewbits.store._schema import RESERVED

FORMAT = 2
IMPLICIT, INLINE, UPDATES = "implicit-rows", "inline", "updates"
DROPPED = "dropped"
TAGS = "tags"
#: What its lists of features may name, see FORMAT.md, and what that means.
FEATURES = {
    IMPLICIT: "rows of a segment without `_row` count on from its first: for readers",
    INLINE: "checksums or deletes of a segment stand in the manifest: for readers",
    UPDATES: "values of some rows stand in files of their own: for readers",
    DROPPED: "files have columns that were dropped: for readers",
    TAGS: "states stay while they have a name: for writers, who remove files",
}
#: Bytes of a file that have a checksum.
BLOCK = 1 << 16
#: Manifests that stay, for `repair` and for people.
KEPT = 3
#: What reading raises where a file has a checksum that fits, but other values.
MALFORMED = (LookupError, TypeError, ValueError, AttributeError, RecursionError)
#: How messages about damage end.
REPAIR = "'fewbits verify --repair' mends what it can and says what is lost"

_SEAL = re.compile(rb'\{"sha256": "([0-9a-f]{64})",\n')
_LONGEST = 1 << 28  # bytes of a manifest

# Names of files. None is used twice, but for those of derived files.

LOCK = "LOCK"
_TOKEN = r"[0-9a-f]{16}"
_MANIFEST = re.compile(r"(?:manifest|copy)-(\d{6}|[1-9]\d{6,17})\.json")
_OWN = re.compile(
    rf"(seg|vec)-{_TOKEN}\.arrow|(sum|ids|mih)-{_TOKEN}\.bin|del-{_TOKEN}-\d{{1,18}}\.bin"
    rf"|upd-{_TOKEN}\.arrow|draft-{_TOKEN}\.tmp|(manifest|copy)-\d{{6,18}}\.json"
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
    names = [name for name in names if name.startswith(kind)]
    matches = [match for name in names if (match := _MANIFEST.fullmatch(name))]
    return sorted(int(match[1]) for match in matches)


def has_segments(names: list[str]) -> bool:
    return any(is_own(name) and name.startswith(("seg-", "sum-")) for name in names)


@dataclass(frozen=True)
class FileEntry:
    """Facts of a manifest about a file."""

    n_bytes: int
    crc: int  # CRC-32C over the sums of its blocks
    sums: tuple[int, ...] = field(default=(), compare=False)  # if it is small
    unknown: dict[str, Any] = field(default_factory=dict, compare=False)


@dataclass(frozen=True)
class UpdateEntry:
    """Facts of a manifest about a file of new values of some rows of a segment."""

    token: str  # its own, part of the name of its file
    n_rows: int
    columns: tuple[str, ...]
    file: FileEntry
    schema: str = ""  # of the file, as of a segment
    unknown: dict[str, Any] = field(default_factory=dict, compare=False)

    @property
    def name(self) -> str:
        return f"upd-{self.token}.arrow"


@dataclass(frozen=True)
class SegmentEntry:
    """Facts of a manifest about a segment."""

    token: str  # part of the names of its files
    n_rows: int
    n_live: int  # rows that are not deleted
    first: int  # its smallest row
    last: int
    rows: FileEntry
    vectors: FileEntry | None
    id_range: tuple[int, int] | None  # the smallest and largest, where they are numbers
    ids_rise: bool  # with the rows, so that they need no index
    deletes: int | None = None  # the number of the file that says which are deleted
    has_rows: bool = True  # a column `_row`, not needed where they count on from first
    deleted: tuple[int, ...] = ()  # positions beside those of that file, rising
    updates: tuple[UpdateEntry, ...] = ()  # of which the last holds
    absent: tuple[str, ...] = ()  # columns that came later: null but for updates
    schema: str = ""  # base64 of what its files have, where columns were dropped since
    unknown: dict[str, Any] = field(default_factory=dict, compare=False)

    @property
    def has_sums(self) -> bool:
        """Whether its files have their sums in a file, not in the manifest."""
        return not self.rows.sums

    @property
    def is_dense(self) -> bool:
        """True where the numbers of the rows count on from the first."""
        return self.last - self.first + 1 == self.n_rows

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
        return names + [update.name for update in self.updates]


@dataclass(frozen=True)
class Manifest:
    """A state of the collection.

    What a newer fewbits has added to it, or its parts, stays as it is in `unknown`.
    """

    number: int  # counts commits
    schema: Any  # of all columns but `_row`
    n_bits: int
    fingerprint: str  # of the encoder that the codes are from
    next_row: int
    next_id: int  # where none is given
    segments: tuple[SegmentEntry, ...]  # by rising rows
    tags: dict[str, int] = field(default_factory=dict)  # names of states that stay
    tag_times: dict[str, tuple[int, int]] = field(default_factory=dict)
    writer_features: tuple[str, ...] = ()  # which one that changes the rows must know
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
            DROPPED: any(
                x.schema or any(y.schema for y in x.updates) for x in self.segments
            ),
        }
        return tuple(name for name, is_needed in features.items() if is_needed)

    def without(self, names: Set[str]) -> Self:
        """Return this state without some of the user's columns, which files keep."""
        segments = []
        for entry in self.segments:
            updates = []
            for update in entry.updates:
                columns = tuple(x for x in update.columns if x not in names)
                if columns and columns != update.columns:
                    schema = encoded_schema(self.update_schema(update))
                    update = replace(update, columns=columns, schema=schema)
                updates += [update] if columns else []
            absent = tuple(x for x in entry.absent if x not in names)
            stored = self.stored_schema(entry)
            if not names.isdisjoint(stored.names):
                entry = replace(entry, schema=encoded_schema(stored))
            segments.append(replace(entry, updates=tuple(updates), absent=absent))
        schema = _without(self.schema, names)
        return replace(self, schema=schema, segments=tuple(segments))

    def stored_schema(self, entry: SegmentEntry) -> Any:
        """Return the columns that the files of a segment have, but `_row`."""
        if entry.schema:
            return _decoded_schema(entry.schema)
        return _without(self.schema, {*entry.absent})

    def update_schema(self, update: UpdateEntry) -> Any:
        """Return the columns that a file of changed values has, but `_position`."""
        import pyarrow as pa

        if update.schema:
            return _decoded_schema(update.schema)
        return pa.schema([self.schema.field(name) for name in update.columns])

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
            "schema": encoded_schema(self.schema),
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
            for name in ("sha256", "format", "reader_features", "bit_order"):
                content.pop(name, None)
            manifest: Self = _parsed(cls, _FIELDS, content)
            _check_manifest(manifest)
            # An older fewbits moves a name and leaves its time as it is.
            tags, times = manifest.tags, manifest.tag_times
            times = {x: at for x, at in times.items() if tags.get(x) == at[0]}
            manifest = replace(manifest, tag_times=times)
        except NewerFormatError:
            raise
        except (*MALFORMED, pa.ArrowException) as error:
            raise ArtefactError(f"{path} is damaged: {error}; {REPAIR}") from error
        return manifest


def plain_entry(entry: SegmentEntry | UpdateEntry | FileEntry) -> dict[str, Any]:
    """Return what JSON says of a segment or a file."""
    values = {x: value for x, value in vars(entry).items() if value not in ((), "")}
    return {**values.pop("unknown"), **values}


_Parsers: TypeAlias = dict[str, Callable[[Any], Any]]


def _parsed(kind: Any, parsers: _Parsers, content: Any) -> Any:
    """Return an object of a kind from its fields in JSON; what is not known stays."""
    values = {x: parse(content[x]) for x, parse in parsers.items() if x in content}
    unknown = {x: value for x, value in content.items() if x not in parsers}
    return kind(**values, unknown=unknown)


def _tuple_of(parse: Callable[[Any], Any]) -> Callable[[Any], Any]:
    return lambda values: tuple(map(parse, values))


def _or_none(parse: Callable[[Any], Any]) -> Callable[[Any], Any]:
    return lambda value: None if value is None else parse(value)


def _count(value: Any, most: int = 1 << 62) -> int:
    if type(value) is not int or not 0 <= value <= most:
        raise ValueError(f"a number from 0 to {most} is needed, got {value!r}")
    return value


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise ValueError(f"a text is needed, got {value!r}")
    return value


def _token(value: Any) -> str:
    if not re.fullmatch(_TOKEN, _text(value)):
        raise ValueError(f"it names a file {value!r}")
    return str(value)


def encoded_schema(schema: Any) -> str:
    return base64.b64encode(schema.serialize()).decode()


def _decoded_schema(value: Any) -> Any:
    import pyarrow as pa

    return pa.ipc.read_schema(pa.py_buffer(base64.b64decode(_text(value))))


def _without(schema: Any, names: Set[str]) -> Any:
    """Return a schema without some of its columns."""
    import pyarrow as pa

    return pa.schema([x for x in schema if x.name not in names], schema.metadata)


_crc = partial(_count, most=(1 << 32) - 1)
_FILE: _Parsers = {"n_bytes": _count, "crc": _crc, "sums": _tuple_of(_crc)}
_file = partial(_parsed, FileEntry, _FILE)
_UPDATE: _Parsers = {
    "token": _token,
    "n_rows": _count,
    "columns": _tuple_of(_text),
    "file": _file,
    "schema": _text,
}
_SEGMENT: _Parsers = {
    "token": _token,
    "n_rows": _count,
    "n_live": _count,
    "first": _count,
    "last": _count,
    "rows": _file,
    "vectors": _or_none(_file),
    "id_range": _or_none(_tuple_of(partial(_count, most=(1 << 63) - 1))),
    "ids_rise": bool,
    "deletes": _or_none(_count),
    "has_rows": bool,
    "deleted": _tuple_of(_count),
    "updates": _tuple_of(partial(_parsed, UpdateEntry, _UPDATE)),
    "absent": _tuple_of(_text),
    "schema": _text,
}
_FIELDS: _Parsers = {
    "number": _count,
    "schema": _decoded_schema,
    "n_bits": _count,
    "fingerprint": _text,
    "next_row": _count,
    "next_id": partial(_count, most=1 << 63),
    "segments": _tuple_of(partial(_parsed, SegmentEntry, _SEGMENT)),
    "tags": lambda tags: {_text(x): _count(n) for x, n in tags.items()},
    "tag_times": lambda times: {
        x: (_count(n), _count(t)) for x, (n, t) in times.items()
    },
    "writer_features": tuple,
}


def _check_manifest(manifest: Manifest) -> None:
    """Raise ValueError where facts contradict each other."""
    segments, tags = manifest.segments, manifest.tags
    columns = {*manifest.schema.names}.difference(RESERVED)
    is_right = {
        "bits": manifest.n_bits > 0,
        "tags": all(number <= manifest.number for number in tags.values()),
        "rows": all(before.last < after.first for before, after in pairwise(segments)),
        "segments": len({x.token for x in segments}) == len(segments),
    }
    for x in segments:
        n_deleted, arrow_files = x.n_rows - x.n_live, [*x.arrow_files.values()]
        n_in_file = n_deleted - len(x.deleted)
        files = [*arrow_files, *(update.file for update in x.updates)]
        names = {*x.absent, *(name for update in x.updates for name in update.columns)}
        live = [name for name in manifest.schema.names if name not in x.absent]
        files_have = [(x.schema, live), *((y.schema, y.columns) for y in x.updates)]
        positions = [-1, *x.deleted, x.n_rows]
        is_right |= {
            # Each row has at least an id of 8 bytes, or its end, and a code.
            f"rows of {x.token}": 0 < x.n_rows <= x.rows.n_bytes // 9,
            f"row numbers of {x.token}": x.is_dense
            or (x.has_rows and x.last - x.first >= x.n_rows),
            f"deletes of {x.token}": n_deleted >= 0
            and (n_in_file > 0 if x.deletes is not None else n_in_file == 0)
            and all(before < after for before, after in pairwise(positions)),
            f"checksums of {x.token}": len({bool(x.sums) for x in arrow_files}) == 1
            and all(len(x.sums) in (0, -(-x.n_bytes // BLOCK)) for x in files),
            f"columns of {x.token}": names <= columns
            and all(
                not text or _has_columns(_decoded_schema(text), manifest.schema, some)
                for text, some in files_have
            ),
            f"updates of {x.token}": all(0 < y.n_rows <= x.n_rows for y in x.updates),
            f"ids of {x.token}": x.id_range is None or len(x.id_range) == 2,
        }
    for what, is_right_here in is_right.items():
        if not is_right_here:
            raise ValueError(f"its facts contradict each other in the {what}")


def _has_columns(stored: Any, schema: Any, names: Iterable[str]) -> bool:
    """Return whether a file has some columns as they are in the schema."""
    fields = {field.name: field for field in stored}
    is_once = len(fields) == len(stored)
    return is_once and all(fields.get(name) == schema.field(name) for name in names)


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


_CACHE: dict[tuple[str, bytes], Manifest] = {}  # the last that were read or written


def read_manifest(disk: Disk, number: int, kind: str = "manifest") -> Manifest:
    """Return one state, from its manifest or the ``"copy"`` of it.

    Raises ArtefactError where its file is damaged, FileNotFoundError where it is gone.
    """
    name = manifest_name(number, kind)
    path = str(disk.folder / name)
    try:
        data = disk.read(name, _LONGEST)
    except IsADirectoryError:
        raise ArtefactError(f"{path} is a folder, which is no manifest") from None
    # Read once, as each change asks for the same few several times.
    manifest = _CACHE.get((path, data))
    if manifest is None:
        manifest = Manifest.from_bytes(data, path)
        if manifest.number != number:
            raise ArtefactError(
                f"{path} is damaged: it is that of number {manifest.number}; {REPAIR}"
            )
        _remember(path, data, manifest)
    return manifest


def _remember(path: str, data: bytes, manifest: Manifest) -> None:
    for key in list(_CACHE)[:-7]:
        _CACHE.pop(key, None)
    _CACHE[path, data] = manifest


def newest_manifest(disk: Disk) -> Manifest:
    """Return the newest state; no older one takes the place of one that is damaged."""
    number = newest_number(disk)
    try:
        manifest = read_manifest(disk, number)
    except FileNotFoundError:  # a newer one would have taken its place
        path = disk.folder / manifest_name(number)
        raise ArtefactError(f"{path} is a broken link") from None
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


def collect(
    disk: Disk,
    newest: Manifest,
    new: Set[str] = frozenset(),
    *,
    is_durable: bool = False,
) -> None:
    """Remove the files that neither the newest state, a held nor a tagged one names.

    Those that are `new`, for a state to come, stay. All do while one that the newest
    state names is missing. A file that cannot be removed stays until the next time.

    The caller holds the lock of the store. Unless the name of the newest state is known
    to be on the disk (`is_durable`), the folder is synced first.
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
        to_keep = _needed(disk, newest, held) | new
        stay = {newest.number, *held, *older[len(older) - KEPT + 1 :]}
        to_keep |= {
            manifest_name(n, kind) for n in stay for kind in ("manifest", "copy")
        }
        gone = [name for name in names if is_own(name) and name not in to_keep]
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
    names = {name for segment in segments for name in segment.names()}
    return names | {name for s in segments for name in (s.name("ids"), s.name("mih"))}

"""A state put together from segments alone, when no manifest can be read."""

import contextlib
import re
from dataclasses import asdict, replace
from typing import Any

from fewbits.errors import ArtefactError
from fewbits.store._deletes import deleted_count, stated_count
from fewbits.store._disk import Disk
from fewbits.store._manifest import (
    Manifest,
    SegmentEntry,
    read_manifest,
    segment_entry,
)
from fewbits.store._names import (
    copy_name,
    is_token,
    manifest_name,
    manifest_numbers,
    sums_name,
)
from fewbits.store._schema import ROW
from fewbits.store._sums import FileSums, lenient_sums

_NOTE = b"fewbits."
_LARGEST = 10**17  # of numbers of states: names have 18 digits


def rescued_state(disk: Disk, top: int) -> Manifest:
    """Return the state of the segments that a damaged manifest still names.

    Where it no longer names them all, the segments that are there are taken, a newer
    one in place of those whose sequence numbers it covers.

    Raises
    ------
    ArtefactError
        When no segment says what the columns are, nor does an older manifest.
    """
    names = disk.names()
    there = _tokens(names)
    tokens = _named_tokens(disk, top, there)
    tokens = tokens or sorted(filter(is_token, there))
    every = [each for t in tokens if (each := _Found.of(disk, t)) is not None]
    # What was written for a later commit was never committed.
    found = [each for each in every if each.number <= top]
    older = older_state(disk, names)
    if found:
        found.sort(key=lambda each: -each.number)
        return _state(found, older, disk, names, top)
    if older is None:
        raise ArtefactError(f"{disk.folder}: no manifest and no segment can be read")
    return replace(older, segments=())


def largest_number(disk: Disk, names: list[str]) -> int:
    """Return the number of the newest state that segments and deletes know of."""
    every = [_Found.of(disk, token) for token in _tokens(names) if is_token(token)]
    found = [each.number for each in every if each is not None]
    deletes = re.findall(r"^del-[0-9a-f]{16}-(\d{1,18})\.bin$", "\n".join(names), re.M)
    return int(max([0, *found, *map(int, deletes)]))


def _tokens(names: list[str]) -> set[str]:
    return {name[4:-4] for name in names if re.fullmatch(r"sum-.*\.bin", name)}


def _state(
    found: "list[_Found]",
    older: Manifest | None,
    disk: Disk,
    names: list[str],
    top: int,
) -> Manifest:
    newest = found[0]
    segments: list[SegmentEntry] = []
    for each in found:
        entry = each.entry
        apart = all(s.last < entry.first or entry.last < s.first for s in segments)
        if apart and each.schema.equals(newest.schema, check_metadata=True):
            segments.append(_with_deletes(disk, entry, names, top))
    segments.sort(key=lambda entry: entry.first)
    largest = max((s.id_range[1] for s in segments if s.id_range), default=-1)
    next_row, next_id = segments[-1].last + 1, largest + 1
    if older is not None:
        next_row, next_id = max(next_row, older.next_row), max(next_id, older.next_id)
    about = (newest.plain_schema(), newest.n_bits, newest.fingerprint)
    return Manifest(0, *about, next_row, next_id, tuple(segments))


def _named_tokens(disk: Disk, top: int, there: set[str]) -> list[str]:
    """Return the segments that a damaged manifest names, if it still names them all."""
    for name in (manifest_name(top), copy_name(top)):
        with contextlib.suppress(FileNotFoundError):
            text = bytes(disk.map(name))
            tokens = [
                t.decode() for t in re.findall(rb'"token": "([0-9a-f]{16})"', text)
            ]
            if len(tokens) == text.count(b'"token"') and there.issuperset(tokens):
                return tokens
    return []


def older_state(disk: Disk, names: list[str]) -> Manifest | None:
    """Return the newest state whose manifest can be read."""
    for number in reversed(manifest_numbers(names)):
        with contextlib.suppress(ArtefactError, OSError):
            return read_manifest(disk, number)
    return None


def _with_deletes(
    disk: Disk, entry: SegmentEntry, names: list[str], top: int
) -> SegmentEntry:
    """Return a segment with the last committed deletes that can be read."""
    pattern = re.compile(rf"del-{entry.token}-(\d+)\.bin")
    numbers = sorted(int(m[1]) for name in names if (m := pattern.fullmatch(name)))
    for number in reversed([each for each in numbers if each <= top]):
        n = deleted_count(disk, entry.token, number)
        if n is not None and n <= entry.n_rows:
            return replace(entry, n_live=entry.n_rows - n, deletes=number)
    if numbers and numbers[0] <= top:  # repair reports as many as the head says
        n = min(stated_count(disk, entry.token, numbers[0]), entry.n_rows - 1)
        return replace(entry, n_live=entry.n_rows - n, deletes=numbers[0])
    return entry


class _Found:
    """A segment that says itself what it is.

    Parameters
    ----------
    facts : dict
        As the manifest had them.
    files : list of FileSums
    """

    def __init__(self, facts: dict[str, Any], files: list[FileSums]) -> None:
        self.number = int(facts["number"])
        if not 0 <= self.number < _LARGEST:
            raise ValueError(f"no state has the number {self.number}")
        self._schemas = [_schema(file) for file in files]
        self.schema = self._schemas[0]
        self.n_bits = int(self.schema.metadata[b"fewbits.n_bits"])
        self.fingerprint = self.schema.metadata[b"fewbits.fingerprint"].decode()
        entries = [asdict(file.entry) for file in files]
        vectors = entries[1] if len(entries) > 1 else None
        known = {"rows": entries[0], "vectors": vectors, "deletes": None}
        self.entry = segment_entry({**facts, **known})

    @classmethod
    def of(cls, disk: Disk, token: str) -> "_Found | None":
        """Return what is known of a segment, None where that is not enough."""
        import pyarrow as pa

        try:
            files, facts = lenient_sums(disk.map(sums_name(token)))
            found = cls(facts, files)
        except (LookupError, TypeError, ValueError, OSError, pa.ArrowException):
            return None
        return found if found.entry.token == token else None

    def plain_schema(self) -> Any:
        """Return the schema of rows as they are given; vectors come last."""
        import pyarrow as pa

        notes = self.schema.metadata or {}
        kept = {k: v for k, v in notes.items() if not k.startswith(_NOTE)}
        fields = [f for schema in self._schemas for f in schema if f.name != ROW]
        return pa.schema(fields, kept or None)


def _schema(file: FileSums) -> Any:
    """Return the schema in the frame of an Arrow file, behind its magic bytes."""
    import pyarrow as pa

    return pa.ipc.open_stream(pa.py_buffer(file.head[8:])).schema

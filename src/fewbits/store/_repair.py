"""A damaged collection made whole again: what stands on a checksum stays."""

import contextlib
from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from fewbits._repr import short_repr
from fewbits.errors import ArtefactError
from fewbits.store._deletes import read_deletes, write_deletes
from fewbits.store._disk import Disk, write_file
from fewbits.store._manifest import (
    Manifest,
    SegmentEntry,
    check_ours,
    collect,
    draft_name,
    is_own,
    manifest_name,
    manifest_numbers,
    new_token,
    publish,
    read_manifest,
)
from fewbits.store._schema import ID
from fewbits.store._segment import (
    file_schema,
    has_index,
    only_batch,
    read_sums,
    remove_derived,
    with_frame,
    write_index,
    write_sums,
)
from fewbits.store._snapshot import Segment
from fewbits.store._sums import (
    FileSums,
    block_sums,
    facts_of,
    parse_sums,
    repair_blocks,
    repair_seal,
)
from fewbits.store._updates import parsed_update
from fewbits.store._verify import (
    Findings,
    Report,
    newest_readable,
    stale_files,
    tagged_states,
    verify_store,
)
from fewbits.store._writer import EditedSegment

_LARGEST = 1 << 62  # of ids that no checksum proves
_MOST = 1000  # ids of a segment that are reported
_FEW = 10  # of these, ids that are printed
#: Files that cannot be made again.
_OF_SEGMENTS = ("seg-", "vec-", "sum-", "del-", "upd-")


@dataclass(frozen=True, repr=False)
class RepairReport:
    """The result of `Store.repair`.

    Parameters
    ----------
    before : Report
    number : int
        Of the state that is there now.
    n_rows : int
        Rows that live in it, those of segments that are still damaged included.
    n_lost, lost_ids : int, tuple
        Rows of segments that were dropped, and their ids, at most 1,000 of each segment
        where they can be read.
    n_damaged, damaged_ids : int, tuple
        Rows of segments that are still damaged, which `drop_rows` would drop.
    n_undeleted : int
        Deleted rows that are there again, as the file that marked them was damaged.
    damaged_values, reverted_values : tuple of str
        A line for each file of changed values that is still damaged, or was dropped, so
        that the values before the change are there again.
    n_commits_lost : int
        Commits after the state to which it had to go back.
    damaged_tags : tuple of str
        Names of older versions that are still damaged.
    rebuilt : tuple of str
        Files that were made again from others, or removed until they are.
    notes : tuple of str
        What else is not as it was.
    """

    before: Report
    number: int
    n_rows: int
    n_lost: int = 0
    lost_ids: tuple[int | str, ...] = ()
    n_damaged: int = 0
    damaged_ids: tuple[int | str, ...] = ()
    n_undeleted: int = 0
    damaged_values: tuple[str, ...] = ()
    reverted_values: tuple[str, ...] = ()
    n_commits_lost: int = 0
    damaged_tags: tuple[str, ...] = ()
    rebuilt: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()

    def __repr__(self) -> str:
        return short_repr(self)

    @property
    def is_complete(self) -> bool:
        """True where nothing was lost and nothing is damaged."""
        lost = self.n_lost or self.n_undeleted or self.n_commits_lost
        values = self.reverted_values or self.damaged_values
        return not (lost or values or self.n_damaged or self.damaged_tags)

    def __str__(self) -> str:
        rebuilt = [f"{path}: rebuilt" for path in self.rebuilt]
        if self.before.is_intact:
            return "\n".join([f"nothing is damaged: {self.n_rows:,} rows", *rebuilt])
        there = f"{self.n_rows:,} rows are there"
        if self.n_damaged:
            n_whole = self.n_rows - self.n_damaged
            there = f"{n_whole:,} of {self.n_rows:,} rows are whole"
        lines = [f"{there}, {self.n_lost:,} are lost"]
        if self.lost_ids:
            lines.append(f"ids of lost rows: {_few(self.lost_ids, self.n_lost)}")
        if self.n_commits_lost:
            lines.append(
                f"the last {self.n_commits_lost:,} commits are lost, unless the "
                "manifest that is set aside is of another collection: then none is"
            )
        if self.n_damaged:
            lines.append(
                f"{self.n_damaged:,} rows lie in segments that are still damaged: put "
                "back their files from a backup, or drop these rows by 'fewbits verify "
                "--repair --drop-rows'"
            )
        if self.damaged_ids:
            lines.append(f"their ids: {_few(self.damaged_ids, self.n_damaged)}")
        if self.n_undeleted:
            lines.append(
                f"{self.n_undeleted:,} deleted rows are there again: delete them anew"
            )
        if self.damaged_values:
            lines.append(
                "changed values that cannot be read: put back their files from a "
                "backup, or go back to the values before by 'fewbits verify --repair "
                "--drop-rows'"
            )
            lines += self.damaged_values
        if self.reverted_values:
            lines.append("the values before a change are there again: update them anew")
            lines += self.reverted_values
        if self.damaged_tags:
            lines.append(
                f"versions that are still damaged: {', '.join(self.damaged_tags)}; put "
                "back their files from a backup, or take these names away"
            )
        return "\n".join([*lines, *rebuilt, *self.notes])


def _few(ids: tuple[int | str, ...], n_ids: int) -> str:
    """Return the first of some ids, of which there may be more than these."""
    return ", ".join(map(str, ids[:_FEW])) + (", ..." if n_ids > _FEW else "")


def repair_store(disk: Disk, drop_rows: bool) -> RepairReport:
    """Publish a state of all that is intact. The caller holds the store's lock.

    Files that are only to be rebuilt are, and no others are written then.
    """
    _check_changeable(disk)
    manifest, findings, top = newest_readable(disk)
    manifests = {Path(damage.file).name for damage in findings.damages}
    report = verify_store(disk, manifest, findings)
    report.check_all_read(disk.folder)
    if manifest is not None and report.is_intact:
        rebuilt = _rebuild(disk, manifest)
        return RepairReport(report, top, manifest.n_live, rebuilt=rebuilt)
    older = top if manifest is not None else _older_number(disk, drop_rows)
    base = replace(manifest or read_manifest(disk, older), number=top)
    if manifest is None:
        base = replace(base, next_id=_next_id(disk, base))
    put_back = _restore_tagged(disk, base)
    n_mended = 0
    damaged: list[SegmentEntry] = []
    segments: list[SegmentEntry] = []
    undeleted: dict[str, SegmentEntry] = {}  # as they were, by their tokens of now
    values: list[str] = []  # of changed ones that are damaged

    for entry in base.segments:
        try:
            mended, n_bits, is_undeleted = _repair_segment(disk, base, entry)
        except (ArtefactError, FileNotFoundError):
            damaged.append(entry)
            if drop_rows:
                continue
            mended, n_bits, is_undeleted = entry, 0, False
        mended, n_of_updates, lines = _repair_updates(
            disk, base, entry, mended, reverts=drop_rows
        )
        values += lines
        n_mended += n_bits + n_of_updates
        segments.append(mended)
        if is_undeleted:
            undeleted[mended.token] = entry

    state = replace(base, number=base.number + 1, segments=tuple(segments))
    for i, entry in enumerate(segments):
        if entry.token in undeleted:
            try:
                segments[i] = _without_replaced(disk, state, i)
            except ArtefactError:  # of a later segment, which may hold the same ids
                segments[i] = undeleted.pop(entry.token)
                damaged.append(segments[i])
    n_damaged = sum(entry.n_live for entry in damaged)
    ids = tuple(i for entry in damaged for i in _ids(disk, base, entry))
    state = replace(state, segments=tuple(segments))

    if manifests or state.segments != base.segments:
        publish(disk, state)
    else:
        state = base
    rebuilt = _rebuild(disk, state)
    notes = []
    if n_mended:
        bits = "flipped bit was" if n_mended == 1 else "flipped bits were"
        notes.append(f"{n_mended:,} {bits} put back")
    replaced = base.names() - state.names() | manifests
    if older < top:
        replaced |= _of_lost_commits(disk, state)
    for tagged in tagged_states(disk, state, Findings()):
        replaced -= tagged.names()
    if _put_aside(disk, replaced):
        notes.append(
            "what was replaced or dropped stays in the files damaged-*, for other "
            "tools to try; delete them once you no longer need them"
        )
    collect(disk, state, is_durable=True)
    return RepairReport(
        report,
        state.number,
        state.n_live,
        n_lost=n_damaged if drop_rows else 0,
        lost_ids=ids if drop_rows else (),
        n_damaged=0 if drop_rows else n_damaged,
        damaged_ids=() if drop_rows else ids,
        n_undeleted=sum(
            entry.n_live - undeleted[entry.token].n_live
            for entry in state.segments
            if entry.token in undeleted
        ),
        damaged_values=() if drop_rows else tuple(values),
        reverted_values=tuple(values) if drop_rows else (),
        n_commits_lost=top - older,
        damaged_tags=_damaged_tags(disk, state),
        rebuilt=(*put_back, *rebuilt),
        notes=tuple(notes),
    )


def _check_changeable(disk: Disk) -> None:
    """Refuse a folder in which a newer fewbits has written any state."""
    names = disk.names()
    for kind in ("manifest", "copy"):
        for number in manifest_numbers(names, kind):
            with contextlib.suppress(ArtefactError, OSError):
                read_manifest(disk, number, kind).check_changeable(disk.folder)


def _next_id(disk: Disk, base: Manifest) -> int:
    """Return the next id after those of a state, and of commits after it that are lost.

    No id is given twice: the files of sums say which ids their segments have, and small
    ones have none, so that their ids are read.
    """
    import pyarrow as pa

    largest, names = base.next_id - 1, {*disk.names()}
    for name in names:
        sums = f"{name.replace('seg-', 'sum-').removesuffix('.arrow')}.bin"
        if not (is_own(name) and name.startswith("seg-")):
            continue
        with contextlib.suppress(ArtefactError, OSError, LookupError, ValueError):
            if sums in names:
                seal = repair_seal(disk.read(sums))
                ids = None if seal is None else facts_of(seal)["id_range"]
                largest = max(largest, -1 if ids is None else int(ids[1]))
            elif base.schema.field(ID).type == "int64":
                batch = pa.ipc.open_file(disk.read(name)).get_batch(0)
                ids = batch.column(ID).to_numpy()
                largest = max(largest, int(ids[ids < _LARGEST].max()))
    return largest + 1


def _restore_tagged(disk: Disk, state: Manifest) -> tuple[str, ...]:
    """Put back the manifests of versions with names from their copies."""
    put_back = []
    for number in sorted({*state.tags.values()} - {state.number}):
        name, copy = manifest_name(number), manifest_name(number, "copy")
        try:
            read_manifest(disk, number)
        except (ArtefactError, FileNotFoundError):
            with contextlib.suppress(ArtefactError, OSError):
                read_manifest(disk, number, "copy")
                draft = draft_name()
                write_file(disk, draft, disk.read(copy))
                with contextlib.suppress(FileNotFoundError):
                    disk.remove(name)
                disk.publish(draft, name)
                disk.sync_folder()
                put_back.append(str(disk.folder / name))
    return tuple(put_back)


def _damaged_tags(disk: Disk, state: Manifest) -> tuple[str, ...]:
    """Return the names of older versions of which a file is damaged."""
    damaged = []
    for name, number in sorted(state.tags.items()):
        if number != state.number:
            findings = Findings()
            tagged = replace(state, segments=(), tags={name: number})
            report = verify_store(disk, tagged, findings)
            damaged += [] if report.is_intact else [name]
    return tuple(damaged)


def _older_number(disk: Disk, drop_rows: bool) -> int:
    """Return the number of the newest state whose manifest can be read."""
    for number in reversed(manifest_numbers(disk.names())):
        try:
            manifest = read_manifest(disk, number)
            check_ours(disk, manifest)
        except ArtefactError:
            continue
        if drop_rows:
            return number
        names = {*disk.names()}
        there = [
            segment
            for segment in manifest.segments
            if {segment.name(kind) for kind in segment.arrow_files} <= names
        ]
        raise ArtefactError(
            f"{disk.folder}: neither the newest manifest nor its copy is of use. If it "
            "is of another collection, move it away. Else put one of them back from a "
            f"backup, or go back to version {number:,}, of which "
            f"{sum(s.n_live for s in there):,} rows are there, by 'fewbits verify "
            "--repair --drop-rows'"
        )
    raise ArtefactError(
        f"{disk.folder}: no manifest can be read; put back manifest-*.json from a "
        "backup: each names the segments that are a state of the collection"
    )


def _repair_segment(
    disk: Disk, base: Manifest, entry: SegmentEntry
) -> tuple[SegmentEntry, int, bool]:
    """Return a segment, under a new token where its files are damaged.

    Also how many flipped bits were put back, and whether its deletes are lost. Raises
    ArtefactError or FileNotFoundError where its checksums cannot put it back.
    """
    n_mended = 0
    try:
        sums, is_whole = read_sums(disk, entry), True
    except ArtefactError:
        sums, is_whole = _repair_sums(disk, entry), False
    contents = {}
    for kind, file in entry.arrow_files.items():
        path = disk.folder / entry.name(kind)
        data = disk.read(path.name)
        content = repair_blocks(data, file, sums.get(kind))
        if content is None:
            raise ArtefactError(f"{path} is damaged")
        # The sums fit what Arrow cannot read where both were forged.
        schema = base.stored_schema(entry)
        schema = file_schema(base, kind, entry.has_rows, schema)
        only_batch(content, schema, entry.n_rows, str(path))
        if content is not data:
            is_whole = False
            n_mended += _n_flips(data, content)
        contents[kind] = content

    n_deleted = len(entry.deleted)
    mended = replace(entry, n_live=entry.n_rows - n_deleted, deletes=None)
    if not is_whole:
        mended = replace(mended, token=new_token())
        files = []
        for kind, content in contents.items():
            write_file(disk, mended.name(kind), content)
            sums_now = FileSums(block_sums(content), len(content))
            files.append(with_frame(sums_now, content))
        if mended.has_sums:
            write_sums(disk, mended, files, base.number + 1)

    is_flipped = False
    try:
        deletes = read_deletes(disk, entry)
    except ArtefactError:
        is_flipped = True
        try:
            deletes = read_deletes(disk, entry, mends=True)
        except ArtefactError:
            return mended, n_mended, True
    if is_whole and not is_flipped:
        return entry, n_mended, False
    if deletes.n_deleted:
        mended = write_deletes(disk, mended, base.number + 1, deletes)
    return mended, n_mended + is_flipped, False


def _n_flips(data: Any, content: Any) -> int:
    """Return how many blocks were mended."""
    before = block_sums(data[: len(content)])
    return int(np.count_nonzero(before != block_sums(content)))


def _repair_updates(
    disk: Disk,
    base: Manifest,
    entry: SegmentEntry,
    mended: SegmentEntry,
    *,
    reverts: bool,
) -> tuple[SegmentEntry, int, list[str]]:
    """Return a mended segment with its changed values, and a line for those damaged.

    These stay as they are, unless it reverts to what was before.
    """
    updates, n_mended, lines = [], 0, []
    for update in entry.updates:
        path, file = disk.folder / update.name, update.file
        data, content = b"", None
        with contextlib.suppress(ArtefactError, FileNotFoundError):
            data = disk.read(path.name)
            sums = FileSums(np.array(file.sums, np.uint32), file.n_bytes)
            whole = repair_blocks(data, file, sums if file.sums else None)
            if whole is not None:
                parsed_update(whole, base, entry, update, str(path))
                content = whole
        if content is None:
            names = ", ".join(update.columns)
            lines.append(f"{path}: {names} of {update.n_rows:,} rows")
            if reverts:
                continue
        elif content is not data:
            n_mended += _n_flips(data, content)
            update = replace(update, token=new_token())
            write_file(disk, update.name, content)
        updates.append(update)
    return replace(mended, updates=tuple(updates)), n_mended, lines


def _repair_sums(disk: Disk, entry: SegmentEntry) -> dict[str, FileSums]:
    """Return the sums of a segment after a bit is put back, none if more is damaged."""
    with contextlib.suppress(ArtefactError, FileNotFoundError):
        seal = repair_seal(disk.read(entry.name("sum")))
        sums = [] if seal is None else parse_sums(seal, "")
        return dict(zip(entry.arrow_files, sums, strict=False))  # it may be of others
    return {}


def _without_replaced(disk: Disk, state: Manifest, at: int) -> SegmentEntry:
    """Return a segment without the rows whose ids are there again in a later one."""
    source = EditedSegment(Segment(disk, state, state.segments[at]))
    for later in state.segments[at + 1 :]:
        source.delete(_live_ids(Segment(disk, state, later)))
    if not source.deletes.n_deleted:
        return source.segment.entry
    return write_deletes(disk, source.segment.entry, state.number, source.deletes)


def _live_ids(segment: Segment) -> Any:
    import pyarrow as pa

    live = segment.live
    return segment.ids if live is None else segment.ids.filter(pa.array(live))


def _ids(disk: Disk, state: Manifest, entry: SegmentEntry) -> list[int | str]:
    """Return the first ids of a damaged segment, none where they cannot be read."""
    with contextlib.suppress(ArtefactError):
        ids: list[int | str] = _live_ids(Segment(disk, state, entry))[
            :_MOST
        ].to_pylist()
        return ids
    return []


def _rebuild(disk: Disk, state: Manifest) -> tuple[str, ...]:
    """Make again what can be made from others, and return its paths.

    Search makes its own files; they are removed where they are of no use.
    """
    names = stale_files(disk, state)
    with contextlib.suppress(OSError):
        if (copy := manifest_name(state.number, "copy")) in names:
            disk.remove(copy)
            write_file(disk, copy, disk.read(manifest_name(state.number)), sync=False)
    for entry in state.segments:
        with contextlib.suppress(OSError):
            if entry.name("mih") in names:
                remove_derived(disk, entry)
        index = entry.name("ids")
        with contextlib.suppress(OSError, ArtefactError):
            if index in names:
                disk.remove(index)
            if has_index(entry) and index not in disk.names():
                write_index(disk, entry, Segment(disk, state, entry).ids)
    return tuple(str(disk.folder / name) for name in names)


def _put_aside(disk: Disk, names: Iterable[str]) -> bool:
    """Rename files that no state needs, so that they are not collected."""
    is_any = False
    for name in sorted(names):
        with contextlib.suppress(OSError):
            disk.publish(name, f"damaged-{name}")
            is_any = True
    return is_any


def _of_lost_commits(disk: Disk, state: Manifest) -> set[str]:
    """Return the names of files of segments that no manifest names."""
    states = [state]
    for number in manifest_numbers(disk.names()):
        with contextlib.suppress(ArtefactError):
            states.append(read_manifest(disk, number))
    names = {n for n in disk.names() if is_own(n) and n.startswith(_OF_SEGMENTS)}
    return names - {name for state in states for name in state.names()}

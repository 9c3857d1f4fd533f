"""The one who may change a collection, and the rows that it sees."""

from __future__ import annotations

import contextlib
import errno
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Set
from dataclasses import replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fewbits._arrow import converted, one_chunk, own_table
from fewbits._typing import IdArray
from fewbits.errors import ArgumentError, ArtefactError, FewbitsError
from fewbits.store import _merge_plan as policy
from fewbits.store._deletes import Deletes, write_deletes
from fewbits.store._disk import Disk
from fewbits.store._ids import IdIndex, equal_texts, keys_of
from fewbits.store._lock import FileLock
from fewbits.store._manifest import (
    Manifest,
    SegmentEntry,
    collect,
    manifest_name,
    newest_manifest,
    publish,
    read_manifest,
)
from fewbits.store._schema import ID, ROW, check_columns
from fewbits.store._segment import (
    SegmentFiles,
    remove_derived,
    write_derived,
    write_segment,
)
from fewbits.store._snapshot import FileCache, Segment, Snapshot
from fewbits.store._updates import Update, updated_column, write_update

#: Bytes of the largest segment that is made, and of the rows that a writer gathers.
FULL = 1 << 28
_LARGEST_ID = (1 << 63) - 1
#: Tables with fewer rows are put together as they are given.
_FEW = 1 << 16
#: Rows of which all columns are copied by one call.
_COPIED_AT_ONCE = 1 << 10


class Writer:
    """Adds, updates and deletes rows; readers see nothing of it before `commit`.

    Made by `Store.writer`, used in a ``with`` block.

    Attributes
    ----------
    manifest : Manifest
        The state that changes start from, which was committed last or is pending.
    segments : tuple of Segment
        Its segments.
    """

    def __init__(self, disk: Disk, lock: FileLock, full: int, cache: FileCache) -> None:
        self._disk, self._lock, self._full = disk, lock, full
        self._cache = cache
        self._newest = newest_manifest(disk)  # the state that was committed last
        self._newest.check_changeable(disk.folder)
        self._failed = self._is_durable = False
        self._begin(self._newest)

    def _begin(self, state: Manifest) -> None:
        """Start from the newest state, or from one whose files no manifest names."""
        self.manifest = state
        self.segments = Snapshot(self._disk, state, None, self._cache).segments
        self._edited = [EditedSegment(segment) for segment in self.segments]
        self._new_rows: list[NewRows] = []  # rows that come after these
        self._new_files: list[SegmentFiles] = []  # of segments that no state has yet
        self._next_row, self._next_id = state.next_row, state.next_id

    def close(self) -> None:
        """Drop what is not committed."""
        if self._lock.is_own:
            self._edited.clear()
            with contextlib.suppress(OSError, ArtefactError):
                self._collect()

    # Rows that come and go.

    def append(self, table: Any) -> Any:
        """Add rows whose ids are new, and return these.

        Parameters
        ----------
        table : pyarrow.Table
            The columns of the store's schema, of its types, in any order, and each id
            once. Where ids are numbers the column ``_id`` may be left out: rows are
            numbered after the largest id that was ever given.

        Raises
        ------
        ArgumentError
            When an id is there already, or columns do not fit. Then nothing is added.
        """
        self._check_usable()
        ids = self._ids_of(table)
        if self._may_be_there(ids):
            for source in self._sources():
                is_there = source.find(ids) >= 0
                if is_there.any():
                    existing = ids[int(is_there.argmax())].as_py()
                    raise ArgumentError(
                        f"there is an item with id {existing!r} already: upsert "
                        "replaces it"
                    )
        self._add(table, ids)
        return ids

    def upsert(self, table: Any) -> int:
        """Add rows, replacing those with the same ids; return the number replaced."""
        self._check_usable()
        ids = self._ids_of(table)
        n_replaced = self._delete(ids) if self._may_be_there(ids) else 0
        self._add(table, ids)
        return n_replaced

    def delete(self, ids: Any) -> int:
        """Delete rows by their ids, of which some may be unknown; return how many."""
        import pyarrow as pa

        self._check_usable()
        return self._delete(pa.array(ids, self.manifest.schema.field(ID).type))

    def holds(self, ids: Any) -> NDArray[np.bool_]:
        """Return which ids of an Arrow array are there after the changes so far."""
        is_there = np.zeros(len(ids), np.bool_)
        for source in self._sources():
            is_there |= source.find(ids) >= 0
        return is_there

    def update(self, table: Any) -> None:
        """Change columns of rows, which keep their places.

        The table has ids that are there, each once, and some of the user's columns.
        """
        self._check_usable()
        ids, columns = one_chunk(table[ID]), table.drop_columns(ID)
        columns = frozen_table(columns).combine_chunks()
        for source in self._sources():
            positions = source.find(ids)
            here = np.flatnonzero(positions >= 0)
            if len(here):
                order = here[np.argsort(positions[here])]
                rows = columns.take(order)
                values = {x: one_chunk(rows[x]) for x in rows.column_names}
                source.update(positions[order].astype(np.uint32), values)

    def retype(self, schema: Any) -> None:
        """Take a schema with more columns at its end, or types for those of null alone.

        New columns are null in all rows.
        """
        self._check_usable()
        if schema == self.manifest.schema:
            return
        base = self.pending().manifest
        target, segments = replace(base, schema=schema), []
        more = tuple(name for name in schema.names if name not in base.schema.names)
        is_new = any(field != schema.field(field.name) for field in base.schema)
        for source in self._edited:
            entry = source.segment.entry
            if is_new:
                table = live_rows([source])
                segments.append(self._write(target, with_nulls(table, schema)))
            else:
                segments.append(replace(entry, absent=(*entry.absent, *more)))
        self._begin(replace(target, segments=tuple(segments)))

    def drop(self, names: Set[str]) -> None:
        """Drop columns of the user's; their values leave the disk by `compact`."""
        self._check_usable()
        if names:
            self._begin(self.pending().manifest.without(names))

    def restore(self, number: int) -> None:
        """Take rows and columns of an older state, whose files must be there.

        Numbers of rows, and ids that none is given, go on from the newest.
        """
        self._check_usable()
        older, base = read_manifest(self._disk, number), self.manifest
        older.check_changeable(self._disk.folder)
        if (older.schema, older.segments) != (base.schema, base.segments):
            state = replace(base, schema=older.schema, segments=older.segments)
            self._begin(state)

    # States.

    def pending(self) -> Snapshot:
        """Return the state that `commit` would make now, to be read before it does.

        It may be read as long as this writer is open. What was given so far is written
        to files that no manifest names yet.
        """
        self._check_usable()
        if self._has_edits():
            with self._unusable_on_error():
                state = self._write_state(policy.unmerged(self._sources()))
            self._begin(replace(state, number=self._newest.number))
        return Snapshot(self._disk, self.manifest, None, self._cache)

    def commit(self) -> int:
        """Make all of it the newest state, on the disk when this returns its number.

        On a full disk rows can still be deleted where there is space for a file of
        deletes: nothing is compacted then.
        """
        self._check_usable()
        if self.manifest is self._newest and not self._has_edits():
            return self._newest.number
        try:
            state = self._write_state(policy.plan(self._sources(), self._full))
        except (OSError, ArtefactError) as error:
            full = getattr(error, "errno", None) in (errno.ENOSPC, errno.EDQUOT)
            if not (full or isinstance(error, ArtefactError)):
                raise
            self._collect()
            state = self._write_state(policy.unmerged(self._sources()))
        return self._publish(state)

    def compact(self) -> int:
        """Commit, with as few segments as may be and no deleted rows."""
        self._check_usable()
        sources = self._sources()
        runs = policy.compacted(sources, self._full)
        stays = len(runs) == len(sources) and not any(run.is_new for run in runs)
        if stays and self.manifest is self._newest and not self._has_edits():
            return self._newest.number
        return self._publish(self._write_state(runs))

    def snapshot(self) -> Snapshot:
        """Return the state that was committed last, held as by `Store.snapshot`."""
        lock = self._disk.lock(manifest_name(self._newest.number), shared=True)
        return Snapshot(self._disk, self._newest, lock, self._cache)

    def tag(self, tags: Mapping[str, int]) -> None:
        """Replace the tags, from names to numbers of states that are to stay.

        The next commit writes them, and may itself be tagged, by its number.
        """
        self._check_usable()
        self.manifest = self.manifest.tagged(dict(tags))

    def keep_derived(self, segment: Segment, pieces: Iterable[Any] | None) -> bool:
        """Keep what was derived from the codes of a committed segment beside it.

        It is what `Segment.derived` returns from now on, None for nothing; it goes with
        the segment, and no state depends on it. Returns whether it could be written.
        """
        self._check_usable()
        try:
            if pieces is None:
                remove_derived(self._disk, segment.entry)
            else:
                write_derived(self._disk, segment.entry, pieces)
        except OSError:
            return False
        return True

    def _check_usable(self) -> None:
        if self._failed:
            raise FewbitsError(
                "writing failed before: open another writer, which sees what is there"
            )
        if not self._lock.is_own:
            raise FewbitsError(
                "this writer belongs to the process that this one was forked from: "
                "open another here"
            )

    @contextlib.contextmanager
    def _unusable_on_error(self) -> Iterator[None]:
        """Refuse all later calls when this fails: what was done is unknown."""
        try:
            yield
        except BaseException:
            self._failed = True
            raise

    def _ids_of(self, table: Any) -> Any:
        """Return the ids of new rows, whose columns must fit, as one array."""
        check_columns(table, self.manifest.schema)
        if ID in table.column_names:
            return one_chunk(table[ID])
        import pyarrow as pa

        last = self._next_id + len(table) - 1
        if last > _LARGEST_ID:
            raise ArgumentError(
                f"row ids are exhausted: {self._next_id - 1} has been used; pass ids "
                "explicitly, in the column _id (on the command line by --id)"
            )
        return pa.array(np.arange(self._next_id, last + 1, dtype=np.int64))

    def _may_be_there(self, ids: Any) -> bool:
        """Return False where all ids are larger than any that was ever given."""
        if ids.type != "int64" or not len(ids):
            return len(ids) > 0
        return int(ids.to_numpy().min()) < self._next_id

    def _delete(self, ids: Any) -> int:
        return sum(source.delete(ids) for source in self._sources())

    def _add(self, table: Any, ids: Any) -> None:
        """Gather new rows with their numbers; write them when they are many."""
        import pyarrow as pa

        if not len(table):
            return
        if ids.type == "int64":
            self._next_id = max(self._next_id, int(ids.to_numpy().max()) + 1)
        rows = np.arange(self._next_row, self._next_row + len(table))
        self._next_row += len(table)
        rest = {name: table[name] for name in self.manifest.schema.names if name != ID}
        table = pa.table({ROW: pa.array(rows), ID: ids, **rest})
        new_rows = self._new_rows
        for piece in self._pieces(table, self._full):
            new_rows.append(NewRows(frozen_table(piece)))
            while len(new_rows) > 1 and new_rows[-2].n_rows < min(
                _FEW, 2 * new_rows[-1].n_rows
            ):
                new_rows[-2:] = [NewRows(live_rows(new_rows[-2:]).combine_chunks())]
            if sum(source.n_bytes for source in new_rows) >= self._full:
                if any(source.n_live for source in new_rows):
                    with self._unusable_on_error():
                        entry = self._write(self.manifest, live_rows(new_rows))
                    segment = Segment(
                        self._disk, self.manifest, entry, self._new_files[-1]
                    )
                    self._edited.append(EditedSegment(segment))
                new_rows.clear()

    def _pieces(self, table: Any, most: int) -> Iterator[Any]:
        """Yield a table whole, or what fills a segment at a time if it has more."""
        step = len(table)
        if table.nbytes > most:
            step = max(1, int(step * self._full / table.nbytes))
        for start in range(0, len(table), step):
            yield table.slice(start, step)

    def _sources(self) -> list[EditedRows]:
        return [*self._edited, *self._new_rows]

    def _has_edits(self) -> bool:
        has_new = self._next_row != self.manifest.next_row
        return has_new or any(source.has_changes for source in self._edited)

    def _write_state(self, runs: list[policy.Run]) -> Manifest:
        """Write what the next state needs, and return it."""
        sources, segments = self._sources(), []
        for run in runs:
            first = sources[run.start]
            if isinstance(first, EditedSegment) and not run.is_new:
                segments.append(
                    first.write_changes(self._disk, self.manifest.number + 1)
                )
            else:
                table = live_rows(sources[run.start : run.stop])
                for piece in self._pieces(table, 2 * self._full):
                    segments.append(self._write(self.manifest, piece))
        return replace(
            self.manifest,
            number=self.manifest.number + 1,
            segments=tuple(segments),
            next_row=self._next_row,
            next_id=self._next_id,
        )

    def _write(self, state: Manifest, table: Any) -> SegmentEntry:
        """Write rows as a segment, whose sums the next state need not read."""
        entry, files = write_segment(self._disk, state, table)
        self._cache[entry.token] = files
        self._new_files.append(files)
        return entry

    def _publish(self, state: Manifest) -> int:
        with self._unusable_on_error():
            publish(self._disk, state)
        self._newest, self._is_durable = state, True
        self._begin(state)
        return state.number

    def _collect(self) -> None:
        """Remove what is neither new, nor of a state that is the newest or read."""
        newest = newest_manifest(self._disk) if self._failed else self._newest
        entries = [source.segment.entry for source in self._edited]
        new = {name for e in entries for name in (*e.names(), e.name("ids"))}
        is_durable = self._is_durable and not self._failed
        collect(self._disk, newest, new, is_durable=is_durable)


class EditedRows(policy.Size, ABC):
    """Rows with ids, of which some are deleted: of a segment, or given since."""

    has_changes = False  # since it was committed or given

    @cached_property
    def deletes(self) -> Deletes:
        """Which rows are deleted."""
        return Deletes(self.n_rows)

    @abstractmethod
    def rows(self) -> Any:
        """Return all rows as a table, deleted ones included."""

    @abstractmethod
    def positions(self, ids: Any) -> IdArray:
        """Return the positions of ids, -1 where they are not, deleted rows included."""

    @abstractmethod
    def update(self, positions: NDArray[np.uint32], values: dict[str, Any]) -> None:
        """Change columns of rows at positions that rise."""

    def find(self, ids: Any) -> IdArray:
        """Return the positions of ids, -1 where they are not or are deleted."""
        if not self.n_live:
            return np.full(len(ids), -1, np.int64)
        positions = self.positions(ids)
        hits = np.flatnonzero(positions >= 0)
        if len(hits):  # else the file of deleted rows need not be read
            positions[hits[self.deletes.has(positions[hits])]] = -1
        return positions

    def delete(self, ids: Any) -> int:
        """Delete rows by their ids and return how many there were."""
        positions = self.find(ids)
        positions = positions[positions >= 0]
        if len(positions):
            positions = np.unique(positions)
            self.deletes = self.deletes.adding(positions)
            self.n_live -= len(positions)
            self.has_changes = True
        return len(positions)


class EditedSegment(EditedRows):
    """Rows of a segment on the disk, and what was deleted from it since."""

    def __init__(self, segment: Segment) -> None:
        entry = segment.entry
        n_bytes = sum(file.n_bytes for file in entry.arrow_files.values())
        n_updated = sum(update.n_rows for update in entry.updates)
        size = segment.n_rows, segment.n_live, n_bytes, n_updated, bool(entry.schema)
        super().__init__(*size)
        self.segment = segment
        self._edits: dict[str, list[Update]] = {}  # by the names of columns

    @cached_property
    def deletes(self) -> Deletes:
        return self.segment.deletes

    def rows(self) -> Any:
        return self.segment.with_edits(self._edits).whole()

    def update(self, positions: NDArray[np.uint32], values: dict[str, Any]) -> None:
        self.has_changes = True
        for name, column in values.items():
            edits = self._edits.setdefault(name, [])
            edits.append(Update(positions, {name: column}))
            while len(edits) > 1 and len(edits[-2].positions) < 2 * len(
                edits[-1].positions
            ):
                edits[-2:] = [edits[-2].followed_by(edits[-1])]
        n_new = (sum(len(x.positions) for x in edits) for edits in self._edits.values())
        self.n_updated = sum(x.n_rows for x in self.segment.entry.updates) + max(
            n_new, default=0
        )

    def positions(self, ids: Any) -> IdArray:
        return self.segment.look_up(ids)

    def write_changes(self, disk: Disk, number: int) -> SegmentEntry:
        """Write updates and deletes of it; return its entry in manifest `number`."""
        entry = self.segment.entry
        if self._edits:
            entry = write_update(disk, self.segment, self._edits)
        if self.n_live == entry.n_live:
            return entry
        return write_deletes(disk, entry, number, self.deletes)


class NewRows(EditedRows):
    """Rows that were given and are in no file yet.

    The table has rows (`_row`) and ids, each id once.
    """

    def __init__(self, table: Any) -> None:
        super().__init__(len(table), len(table), table.nbytes)
        self._table = table

    def rows(self) -> Any:
        return self._table

    def update(self, positions: NDArray[np.uint32], values: dict[str, Any]) -> None:
        update = Update(positions, values)
        for name in values:
            at = self._table.column_names.index(name)
            column = updated_column(one_chunk(self._table[name]), name, [update])
            self._table = self._table.set_column(at, name, column)
        self.n_bytes = self._table.nbytes

    @cached_property
    def _index(self) -> IdIndex:
        return IdIndex.of(keys_of(one_chunk(self._table[ID])))

    def positions(self, ids: Any) -> IdArray:
        def same(positions: IdArray, numbers: IdArray) -> NDArray[np.bool_]:
            return equal_texts(self._table[ID].take(positions), ids, numbers)

        is_number = ids.type == "int64"
        return self._index.find(keys_of(ids), None if is_number else same)


def frozen_table(table: Any) -> Any:
    """Return a table whose memory cannot change before it is written."""
    mutable = [name for name in table.column_names if _is_mutable(table[name])]
    # Large columns are copied one by one, and so need less memory on the way.
    step = len(mutable) if len(table) <= _COPIED_AT_ONCE else 1
    for start in range(0, len(mutable), step or 1):
        copy = own_table(table.select(mutable[start : start + step]))
        for name in copy.column_names:
            place = table.column_names.index(name)
            table = table.set_column(place, name, copy[name])
    return table


def _is_mutable(column: Any) -> bool:
    buffers = [x for chunk in column.chunks for x in chunk.buffers()]
    return any(buffer is not None and buffer.is_mutable for buffer in buffers)


def live_rows(sources: Iterable[EditedRows]) -> Any:
    """Return the rows that are not deleted as one table."""
    import pyarrow as pa

    tables = []
    for source in sources:
        if source.n_live:
            rows = source.rows()
            if source.n_live < source.n_rows:
                rows = rows.filter(pa.array(source.deletes.live))
            tables.append(rows)
    return pa.concat_tables(tables).unify_dictionaries()  # with all categories


def with_nulls(table: Any, schema: Any) -> Any:
    """Return rows in the types of a schema; columns that they lack are null."""
    import pyarrow as pa

    columns = {
        name: converted(table[name], kind)
        if name in table.column_names
        else pa.nulls(len(table), kind)
        for name, kind in zip(schema.names, schema.types, strict=True)
    }
    return pa.table({ROW: table[ROW], **columns})

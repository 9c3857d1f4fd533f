"""The one who may change a collection, and the rows that it sees."""

import contextlib
import errno
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from functools import cached_property
from types import TracebackType
from typing import Any, Self
from weakref import WeakValueDictionary

import numpy as np
from numpy.typing import NDArray

from fewbits._arrow import one_chunk, own_table, typed_table
from fewbits._checks import check_count
from fewbits._typing import IdArray
from fewbits.errors import ArgumentError, ArtefactError, FewbitsError
from fewbits.store import _merge_plan as policy
from fewbits.store._deletes import Deletes, write_deletes
from fewbits.store._disk import Disk
from fewbits.store._ids import (
    IdIndex,
    check_once,
    equal_texts,
    id_array,
    keys_of,
)
from fewbits.store._lock import FileLock
from fewbits.store._manifest import (
    Manifest,
    SegmentEntry,
    collect,
    new_token,
    newest_manifest,
    publish,
)
from fewbits.store._schema import ID, ROW, checked_schema, conforming
from fewbits.store._segment import remove_derived, write_derived, write_segment
from fewbits.store._snapshot import Opened, Part, Snapshot, parts_of

#: Bytes of the largest segment that is made, and of the rows that a writer gathers.
FULL = 1 << 28
_LARGEST_ID = (1 << 63) - 1
#: Tables with fewer rows are put together as they are given.
_FEW = 1 << 16
_BATCH = 1 << 16  # rows that are made anew at once


class Writer:
    """Adds and deletes rows; nothing of it is there before `commit`.

    Made by `Store.writer`, used in a ``with`` block.
    """

    def __init__(self, disk: Disk, lock: FileLock, full: int, opened: Opened) -> None:
        self._disk, self._lock, self._full = disk, lock, full
        self._opened = opened
        #: The state that was committed last, and the one that changes start from: the
        #: same, or one of `pending`, whose files no manifest names yet.
        self._newest = self._base = newest_manifest(disk)
        self._base.check_changeable(disk.folder)
        self._failed = self._is_durable = False
        self._begin()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def close(self) -> None:
        """Drop what is not committed, and release the lock."""
        try:
            if self._lock.is_own:
                self._sources.clear()
                with contextlib.suppress(OSError, ArtefactError):
                    self._collect()
        finally:
            self._lock.release()

    @property
    def manifest(self) -> Manifest:
        """The state that changes start from, which was committed last or is pending."""
        return self._base

    def append(self, table: Any) -> Any:
        """Add rows whose ids are new.

        Parameters
        ----------
        table : table of pyarrow, pandas or polars
            The columns of the store's schema, in any order. Where ids are numbers the
            column ``_id`` may be left out: rows are numbered after the largest id that
            was ever given.

        Returns
        -------
        pyarrow.Array
            The ids of the rows.

        Raises
        ------
        ArgumentError
            When an id is there already or repeats, or columns do not fit. Then nothing
            is added.
        """
        rows = self._conforming(table)
        if ID not in rows.column_names:
            return self._add(rows, self._numbered(len(rows)))
        ids = _ids_of(rows)
        if self._may_repeat(ids):
            check_once(ids)
            self._check_new(ids)
        return self._add(rows, ids)

    def upsert(self, table: Any) -> int:
        """Add rows, in place of those that have their ids.

        Parameters
        ----------
        table : table of pyarrow, pandas or polars
            As for `append`, with ids.

        Returns
        -------
        int
            How many rows were replaced.
        """
        rows = self._conforming(table)
        if ID not in rows.column_names:
            raise ArgumentError(
                "upsert needs the column _id, which says what to replace"
            )
        ids = _ids_of(rows)
        n_replaced = 0
        if self._may_repeat(ids):
            check_once(ids)
            n_replaced = self._delete(ids)
        self._add(rows, ids)
        return n_replaced

    def delete(self, ids: Any) -> int:
        """Delete rows by their ids; ids that are not there are none.

        Parameters
        ----------
        ids : array-like or Arrow array
            Whole numbers, or texts, as the store has them.

        Returns
        -------
        int
            How many rows were deleted.
        """
        self._check_usable()
        return self._delete(id_array(ids, self._base.schema.field(ID).type))

    def holds(self, ids: Any) -> NDArray[np.bool_]:
        """Return which ids of an Arrow array are there after the changes so far."""
        there = np.zeros(len(ids), np.bool_)
        for source in self._sources:
            there |= source.find(ids) >= 0
        return there

    def pending(self) -> Snapshot:
        """Return the state that `commit` would make now, to be read before it does.

        It may be read as long as this writer is open. What was given so far is written
        to files that no manifest names yet.
        """
        self._check_usable()
        if any(isinstance(s, Given) or s.changed for s in self._sources):
            sizes = [source.size for source in self._sources]
            with self._failing():
                state = self._prepared(policy.singles(sizes), compacts=False)
            self._begin_from(state)
        return Snapshot(self._disk, self._base, None, self._opened)

    def commit(self) -> int:
        """Make all of it the newest state, on the disk when this returns.

        Returns
        -------
        int
            The number of the manifest; the one before where nothing has changed.

        Raises
        ------
        OSError
            When the disk is full or fails. Rows can still be deleted where the space
            for a file of deletes is there: nothing is compacted then.
        """
        self._check_usable()
        if not self._changed():
            return self._newest.number
        sizes = [source.size for source in self._sources]
        return self._commit(policy.plan(sizes, self._full), policy.singles(sizes))

    def compact(self) -> int:
        """Commit, with as few segments as may be and no deleted rows."""
        self._check_usable()
        sizes = [source.size for source in self._sources]
        runs = policy.everything(sizes, self._full)
        is_whole = all(source.n_live == source.n_rows for source in self._sources)
        if not self._changed() and is_whole and len(runs) == len(self._sources):
            return self._newest.number
        return self._commit(runs, runs, whole=True)

    def rewrite(
        self,
        function: Callable[[Any], Any],
        *,
        ids: Any = None,
        schema: Any = None,
        n_bits: int | None = None,
        fingerprint: str | None = None,
    ) -> None:
        """Replace rows by what a function makes of them, see `Store.rewrite`.

        Where the columns stay and `ids` says which rows change, an Arrow array, only
        their segments are made anew.
        """
        base = self.pending().manifest
        target = replace(
            base,
            schema=base.schema if schema is None else schema,
            n_bits=base.n_bits if n_bits is None else check_count(n_bits, "n_bits"),
            fingerprint=base.fingerprint if fingerprint is None else fingerprint,
        )
        parts = self.parts
        if ids is not None and target == base:
            parts = [part for part in parts if (part.find(ids) >= 0).any()]
        self._begin_from(
            rewritten(self._disk, base, parts, function, target, self._full)
        )

    def tag(self, tags: Mapping[str, int]) -> None:
        """Name states that stay, with their numbers, in place of all that were named.

        The next commit makes a state of it; its own number, the next one, may be named.
        """
        self._check_usable()
        self._base = self._base.tagged(dict(tags))

    @property
    def parts(self) -> list[Part]:
        """The segments of the state that was committed last."""
        return list(parts_of(self._disk, self._base, self._opened))

    def keep_derived(self, part: Part, pieces: Iterable[Any] | None) -> bool:
        """Keep what was derived from the codes of a committed segment beside it.

        It is collected with the segment, and no state depends on it.

        Parameters
        ----------
        part : Part
            One of `parts`.
        pieces : iterable of bytes-like or None
            What `Part.derived` returns from now on, in place of what was kept before;
            None for nothing.

        Returns
        -------
        bool
            Whether it could be written.
        """
        self._check_usable()
        try:
            if pieces is None:
                remove_derived(self._disk, part.entry)
            else:
                write_derived(self._disk, part.entry, pieces)
        except OSError:
            return False
        return True

    def _begin(self) -> None:
        base = self._base
        self._sources: list[Source] = [Stored(part) for part in self.parts]
        self._next_row, self._next_id = base.next_row, base.next_id

    def _begin_from(self, state: Manifest) -> None:
        """Go on from a state that no manifest names."""
        self._base = replace(state, number=self._newest.number)
        # Open files know deleted rows by the number of a commit, which comes again.
        self._opened = WeakValueDictionary()
        self._begin()

    def _changed(self) -> bool:
        return (
            self._base is not self._newest
            or self._next_row != self._base.next_row
            or any(source.changed for source in self._sources)
        )

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

    def _conforming(self, table: Any) -> Any:
        self._check_usable()
        rows = conforming(typed_table(table), self._base.schema, self._base.n_bits)
        if self._next_row + len(rows) >= 1 << 62:
            raise ArgumentError("no sequence numbers are left")
        return rows

    def _numbered(self, n: int) -> Any:
        import pyarrow as pa

        if self._next_id + n - 1 > _LARGEST_ID:
            raise ArgumentError(
                f"row ids are exhausted: {self._next_id - 1} has been used; pass ids "
                "explicitly, in the column _id (on the command line by --id)"
            )
        return pa.array(np.arange(self._next_id, self._next_id + n, dtype=np.int64))

    def _may_repeat(self, ids: Any) -> bool:
        """Return whether an id may be there already, or twice among these."""
        if ids.type != "int64" or not len(ids):
            return len(ids) > 0
        keys = ids.to_numpy()
        return not (keys[0] >= self._next_id and bool((keys[1:] > keys[:-1]).all()))

    def _check_new(self, ids: Any) -> None:
        for source in self._sources:
            is_known = source.find(ids) >= 0
            if is_known.any():
                known = ids[int(np.argmax(is_known))].as_py()
                raise ArgumentError(
                    f"there is an item with id {known!r} already: upsert replaces it"
                )

    def _delete(self, ids: Any) -> int:
        return sum(source.delete(ids) for source in self._sources) if len(ids) else 0

    def _add(self, rows: Any, ids: Any) -> Any:
        import pyarrow as pa

        if not len(rows):
            return ids
        numbers = np.arange(self._next_row, self._next_row + len(rows))
        rest = {name: rows[name] for name in self._base.schema.names if name != ID}
        table = pa.table({ROW: pa.array(numbers), ID: ids, **rest})
        self._next_row += len(rows)
        if ids.type == "int64":
            self._next_id = max(self._next_id, int(ids.to_numpy().max()) + 1)
        step = max(1, int(len(table) * self._full / max(1, table.nbytes)))
        for start in range(0, len(table), step):
            self._gather(table.slice(start, step))
        return ids

    def _gather(self, table: Any) -> None:
        self._sources.append(Given(_owned(table)))
        while len(self._sources) > 1 and _are_joined(*self._sources[-2:]):
            self._sources[-2:] = [Given(living(self._sources[-2:]).combine_chunks())]
        waiting = [source for source in self._sources if isinstance(source, Given)]
        if sum(source.n_bytes for source in waiting) < self._full:
            return
        # Write the rows that wait, in no manifest yet.
        rows = living(waiting)
        written: list[Source] = []
        if len(rows):
            with self._failing():
                entry = self._write(rows)
            written.append(Stored(Part(self._disk, self._base, entry)))
        self._sources[-len(waiting) :] = written

    @contextlib.contextmanager
    def _failing(self) -> Iterator[None]:
        """Refuse all later calls when this fails: what was done is unknown."""
        try:
            yield
        except BaseException:
            self._failed = True
            raise

    def _write(self, table: Any) -> SegmentEntry:
        return write_segment(self._disk, self._base, table, new_token())

    def _commit(
        self,
        runs: list[policy.Run],
        fewest: list[policy.Run],
        *,
        whole: bool = False,
    ) -> int:
        """Commit, without compacting when the disk is full or a segment damaged."""
        if self._is_durable:  # which left what the state before it needed
            with contextlib.suppress(OSError):
                self._collect()
        try:
            manifest = self._prepared(runs, compacts=True, whole=whole)
        except (OSError, ArtefactError) as error:
            if whole or not _is_avoidable(error):
                raise
            self._collect()
            manifest = self._prepared(fewest, compacts=False)
        self._publish(manifest)
        return manifest.number

    def _publish(self, manifest: Manifest) -> None:
        with self._failing():
            publish(self._disk, manifest)
        self._newest = self._base = manifest
        self._is_durable = True
        self._begin()

    def _collect(self) -> None:
        """Remove what is neither new, nor of a state that is the newest or read."""
        newest = newest_manifest(self._disk) if self._failed else self._newest
        durable = self._is_durable and not self._failed
        entries = [s.part.entry for s in self._sources if isinstance(s, Stored)]
        new = {name for e in entries for name in (*e.names(), e.name("ids"))}
        collect(self._disk, newest, new, is_durable=durable)

    def _prepared(
        self, runs: list[policy.Run], *, compacts: bool, whole: bool = False
    ) -> Manifest:
        """Write what the next state needs, and return it."""
        segments = []
        for run in runs:
            sources = self._sources[run.start : run.stop]
            alive = [source for source in sources if source.n_live]
            if len(alive) == 1 and self._stays(alive[0], compacts, whole):
                segments.append(self._kept(alive[0]))
            else:
                segments.append(self._write(living(alive)))
        return self._base.following(
            tuple(segments), next_row=self._next_row, next_id=self._next_id
        )

    def _stays(self, source: "Source", compacts: bool, whole: bool) -> bool:
        if isinstance(source, Given):
            return False
        is_cleared = whole and source.n_live < source.n_rows
        return not (compacts and (source.size.is_half_dead or is_cleared))

    def _kept(self, source: "Source") -> SegmentEntry:
        assert isinstance(source, Stored)
        entry = source.part.entry
        if not source.changed:
            return entry
        # There may be one of `pending`, or of a commit that found the disk full.
        with contextlib.suppress(FileNotFoundError):
            name = replace(entry, deletes=self._base.number + 1).name("del")
            self._disk.remove(name)
        return write_deletes(self._disk, entry, self._base.number + 1, source.deletes)


def _ids_of(rows: Any) -> Any:
    """Return ids as one array, none of which is negative."""
    ids = one_chunk(rows[ID])
    if ids.type == "int64" and len(ids) and (lowest := int(ids.to_numpy().min())) < 0:
        raise ArgumentError(f"ids must lie between 0 and 2**63 - 1, got {lowest}")
    return ids


def _is_avoidable(error: Exception) -> bool:
    """Return whether a commit may succeed without compacting."""
    full = (errno.ENOSPC, errno.EDQUOT)
    return isinstance(error, ArtefactError) or getattr(error, "errno", None) in full


class Source(ABC):
    """Rows with ids, of which some are deleted: of a segment, or given since."""

    def __init__(self, n_rows: int, n_live: int, n_bytes: int) -> None:
        self.n_rows, self.n_live, self.n_bytes = n_rows, n_live, n_bytes
        self.changed = False  # True where rows were deleted from it

    @cached_property
    def deletes(self) -> Deletes:
        """Which rows are deleted."""
        return Deletes.none(self.n_rows)

    @abstractmethod
    def rows(self) -> Any:
        """Return all rows as a table, deleted ones included."""

    @abstractmethod
    def positions(self, ids: Any) -> IdArray:
        """Return the positions of ids, -1 where they are not, deleted rows included."""

    @property
    def size(self) -> policy.Size:
        return policy.Size(self.n_rows, self.n_live, self.n_bytes)

    def find(self, ids: Any) -> IdArray:
        """Return the positions of ids, -1 where they are not or are deleted."""
        if not self.n_live:
            return np.full(len(ids), -1, np.int64)
        positions = self.positions(ids)
        hits = np.flatnonzero(positions >= 0)
        positions[hits[self.deletes.has(positions[hits])]] = -1
        return positions

    def delete(self, ids: Any) -> int:
        """Delete rows by their ids and return how many there were."""
        positions = np.unique(self.find(ids))
        positions = positions[positions >= 0]
        if len(positions):
            self.deletes = self.deletes.adding(positions)
            self.n_live -= len(positions)
            self.changed = True
        return len(positions)

    def living(self) -> Any:
        """Return the rows that are not deleted."""
        import pyarrow as pa

        live = self.deletes.live
        return self.rows() if live is None else self.rows().filter(pa.array(live))


class Stored(Source):
    """Rows of a segment on the disk, and what was deleted from it since."""

    def __init__(self, part: Part) -> None:
        super().__init__(part.n_rows, part.n_live, part.entry.n_bytes)
        self.part = part

    @cached_property
    def deletes(self) -> Deletes:
        return self.part.deletes

    def rows(self) -> Any:
        return self.part.whole()

    def positions(self, ids: Any) -> IdArray:
        return self.part.look_up(ids)


class Given(Source):
    """Rows that were given and are in no file yet.

    The table has sequence numbers and ids, each id once.
    """

    def __init__(self, table: Any) -> None:
        super().__init__(len(table), len(table), table.nbytes)
        self._table = table

    def rows(self) -> Any:
        return self._table

    @cached_property
    def _ids(self) -> Any:
        return one_chunk(self._table[ID])

    @cached_property
    def _index(self) -> IdIndex:
        return IdIndex.of(keys_of(self._ids))

    def positions(self, ids: Any) -> IdArray:
        def same(positions: IdArray, wanted: IdArray) -> NDArray[np.bool_]:
            return equal_texts(self._ids.take(positions), ids, wanted)

        is_number = ids.type == "int64"
        return self._index.find(keys_of(ids), None if is_number else same)


def _owned(table: Any) -> Any:
    """Return a table whose memory cannot change before it is written."""

    def changes(column: Any) -> bool:
        buffers = [each for chunk in column.chunks for each in chunk.buffers()]
        return any(each is not None and each.is_mutable for each in buffers)

    names = [name for name in table.column_names if changes(table[name])]
    if names:
        own = own_table(table.select(names))
        for name in names:
            at = table.column_names.index(name)
            table = table.set_column(at, table.schema.field(at), own[name])
    return table


def _are_joined(before: Source, last: Source) -> bool:
    """Return whether two tables that wait become one: both have few rows."""
    both = isinstance(before, Given) and isinstance(last, Given)
    return both and before.n_rows < _FEW and before.n_rows < 2 * last.n_rows


def living(sources: Iterable[Source]) -> Any:
    """Return the rows that are not deleted as one table."""
    return _joined([source.living() for source in sources])


def _joined(tables: list[Any]) -> Any:
    import pyarrow as pa

    # Categories of one column may differ between segments.
    return pa.concat_tables(tables).unify_dictionaries()


def rewritten(
    disk: Disk,
    base: Manifest,
    parts: list[Part],
    change: Callable[[Any], Any],
    target: Manifest,
    full: int,
) -> Manifest:
    """Write live rows of parts as a function makes them, and return the new state.

    `change` makes a table one with as many rows and, if any, the same ids; `target` is
    the state before, with the new schema, width and fingerprint; a segment has at most
    `full` bytes.
    """
    schema = checked_schema(target.schema, target.n_bits)
    if schema.field(ID).type != base.schema.field(ID).type:
        raise ArgumentError("ids keep their type when rows are made anew")
    target = replace(target, schema=schema)
    segments: list[SegmentEntry] = []
    waiting: list[Any] = []

    def write() -> None:
        if waiting:
            table = _joined(waiting)
            segments.append(write_segment(disk, target, table, new_token()))
            waiting.clear()

    changing = {part.entry: part for part in parts}
    for entry in base.segments:
        if entry not in changing:
            write()
            segments.append(entry)
            continue
        for table in _batches(changing[entry]):
            rows = _changed(table, change, target)
            if sum(each.nbytes for each in waiting) + rows.nbytes > full:
                write()
            waiting.append(rows)
    write()
    return target.following(tuple(segments))


def _batches(part: Part) -> Iterator[Any]:
    import pyarrow as pa

    whole, positions = part.whole(), part.live_positions()
    for start in range(0, len(positions), _BATCH):
        yield whole.take(pa.array(positions[start : start + _BATCH]))


def _changed(table: Any, change: Callable[[Any], Any], target: Manifest) -> Any:
    import pyarrow as pa

    changed = change(table.drop_columns(ROW))
    if len(changed) != len(table):
        raise ArgumentError(f"{len(table)} rows became {len(changed)}: they must stay")
    rows = conforming(changed, target.schema, target.n_bits)
    if ID in rows.column_names and not rows[ID].equals(table[ID]):
        raise ArgumentError("ids must stay as they are, in the same order")
    columns = {name: rows[name] for name in target.schema.names if name != ID}
    return pa.table({ROW: table[ROW], ID: table[ID], **columns})

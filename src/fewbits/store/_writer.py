"""The one who may change a collection."""

import contextlib
import errno
from collections.abc import Iterable, Iterator
from types import TracebackType
from typing import Any, Self

import numpy as np

from fewbits._arrow import typed_table
from fewbits.errors import ArgumentError, ArtefactError, FewbitsError
from fewbits.store import _compact as policy
from fewbits.store._compact import Group
from fewbits.store._deletes import write_deletes
from fewbits.store._derived import remove_derived, write_derived
from fewbits.store._disk import Disk
from fewbits.store._given_ids import as_ids, check_once, checked_ids
from fewbits.store._lock import FileLock
from fewbits.store._manifest import Manifest, SegmentEntry, newest_manifest
from fewbits.store._names import new_token
from fewbits.store._publish import collect, publish
from fewbits.store._schema import ID, ROW, conforming
from fewbits.store._segment import SegmentFiles
from fewbits.store._snapshot import Part
from fewbits.store._sources import (
    Given,
    Source,
    Stored,
    are_joined,
    joined,
    living,
    owned,
)

#: Bytes of the largest segment that is made, and of the rows that a writer gathers.
FULL = 1 << 28
_LARGEST_ID = (1 << 63) - 1


class Writer:
    """Adds and deletes rows; nothing of it is there before `commit`.

    Made by `Store.writer`, used in a ``with`` block.

    Parameters
    ----------
    disk : Disk
    lock : FileLock
        Of the whole store.
    full : int
        Bytes of the largest segment that is made.
    """

    def __init__(self, disk: Disk, lock: FileLock, full: int = FULL) -> None:
        self._disk, self._lock, self._full = disk, lock, full
        self._base = newest_manifest(disk)
        self._failed = False
        collect(disk, self._base)
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
            if self._lock.is_own and self._fresh:
                with contextlib.suppress(OSError):
                    collect(self._disk, self._base)
        finally:
            self._lock.release()

    @property
    def manifest(self) -> Manifest:
        """The state that was committed last."""
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
        ids = checked_ids(rows[ID].combine_chunks())
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
        ids = checked_ids(rows[ID].combine_chunks())
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
        return self._delete(as_ids(ids, self._id_type))

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
            return self._base.number
        sizes = [source.size for source in self._sources]
        return self._commit(policy.plan(sizes, self._full), policy.singles(sizes))

    def compact(self) -> int:
        """Commit, with as few segments as may be and no deleted rows."""
        self._check_usable()
        sizes = [source.size for source in self._sources]
        groups = policy.everything(sizes, self._full)
        if not self._changed() and self._is_compact(groups):
            return self._base.number
        return self._commit(groups, groups, whole=True)

    @property
    def parts(self) -> list[Part]:
        """The segments of the state that was committed last."""
        return [Part(self._disk, self._base, entry) for entry in self._base.segments]

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

    def _is_compact(self, groups: list[Group]) -> bool:
        is_whole = all(source.live is None for source in self._sources)
        return is_whole and len(groups) == len(self._sources)

    def _begin(self, sources: Iterable[Source] | None = None) -> None:
        base = self._base
        if sources is None:
            sources = [Stored(Part(self._disk, base, e)) for e in base.segments]
        self._sources: list[Source] = list(sources)
        self._fresh: set[str] = set()  # tokens of segments in no manifest
        self._next_row, self._next_id = base.next_row, base.next_id

    @property
    def _id_type(self) -> Any:
        return self._base.schema.field(ID).type

    def _changed(self) -> bool:
        return any(s.changed for s in self._sources) or (
            self._next_row != self._base.next_row
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
            places = source.find(ids)
            if (places >= 0).any():
                known = ids[int(np.argmax(places >= 0))].as_py()
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
        given = {name: rows[name] for name in self._base.schema.names if name != ID}
        table = pa.table({ROW: pa.array(numbers), ID: ids, **given})
        self._next_row += len(rows)
        if ids.type == "int64":
            self._next_id = max(self._next_id, int(ids.to_numpy().max()) + 1)
        step = max(1, int(len(table) * self._full / max(1, table.nbytes)))
        for start in range(0, len(table), step):
            self._gather(table.slice(start, step))
        return ids

    def _gather(self, table: Any) -> None:
        self._sources.append(Given(owned(table)))
        while len(self._sources) > 1 and are_joined(*self._sources[-2:]):
            self._sources[-2:] = [joined(self._sources[-2:])]
        waiting = [s for s in self._sources if isinstance(s, Given)]
        if sum(source.n_bytes for source in waiting) >= self._full:
            self._flush(waiting)

    def _flush(self, waiting: list[Given]) -> None:
        """Write the rows that wait, in no manifest yet."""
        table = living(waiting)
        written: list[Source] = []
        if len(table):
            with self._failing():
                entry = self._write(table)
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
        token = new_token()
        self._fresh.add(token)
        return SegmentFiles(self._disk, self._base).write(table, token)

    def _commit(
        self, groups: list[Group], fewest: list[Group], *, whole: bool = False
    ) -> int:
        """Commit, without compacting when the disk is full or a segment damaged."""
        try:
            manifest = self._prepared(groups, compacts=True, whole=whole)
        except (OSError, ArtefactError) as error:
            if whole or not _is_avoidable(error):
                raise
            collect(self._disk, self._base)
            manifest = self._prepared(fewest, compacts=False)
        with self._failing():
            publish(self._disk, manifest)
        parts = {s.part.entry: s for s in self._sources if isinstance(s, Stored)}
        self._base = manifest
        self._begin(
            parts.get(entry) or Stored(Part(self._disk, manifest, entry))
            for entry in manifest.segments
        )
        with contextlib.suppress(OSError):
            collect(self._disk, manifest, is_durable=True)
        return manifest.number

    def _prepared(
        self, groups: list[Group], *, compacts: bool, whole: bool = False
    ) -> Manifest:
        """Write what the next state needs, and return it."""
        segments = []
        for group in groups:
            sources = self._sources[group.start : group.stop]
            alive = [source for source in sources if source.n_live]
            if len(alive) == 1 and self._stays(alive[0], compacts, whole):
                segments.append(self._kept(alive[0]))
            else:
                segments.append(self._write(living(alive)))
        return self._base.following(
            tuple(segments), next_row=self._next_row, next_id=self._next_id
        )

    def _stays(self, source: Source, compacts: bool, whole: bool) -> bool:
        if isinstance(source, Given):
            return False
        wanted = whole and source.live is not None
        return not (compacts and (source.size.is_half_dead or wanted))

    def _kept(self, source: Source) -> SegmentEntry:
        from dataclasses import replace

        assert isinstance(source, Stored)
        entry = source.part.entry
        if not source.changed or source.live is None:
            return entry
        number = self._base.number + 1
        write_deletes(self._disk, entry.token, number, source.live)
        return replace(entry, n_live=source.n_live, deletes=number)


def _is_avoidable(error: Exception) -> bool:
    """Return whether a commit may succeed without compacting."""
    full = (errno.ENOSPC, errno.EDQUOT)
    return isinstance(error, ArtefactError) or getattr(error, "errno", None) in full

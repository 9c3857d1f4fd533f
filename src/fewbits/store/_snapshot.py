"""One state of a collection, which no writer takes away while it is held."""

import contextlib
from collections.abc import Mapping, Sequence
from functools import cached_property
from types import MappingProxyType
from typing import Any, NamedTuple, Self, TypeAlias
from weakref import WeakValueDictionary

import numpy as np
from numpy.typing import NDArray

from fewbits._repr import one_line
from fewbits._typing import CodeArray, IdArray
from fewbits.errors import ArgumentError, ArtefactError
from fewbits.store._deletes import Deletes, read_deletes
from fewbits.store._disk import Disk
from fewbits.store._ids import IdIndex, equal_texts, keys_of
from fewbits.store._lock import FileLock
from fewbits.store._manifest import Manifest, SegmentEntry
from fewbits.store._schema import (
    BLOCKS,
    CODE,
    CORRECTION,
    ID,
    OF_VECTORS,
    RESERVED,
    ROW,
    VECTOR,
)
from fewbits.store._segment import (
    ArrowFile,
    OpenFiles,
    has_index,
    open_file,
    read_derived,
    read_index,
    read_sums,
)
from fewbits.store._updates import (
    POSITION,
    Update,
    read_update,
    taken_in,
    updated_column,
    with_updates,
    write_update,
)

_MANY = 64  # rows for each that is asked for: where there are fewer, all are read


class Int8Parts(NamedTuple):
    """Vectors of one byte a number: values (n, d) and blocks (n, m, 2) of float32."""

    values: NDArray[np.int8]
    blocks: NDArray[np.float32]

    def __repr__(self) -> str:
        return one_line(self)


#: Segments that are open, by their tokens, which name the same files for ever.
Opened: TypeAlias = WeakValueDictionary[str, OpenFiles]


class Part:
    """The rows of one segment, as they are in one state of the collection.

    Files are opened when something in them is asked for, and checked before. A position
    counts the rows, deleted ones included.

    Attributes
    ----------
    entry : SegmentEntry
        Facts of the manifest; its `token` names the rows for ever.
    n_rows, n_live : int
        Numbers of rows, deleted ones included, and of those that are not.
    """

    def __init__(
        self,
        disk: Disk,
        manifest: Manifest,
        entry: SegmentEntry,
        files: OpenFiles | None = None,
        edits: Mapping[str, Sequence[Update]] = MappingProxyType({}),
    ) -> None:
        self._disk, self._manifest, self.entry = disk, manifest, entry
        self.n_rows, self.n_live = entry.n_rows, entry.n_live
        self.files, self._edits = files or OpenFiles(), edits
        self._columns: dict[str, Any] = {}  # after updates
        self._read_updates: dict[str, Update] = {}

    def __repr__(self) -> str:
        return f"Part({self.n_rows:,} rows, {self.n_live:,} live)"

    def _file(self, kind: str) -> ArrowFile:
        """Return the file of rows, ``"seg"``, or of vectors, ``"vec"``, open."""
        files = self.files
        if kind not in files.arrow:
            if files.sums is None:
                files.sums = read_sums(self._disk, self.entry)
            files.arrow[kind] = open_file(
                self._disk, self._manifest, self.entry, kind, files.sums[kind]
            )
        return files.arrow[kind]

    # Deleted rows.

    @cached_property
    def deletes(self) -> Deletes:
        """Which rows are deleted."""
        return read_deletes(self._disk, self.entry)

    @cached_property
    def live(self) -> NDArray[np.bool_] | None:
        """Mask of the rows that are not deleted, or None when all are there."""
        return self.deletes.live if self.entry.has_deletes else None

    def live_positions(self) -> IdArray:
        """Return the positions of the rows that are not deleted."""
        return (
            np.arange(self.n_rows) if self.live is None else np.flatnonzero(self.live)
        )

    # Codes, columns and vectors.

    @cached_property
    def codes(self) -> CodeArray:
        """Codes (n_rows, n_bytes), a read-only view of the mapped file."""
        return self._bytes_of(CODE)

    @cached_property
    def corrections(self) -> CodeArray | None:
        """Corrections (n_rows, 2), a read-only view; None where none are kept."""
        if CORRECTION not in self._manifest.schema.names:
            return None
        return self._bytes_of(CORRECTION)

    def _bytes_of(self, name: str) -> CodeArray:
        file = self._file("seg")
        file.column(name)  # which checks it
        _, matrix = file.matrix(name)
        return matrix

    @property
    def ids(self) -> Any:
        """Ids, an Arrow array of int64 or large_string."""
        return self._file("seg").column(ID)

    def ids_at(self, positions: IdArray) -> NDArray[Any]:
        """Return the ids at some positions, int64, or objects that are texts."""
        if self.entry.id_range is not None:
            return self._file("seg").numbers(ID, positions)
        texts = self._file("seg").take([ID], positions).column(0).to_pylist()
        return np.fromiter(texts, object, len(texts))

    def table(self, names: list[str] | None = None) -> Any:
        """Return the user's columns, or some of them, as a mapped Arrow table.

        Raises
        ------
        ArgumentError
            When there is no such column.
        """
        import pyarrow as pa

        schema = self._manifest.schema
        columns = [name for name in schema.names if name not in RESERVED]
        names = columns if names is None else names
        if unknown := [name for name in names if name not in columns]:
            raise ArgumentError(f"the collection has no column {unknown[0]!r}")
        if not names:
            # The length of a table without columns is lost unless it comes from one.
            return pa.table({ID: self._file("seg").batch.column(ID)}).select([])
        arrays = [self._column(name) for name in names]
        return pa.table(arrays, schema=pa.schema([schema.field(n) for n in names]))

    def take(self, names: Sequence[str], positions: IdArray) -> Any:
        """Return some rows of some columns, which may repeat, as an Arrow table.

        Of most types, only the blocks in which these rows lie are read and checked.

        Parameters
        ----------
        names : sequence of str
            The user's columns, or ``_id``.
        positions : ndarray of int64
        """
        import pyarrow as pa

        if not names:
            return pa.table({ID: pa.array(positions)}).select([])
        absent = self.entry.absent
        batch = self._file("seg").take([x for x in names if x not in absent], positions)
        if not (absent or self.entry.updates or self._edits):
            return pa.Table.from_batches([batch])
        schema, columns = self._manifest.schema, []
        for name in names:
            if name in absent:
                values = pa.nulls(len(positions), schema.field(name).type)
            else:
                values = batch.column(name)
            updates = self._updates(name)
            columns.append(with_updates(values, positions.astype("u4"), name, updates))
        return pa.table(columns, schema=pa.schema([schema.field(n) for n in names]))

    def whole(self) -> Any:
        """Return all columns, rows (`_row`) and vectors included."""
        import pyarrow as pa

        columns = {ROW: pa.array(self.row_numbers)}
        for name in self._manifest.schema.names:
            if name in OF_VECTORS:
                columns[name] = self._file("vec").column(name)
            else:
                columns[name] = self._column(name)
        return pa.table(columns)

    def _column(self, name: str) -> Any:
        """Return a column of rows, as it is after updates, after checking all of it."""
        import pyarrow as pa

        if name not in self._columns:
            if name in self.entry.absent:
                kind = self._manifest.schema.field(name).type
                column = pa.nulls(self.n_rows, kind)
            else:
                column = self._file("seg").column(name)
            updates = self._updates(name)
            self._columns[name] = (
                updated_column(column, name, updates) if updates else column
            )
        return self._columns[name]

    def _updates(self, name: str) -> list[Update]:
        """Return what has changed in a column since the segment was written."""
        entries = self.entry.updates
        places = [i for i, each in enumerate(entries) if name in each.columns]
        return [*map(self._update, places), *self._edits.get(name, ())]

    def _update(self, place: int) -> Update:
        """Return the update of one place, from its file where it is not read yet."""
        entry = self.entry.updates[place]
        update = self._read_updates.get(entry.token)
        if update is None:
            update = self.files.updates.get(entry.token)
        if update is None:
            update = read_update(self._disk, self._manifest, self.entry, entry)
            self.files.updates[entry.token] = update
        self._read_updates[entry.token] = update  # which the others hold weakly
        return update

    def edited(self, edits: Mapping[str, Sequence[Update]]) -> "Part":
        """Return these rows after updates of columns that are in no file yet."""
        return Part(self._disk, self._manifest, self.entry, self.files, edits)

    def written(self, edits: Mapping[str, Sequence[Update]]) -> SegmentEntry:
        """Write updates of columns to a file, and return the segment with it."""
        import pyarrow as pa

        updates = [each for of_column in edits.values() for each in of_column]
        positions = [update.positions for update in updates]
        names = {*edits}
        n_rows = len(np.unique(np.concatenate(positions)))
        stay = taken_in(self.entry, n_rows)
        for place in range(stay, len(self.entry.updates)):
            update = self._update(place)
            positions.append(update.positions)
            names |= {*update.values}
        merged = np.unique(np.concatenate(positions))
        columns = [name for name in self._manifest.schema.names if name in names]
        table = self.edited(edits).take(columns, merged.astype(np.int64))
        table = table.add_column(0, POSITION, pa.array(merged))
        return write_update(self._disk, self.entry, self._manifest.schema, table, stay)

    @cached_property
    def vectors(self) -> NDArray[Any] | Int8Parts | None:
        """Vectors, a view of the map, or None where none are kept.

        Call `check_vectors` before reading rows of it: this checks nothing.
        """
        if self.entry.vectors is None:
            return None
        file = self._file("vec")
        _, values = file.matrix(VECTOR)
        if BLOCKS not in self._manifest.schema.names:
            return values
        _, blocks = file.matrix(BLOCKS)
        return Int8Parts(values, blocks.reshape(self.n_rows, -1, 2))

    def check_vectors(self, positions: Any = None) -> None:
        """Check the blocks in which the vectors at some positions lie, None for all.

        Raises
        ------
        ArtefactError
            When one differs from what was written.
        """
        if self.entry.vectors is None:
            return
        file = self._file("vec")
        for name in (VECTOR, BLOCKS):
            if name not in self._manifest.schema.names:
                continue
            if positions is None:
                file.column(name)
                continue
            start, values = file.matrix(name)
            size = values.shape[1] * values.itemsize
            starts = np.asarray(positions, np.int64).ravel() * size
            file.check_spans(start + starts, size)

    # Permanent numbers of the rows.

    @property
    def rows(self) -> range | IdArray:
        """Permanent numbers of the rows, a range where they count on from the first."""
        entry = self.entry
        return (
            range(entry.first, entry.last + 1) if entry.is_dense else self.row_numbers
        )

    @property
    def row_numbers(self) -> IdArray:
        """Permanent numbers of the rows, rising within and between parts."""
        if self.files.row_numbers is None:
            if not self.entry.has_rows:
                numbers = np.arange(self.entry.first, self.entry.last + 1)
            else:
                file = self._file("seg")
                numbers = file.column(ROW).to_numpy()
                if (numbers[1:] <= numbers[:-1]).any():
                    raise ArtefactError(
                        f"{file.path} is damaged: its rows are not in order"
                    )
            self.files.row_numbers = numbers
        return self.files.row_numbers

    def rows_at(self, positions: IdArray) -> IdArray:
        """Return the permanent numbers of the rows at some positions."""
        if self.entry.is_dense:
            return self.entry.first + positions
        if self.files.row_numbers is not None:
            return self.files.row_numbers[positions]
        return self._file("seg").numbers(ROW, positions)

    def positions_of(self, rows: IdArray) -> IdArray:
        """Return the positions of rows of this part by their permanent numbers."""
        if self.entry.is_dense:
            return rows - self.entry.first
        if self.files.row_numbers is None and len(rows) * _MANY < self.n_rows:
            return self._file("seg").search(ROW, rows)
        return np.searchsorted(self.row_numbers, rows)

    # Rows by their ids.

    def find(self, ids: Any) -> IdArray:
        """Return the positions of ids, -1 where they are not or are deleted.

        Parameters
        ----------
        ids : pyarrow.Array
            Of the type of `ids`.
        """
        positions = self.look_up(ids)
        hits = np.flatnonzero(positions >= 0)
        if len(hits) and self.entry.has_deletes:
            positions[hits[self.deletes.has(positions[hits])]] = -1
        return positions

    def look_up(self, ids: Any) -> IdArray:
        """Return the positions of ids, -1 where they never were; see `find`."""
        entry, keys = self.entry, keys_of(ids)
        if entry.id_range is None:
            return self._among_sorted(keys, ids)
        low, high = entry.id_range
        near = np.flatnonzero((keys >= low) & (keys <= high))
        positions = np.full(len(keys), -1, np.int64)
        if len(near) and entry.ids_rise and len(near) * _MANY < self.n_rows:
            positions[near] = self._file("seg").search(ID, keys[near])
        elif len(near):
            positions[near] = self._among_sorted(keys[near], None)
        return positions

    def _among_sorted(self, keys: NDArray[Any], ids: Any) -> IdArray:
        """Look up the keys of some ids, None where ids are numbers: their own keys."""

        def same(positions: IdArray, numbers: IdArray) -> NDArray[np.bool_]:
            import pyarrow as pa

            if len(positions) * _MANY < self.n_rows:
                texts = self._file("seg").take([ID], positions).column(0)
            else:
                texts = self.ids.take(pa.array(positions))
            return equal_texts(texts, ids, numbers)

        compare = None if ids is None else same
        if self.files.ids is None and has_index(self.entry):
            with contextlib.suppress(ArtefactError, OSError):
                self.files.ids = read_index(self._disk, self.entry)
        if self.files.ids is not None:
            with contextlib.suppress(ArtefactError, OSError):
                return self.files.ids.find(keys, compare)
        # Whatever the matter with that file is, the ids themselves are there.
        here = keys_of(self.ids)
        if self.entry.ids_rise:
            self.files.ids = IdIndex(here, np.arange(len(here), dtype=np.uint32))
        else:
            self.files.ids = IdIndex.of(here)
        return self.files.ids.find(keys, compare)

    # What is derived from codes.

    @property
    def has_derived(self) -> bool:
        """True if something that was derived from the codes is kept, or seems to be."""
        try:
            return self._disk.size(self.entry.name("mih")) > 0
        except OSError:
            return False

    def derived(self) -> memoryview | None:
        """Return what `Writer.keep_derived` has kept, None if it is not as it was."""
        with contextlib.suppress(ArtefactError, OSError):
            return read_derived(self._disk, self.entry)
        return None


def parts_of(disk: Disk, manifest: Manifest, opened: Opened) -> tuple[Part, ...]:
    """Return the parts of a state, over files that are open already where they are."""
    return tuple(
        Part(disk, manifest, entry, opened.setdefault(entry.token, OpenFiles()))
        for entry in manifest.segments
    )


class Snapshot:
    """One state of a collection. `close` it, or let it be garbage-collected.

    Attributes
    ----------
    manifest : Manifest
        Facts of the state: its segments and their files.
    number, n_live, n_bits : int
        Of the manifest, of rows that are not deleted, and of the bits of a code.
    schema : pyarrow.Schema
        Of the rows as they are given, ids, codes and vectors included.
    fingerprint : str
        Of the encoder that the codes are from.
    """

    def __init__(
        self, disk: Disk, manifest: Manifest, lock: FileLock | None, opened: Opened
    ) -> None:
        self.manifest = manifest
        self.number, self.n_live = manifest.number, manifest.n_live
        self.schema, self.n_bits = manifest.schema, manifest.n_bits
        self.fingerprint = manifest.fingerprint
        self._lock = lock  # keeps the files from being removed; None for a writer
        self.parts = parts_of(disk, manifest, opened)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"Snapshot({self.number}: {self.n_live:,} rows)"

    def close(self) -> None:
        """Let writers remove the files; what is mapped already stays readable."""
        if self._lock is not None:
            self._lock.release()

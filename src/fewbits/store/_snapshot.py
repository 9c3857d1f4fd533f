"""One state of a collection, which no writer takes away while it is held."""

from __future__ import annotations

import contextlib
from collections.abc import Mapping, Sequence
from functools import cached_property
from types import MappingProxyType
from typing import Any, NamedTuple, Self, TypeAlias
from weakref import WeakValueDictionary

import numpy as np
from numpy.typing import NDArray

from fewbits._repr import short_repr
from fewbits._typing import CodeArray, IdArray
from fewbits.errors import ArgumentError, ArtefactError
from fewbits.store._deletes import Deletes, read_deletes
from fewbits.store._disk import Disk
from fewbits.store._ids import IdIndex, equal_texts, keys_of
from fewbits.store._lock import FileLock
from fewbits.store._manifest import REPAIR, Manifest, SegmentEntry
from fewbits.store._schema import (
    BLOCKS,
    CODE,
    CORRECTION,
    ID,
    RESERVED,
    ROW,
    VECTOR,
    VECTOR_COLUMNS,
)
from fewbits.store._segment import (
    ArrowFile,
    SegmentFiles,
    file_schema,
    has_index,
    read_derived,
    read_index,
    read_sums,
)
from fewbits.store._updates import (
    Update,
    read_update,
    updated_column,
    with_updates,
)

_MANY = 64  # rows for each that is asked for: where there are fewer, all are read


class Int8Parts(NamedTuple):
    """Vectors of one byte a number: values (n, d) and blocks (n, m, 2) of float32."""

    values: NDArray[np.int8]
    blocks: NDArray[np.float32]

    def __repr__(self) -> str:
        return short_repr(self)


#: Segments that are open, by their tokens, which name the same files for ever.
FileCache: TypeAlias = WeakValueDictionary[str, SegmentFiles]


class Segment:
    """The rows of one segment, as they are in one state of the collection.

    A file is opened at its first read. Blocks are checked as they are read; those of
    `vectors` by `check_vectors` alone. A position counts the rows, deleted ones
    included.

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
        files: SegmentFiles | None = None,
        edits: Mapping[str, Sequence[Update]] = MappingProxyType({}),
    ) -> None:
        self._disk, self.manifest, self.entry = disk, manifest, entry
        self.schema = manifest.schema
        self.n_rows, self.n_live = entry.n_rows, entry.n_live
        self.files, self._edits = files or SegmentFiles(), edits
        self._columns: dict[str, Any] = {}  # after updates
        self._read_updates: dict[str, Update] = {}

    def __repr__(self) -> str:
        return f"Segment({self.n_rows:,} rows, {self.n_live:,} live)"

    def _file(self, kind: str) -> ArrowFile:
        """Return the file of rows, ``"seg"``, or of vectors, ``"vec"``, open."""
        files, entry = self.files, self.entry
        if kind in files.arrow:
            return files.arrow[kind]
        if files.sums is None:
            files.sums = read_sums(self._disk, entry)
        sums, path = files.sums[kind], self._disk.folder / entry.name(kind)
        try:
            data = self._disk.map(path.name)
        except FileNotFoundError:
            raise ArtefactError(f"{path} is missing; {REPAIR}") from None
        if len(data) != sums.n_bytes:
            raise ArtefactError(
                f"{path} is damaged: {len(data):,} bytes long instead of "
                f"{sums.n_bytes:,}; {REPAIR}"
            )
        schema = self.manifest.stored_schema(entry)
        schema = file_schema(self.manifest, kind, entry.has_rows, schema)
        file = ArrowFile(data, sums, schema, entry.n_rows, str(path))
        return files.arrow.setdefault(kind, file)

    # Deleted rows.

    @cached_property
    def deletes(self) -> Deletes:
        """Which rows are deleted."""
        return read_deletes(self._disk, self.entry)

    @cached_property
    def live(self) -> NDArray[np.bool_] | None:
        """Mask of the rows that are not deleted, or None when all are there."""
        return self.deletes.live if self.n_live < self.n_rows else None

    # Codes, columns and vectors.

    @cached_property
    def codes(self) -> CodeArray:
        """Codes (n_rows, n_bytes), a read-only view of the mapped file."""
        return self._bytes_of(CODE)

    @cached_property
    def corrections(self) -> CodeArray | None:
        """Corrections (n_rows, 2), a read-only view; None where none are kept."""
        if CORRECTION not in self.schema.names:
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
        """Return the user's columns, or some of them, as a mapped Arrow table."""
        import pyarrow as pa

        schema = self.schema
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
        """Return rows, which may repeat, of the user's columns or ``_id``, as a table.

        Of most types, only the blocks in which these rows lie are read and checked.
        """
        import pyarrow as pa

        if not names:
            return pa.table({ID: pa.array(positions)}).select([])
        absent = self.entry.absent
        batch = self._file("seg").take([x for x in names if x not in absent], positions)
        if not (absent or self.entry.updates or self._edits):
            return pa.Table.from_batches([batch])
        places, columns = positions.astype(np.uint32), []
        fields = [self.schema.field(name) for name in names]
        for name, kind in ((field.name, field.type) for field in fields):
            is_absent = name in absent
            values = pa.nulls(len(places), kind) if is_absent else batch.column(name)
            columns.append(with_updates(values, places, name, self._updates(name)))
        return pa.table(columns, schema=pa.schema(fields))

    def whole(self) -> Any:
        """Return all columns, rows (`_row`) and vectors included."""
        import pyarrow as pa

        columns = {name: self._column(name) for name in self.schema.names}
        return pa.table({ROW: pa.array(self.row_numbers), **columns})

    def _column(self, name: str) -> Any:
        """Return a column, as it is after updates, after checking all of it."""
        import pyarrow as pa

        column = self._columns.get(name)
        if column is None:
            if name in self.entry.absent:
                column = pa.nulls(self.n_rows, self.schema.field(name).type)
            else:
                kind = "vec" if name in VECTOR_COLUMNS else "seg"
                column = self._file(kind).column(name)
            if updates := self._updates(name):
                column = updated_column(column, name, updates)
            self._columns[name] = column
        return column

    def _updates(self, name: str) -> list[Update]:
        """Return what has changed in a column since the segment was written."""
        entries = self.entry.updates
        indices = [i for i, entry in enumerate(entries) if name in entry.columns]
        return [*map(self.stored_update, indices), *self._edits.get(name, ())]

    def stored_update(self, index: int) -> Update:
        """Return one of the updates that are in files."""
        entry = self.entry.updates[index]
        if entry.token not in self._read_updates:
            update = self.files.updates.get(entry.token)
            if update is None:
                update = read_update(self._disk, self.manifest, self.entry, entry)
                self.files.updates[entry.token] = update
            self._read_updates[entry.token] = update
        return self._read_updates[entry.token]

    def with_edits(self, edits: Mapping[str, Sequence[Update]]) -> Segment:
        """Return these rows after updates of columns that are in no file yet."""
        return Segment(self._disk, self.manifest, self.entry, self.files, edits)

    @cached_property
    def vectors(self) -> NDArray[Any] | Int8Parts | None:
        """Vectors, a view of the map, or None where none are kept.

        Call `check_vectors` before reading rows of it: this checks nothing.
        """
        if self.entry.vectors is None:
            return None
        file = self._file("vec")
        _, values = file.matrix(VECTOR)
        if BLOCKS not in self.schema.names:
            return values
        _, blocks = file.matrix(BLOCKS)
        return Int8Parts(values, blocks.reshape(self.n_rows, -1, 2))

    def check_vectors(self, positions: Any = None) -> None:
        """Check the blocks in which the vectors at some positions lie, None for all."""
        if self.entry.vectors is None:
            return
        file = self._file("vec")
        for name in (VECTOR, BLOCKS):
            if name not in self.schema.names:
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
        """Permanent numbers of the rows, rising within and between segments."""
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
        """Return the positions of rows of this segment by their permanent numbers."""
        if self.entry.is_dense:
            return rows - self.entry.first
        if self.files.row_numbers is None and len(rows) * _MANY < self.n_rows:
            return self._file("seg").search(ROW, rows)
        return np.searchsorted(self.row_numbers, rows)

    # Rows by their ids.

    def find(self, ids: Any) -> IdArray:
        """Return the positions of ids, -1 where they are not or are deleted."""
        positions = self.look_up(ids)
        hits = np.flatnonzero(positions >= 0)
        if len(hits) and self.n_live < self.n_rows:
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
    segments : tuple of Segment
        Over files that are open already where they are in the cache.
    """

    def __init__(
        self, disk: Disk, manifest: Manifest, lock: FileLock | None, cache: FileCache
    ) -> None:
        self.manifest = manifest
        self.number, self.schema = manifest.number, manifest.schema
        self.n_bits, self.fingerprint = manifest.n_bits, manifest.fingerprint
        self._lock = lock  # keeps the files from being removed; None for a writer
        self._disk = disk
        self.segments = tuple(
            Segment(disk, manifest, x, cache.setdefault(x.token, SegmentFiles()))
            for x in manifest.segments
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"Snapshot({self.number}: {self.n_live:,} rows)"

    @property
    def n_live(self) -> int:
        return self.manifest.n_live

    def check_lengths(self) -> None:
        """Raise ArtefactError where a file of it was cut off since it was opened."""
        self._disk.check_lengths(self._uses)

    def _uses(self, name: str) -> bool:
        """Return whether a file, what is derived included, is of this state."""
        return any(segment.entry.token in name for segment in self.segments)

    def close(self) -> None:
        """Let writers remove the files; what is mapped already stays readable."""
        if self._lock is not None:
            self._lock.release()

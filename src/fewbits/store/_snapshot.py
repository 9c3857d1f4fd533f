"""One state of a collection, which no writer takes away while it is held."""

import contextlib
from collections.abc import Sequence
from functools import cached_property
from typing import Any, NamedTuple, Self, TypeAlias
from weakref import WeakValueDictionary

import numpy as np
from numpy.typing import NDArray

from fewbits._repr import one_line
from fewbits._typing import CodeArray, IdArray
from fewbits.errors import ArgumentError, ArtefactError
from fewbits.store._deletes import Deletes, read_deletes
from fewbits.store._disk import Disk
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
from fewbits.store._segment import SegmentFiles, read_derived

#: Segments that are open, by their tokens, which name the same files for ever.
Opened: TypeAlias = WeakValueDictionary[str, SegmentFiles]


class Int8Parts(NamedTuple):
    """Vectors of one byte a number: values (n, d) and blocks (n, m, 2) of float32."""

    values: NDArray[np.int8]
    blocks: NDArray[np.float32]

    def __repr__(self) -> str:
        return one_line(self)


class Part:
    """The rows of one segment, as they are in one state of the collection.

    Everything is read when it is asked for, and checked before. A position counts the
    rows, deleted ones included.

    Attributes
    ----------
    entry : SegmentEntry
        Facts of the manifest; its `token` names the rows for ever.
    n_rows, n_live : int
        Numbers of rows, deleted ones included, and of those that are not.
    files : SegmentFiles
    """

    def __init__(
        self,
        disk: Disk,
        manifest: Manifest,
        entry: SegmentEntry,
        files: SegmentFiles | None = None,
    ) -> None:
        self._disk, self._manifest, self.entry = disk, manifest, entry
        self.n_rows, self.n_live = entry.n_rows, entry.n_live
        self.files = files or SegmentFiles(disk, manifest, entry)

    def __repr__(self) -> str:
        return f"Part({self.n_rows:,} rows, {self.n_live:,} live)"

    @cached_property
    def deletes(self) -> Deletes:
        """Which rows are deleted."""
        return read_deletes(self._disk, self.entry)

    @property
    def live(self) -> NDArray[np.bool_] | None:
        """Mask of the rows that are not deleted, or None when all are there."""
        return self.deletes.live

    def live_positions(self) -> IdArray:
        """Return the positions of the rows that are not deleted."""
        return (
            np.arange(self.n_rows) if self.live is None else np.flatnonzero(self.live)
        )

    def _column(self, name: str) -> Any:
        """Return any column, checked."""
        file = self.files.vectors if name in OF_VECTORS else self.files.rows
        if file is None:
            raise KeyError(name)
        return file.column(name)

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
        width = self.files.rows.column(name).type.byte_width
        return self.files.rows.matrix(name, np.uint8, width)

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
        return self.files.row_numbers

    def rows_at(self, positions: IdArray) -> IdArray:
        """Return the permanent numbers of the rows at some positions."""
        return self.files.rows_at(positions)

    def positions_of(self, rows: IdArray) -> IdArray:
        """Return the positions of rows of this part by their permanent numbers."""
        return self.files.positions_of(rows)

    @property
    def ids(self) -> Any:
        """Ids, an Arrow array of int64 or large_string."""
        return self.files.rows.column(ID)

    def ids_at(self, positions: IdArray) -> NDArray[Any]:
        """Return the ids at some positions, int64, or objects that are texts."""
        if self.files.id_numbers is not None:
            return self.files.id_numbers.take(positions)
        texts = self.files.rows.take([ID], positions).column(0).to_pylist()
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
        own = [name for name in schema.names if name not in RESERVED]
        names = own if names is None else names
        if unknown := [name for name in names if name not in own]:
            raise ArgumentError(f"the collection has no column {unknown[0]!r}")
        if not names:
            # The length of a table without columns is lost unless it comes from one.
            return pa.table({ID: self.files.rows.unchecked(ID)}).select([])
        columns = [self.files.rows.column(name) for name in names]
        return pa.table(columns, schema=pa.schema([schema.field(n) for n in names]))

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
        return pa.Table.from_batches([self.files.rows.take(names, positions)])

    def whole(self) -> Any:
        """Return all columns, sequence numbers and vectors included."""
        import pyarrow as pa

        columns = {name: self._column(name) for name in self._manifest.schema.names}
        return pa.table({ROW: pa.array(self.row_numbers), **columns})

    @cached_property
    def vectors(self) -> NDArray[Any] | Int8Parts | None:
        """Vectors, a view of the map, or None where none are kept.

        Call `check_vectors` before reading rows of it: this checks nothing.
        """
        if self.files.vectors is None:
            return None
        values, *blocks = (self._matrix(name) for name in self._vector_columns)
        if not blocks:
            return values
        return Int8Parts(values, blocks[0].reshape(self.n_rows, -1, 2))

    @cached_property
    def _vector_columns(self) -> list[str]:
        return [n for n in (VECTOR, BLOCKS) if n in self._manifest.schema.names]

    def _matrix(self, name: str) -> NDArray[Any]:
        assert self.files.vectors is not None
        kind = self.files.vectors.unchecked(name).type
        return self.files.vectors.matrix(
            name, kind.value_type.to_pandas_dtype(), kind.list_size
        )

    def check_vectors(self, rows: Any = None) -> None:
        """Check the blocks in which the vectors of some rows lie, None for all.

        Raises
        ------
        ArtefactError
            When one differs from what was written.
        """
        file = self.files.vectors
        if file is None:
            return
        for name in self._vector_columns:
            if rows is None:
                file.check_column(name)
                continue
            kind = file.unchecked(name).type
            size = kind.list_size * kind.value_type.bit_width // 8
            starts = np.asarray(rows, np.int64).ravel() * size
            file.check_spans(file.values_start(name) + starts, size)

    @property
    def has_derived(self) -> bool:
        """True if something that was derived from the codes is kept, or seems to be."""
        try:
            return self._disk.size(self.entry.derived_name) > 0
        except OSError:
            return False

    def derived(self) -> memoryview | None:
        """Return what `Writer.keep_derived` has kept, None if it is not as it was."""
        with contextlib.suppress(ArtefactError, OSError):
            return read_derived(self._disk, self.entry)
        return None

    def find(self, ids: Any) -> IdArray:
        """Return the places of ids, -1 where they are not or are deleted.

        Parameters
        ----------
        ids : pyarrow.Array
            Of the type of `ids`.
        """
        positions = self.files.find(ids)
        hits = np.flatnonzero(positions >= 0)
        if len(hits):  # else the file of deleted rows need not be read
            positions[hits[self.deletes.has(positions[hits])]] = -1
        return positions


def parts_of(disk: Disk, manifest: Manifest, opened: Opened) -> tuple[Part, ...]:
    """Return the parts of a state, over files that are open already where they are."""
    parts = tuple(
        Part(disk, manifest, entry, opened.get(entry.token))
        for entry in manifest.segments
    )
    opened.update((part.entry.token, part.files) for part in parts)
    return parts


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

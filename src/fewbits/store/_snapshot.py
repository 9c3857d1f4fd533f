"""One state of a collection, which no writer takes away while it is held."""

import contextlib
from collections.abc import Sequence
from functools import cached_property
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from fewbits._repr import one_line
from fewbits._typing import CodeArray, IdArray
from fewbits.errors import ArgumentError, ArtefactError
from fewbits.store._deletes import read_live
from fewbits.store._disk import Disk
from fewbits.store._ids import IdIndex, among_rising, keys_of, same_texts
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
    SomeNumbers,
    has_index,
    read_derived,
    read_index,
    read_sums,
    segment_schemas,
)
from fewbits.store._sums import BLOCK, FileSums

_MANY = 64  # rows for each id: where there are fewer, all ids are read


class Int8Parts(NamedTuple):
    """Vectors of one byte a number: values (n, d) and blocks (n, m, 2) of float32."""

    values: NDArray[np.int8]
    blocks: NDArray[np.float32]

    def __repr__(self) -> str:
        return one_line(self)


class Part:
    """The rows of one segment, as they are in one state of the collection.

    Everything is read when it is asked for, and checked before. A place counts the
    rows, deleted ones included.
    """

    def __init__(self, disk: Disk, manifest: Manifest, entry: SegmentEntry) -> None:
        self._disk, self._manifest, self._entry = disk, manifest, entry
        self._schemas: dict[tuple[str, ...], Any] = {}  # of some columns

    def __repr__(self) -> str:
        return f"Part({self.n_rows:,} rows, {self.n_live:,} live)"

    @property
    def entry(self) -> SegmentEntry:
        """Facts of the manifest; its `token` names the rows for ever."""
        return self._entry

    @property
    def n_rows(self) -> int:
        """Number of rows, deleted ones included."""
        return self._entry.n_rows

    @property
    def n_live(self) -> int:
        """Number of rows that are not deleted."""
        return self._entry.n_live

    @cached_property
    def live(self) -> NDArray[np.bool_] | None:
        """Mask of the rows that are not deleted, or None when all are there."""
        return read_live(self._disk, self._entry)

    def live_places(self) -> IdArray:
        """Return the places of the rows that are not deleted."""
        return (
            np.arange(self.n_rows) if self.live is None else np.flatnonzero(self.live)
        )

    # The files, each opened when something in it is asked for.

    @cached_property
    def _sums(self) -> list[FileSums]:
        return read_sums(self._disk, self._entry)

    @cached_property
    def _rows(self) -> ArrowFile:
        return self._file(0)

    @cached_property
    def _vectors(self) -> ArrowFile | None:
        return None if self._entry.vectors is None else self._file(1)

    def _file(self, number: int) -> ArrowFile:
        name, _ = self._entry.arrow_files[number]
        schema = segment_schemas(self._manifest)[number]
        return ArrowFile(self._disk, name, self._sums[number], schema, self.n_rows)

    def _column(self, name: str) -> Any:
        """Return any column, checked."""
        file = self._vectors if name in OF_VECTORS else self._rows
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
        width = self._rows.column(name).type.byte_width
        return self._rows.matrix(name, np.uint8, width)

    @cached_property
    def sequence(self) -> IdArray:
        """Permanent numbers of the rows, rising within and between parts."""
        numbers: IdArray = self._rows.column(ROW).to_numpy()
        if len(numbers) > 1 and not (numbers[1:] > numbers[:-1]).all():
            raise ArtefactError(
                f"{self._rows.path} is damaged: its rows are not in order"
            )
        return numbers

    @cached_property
    def ids(self) -> Any:
        """Ids, an Arrow array of int64 or large_string."""
        return self._rows.column(ID)

    @cached_property
    def _id_numbers(self) -> SomeNumbers | None:
        return SomeNumbers.of(self._rows, ID)

    def ids_at(self, rows: IdArray) -> NDArray[Any]:
        """Return the ids of some rows, int64, or objects that are texts; see `take`."""
        if self._id_numbers is not None:
            return self._id_numbers.take(rows)
        texts = self._rows.take(self._schema_of([ID]), rows).column(0).to_pylist()
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
            return pa.table({ROW: self._rows.unchecked(ROW)}).select([])
        columns = [self._rows.column(name) for name in names]
        return pa.table(columns, schema=pa.schema([schema.field(n) for n in names]))

    def take(self, names: Sequence[str], rows: IdArray) -> Any:
        """Return some rows of some columns, which may repeat, as an Arrow table.

        Of most types, only the blocks in which these rows lie are read and checked.

        Parameters
        ----------
        names : sequence of str
            The user's columns, or ``_id``.
        rows : ndarray of int64
            Places in the part.
        """
        import pyarrow as pa

        if not names:
            return pa.table({ROW: pa.array(rows)}).select([])
        return pa.Table.from_batches([self._rows.take(self._schema_of(names), rows)])

    def _schema_of(self, names: Sequence[str]) -> Any:
        """Return the fields of some columns."""
        import pyarrow as pa

        key = tuple(names)
        if key not in self._schemas:
            known = self._manifest.schema
            self._schemas[key] = pa.schema([known.field(name) for name in names])
        return self._schemas[key]

    def whole(self) -> Any:
        """Return all columns, sequence numbers and vectors included."""
        import pyarrow as pa

        names = [ROW, *self._manifest.schema.names]
        return pa.table({name: self._column(name) for name in names})

    @cached_property
    def vectors(self) -> NDArray[Any] | Int8Parts | None:
        """Vectors, a view of the map, or None where none are kept.

        Call `check_vectors` before reading rows of it: this checks nothing.
        """
        if self._vectors is None:
            return None
        values, *blocks = (self._matrix(name) for name in self._vector_columns)
        if not blocks:
            return values
        return Int8Parts(values, blocks[0].reshape(self.n_rows, -1, 2))

    @cached_property
    def _vector_columns(self) -> list[str]:
        return [n for n in (VECTOR, BLOCKS) if n in self._manifest.schema.names]

    def _matrix(self, name: str) -> NDArray[Any]:
        assert self._vectors is not None
        kind = self._vectors.unchecked(name).type
        return self._vectors.matrix(
            name, kind.value_type.to_pandas_dtype(), kind.list_size
        )

    def check_vectors(self, rows: Any = None) -> None:
        """Check the blocks in which the vectors of some rows lie, None for all.

        Raises
        ------
        ArtefactError
            When one differs from what was written.
        """
        file = self._vectors
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
            return self._disk.size(self._entry.derived_name) > 0
        except OSError:
            return False

    def derived(self) -> memoryview | None:
        """Return what `Writer.keep_derived` has kept, None if it is not as it was."""
        with contextlib.suppress(ArtefactError, OSError):
            return read_derived(self._disk, self._entry)
        return None

    def find(self, ids: Any) -> IdArray:
        """Return the places of ids, -1 where they are not or are deleted.

        Parameters
        ----------
        ids : pyarrow.Array
            Of the type of `ids`.
        """
        places = self._find(ids)
        if self.live is not None:
            places[(places >= 0) & ~self.live[places]] = -1
        return places

    def _find(self, ids: Any) -> IdArray:
        """Return the place of each id, deleted or not."""
        keys = keys_of(ids)
        if self._entry.id_range is None:
            # The ids themselves are read only where a key is there.
            return self._look_up(keys, lambda *at: same_texts(self.ids, ids)(*at))
        low, high = self._entry.id_range
        near = np.flatnonzero((keys >= low) & (keys <= high))
        places = np.full(len(keys), -1, np.int64)
        if not len(near):
            return places
        if self._entry.ids_rise and len(near) * _MANY < self.n_rows:
            start = self._rows.values_start(ID)
            places[near] = among_rising(
                self._rows.unchecked(ID).to_numpy(),
                keys[near],
                lambda rows: self._rows.checked.check_blocks(
                    (start + 8 * rows) // BLOCK
                ),
            )
        else:
            places[near] = self._look_up(keys[near], None)
        return places

    def _look_up(self, keys: Any, same: Any) -> IdArray:
        try:
            return self._index.find(keys, same)
        except ArtefactError:
            # Whatever the matter with the file is, the ids themselves are there.
            self.__dict__["_index"] = self._sorted_ids()
            return self._index.find(keys, same)

    @cached_property
    def _index(self) -> IdIndex:
        if has_index(self._entry):
            with contextlib.suppress(ArtefactError, OSError):
                return read_index(self._disk, self._entry)
        return self._sorted_ids()

    def _sorted_ids(self) -> IdIndex:
        keys = keys_of(self.ids)
        if self._entry.ids_rise:
            return IdIndex(keys, np.arange(len(keys), dtype=np.uint32))
        return IdIndex.of(keys)


class Snapshot:
    """One state of a collection. `close` it, or let it be garbage-collected."""

    def __init__(
        self, disk: Disk, manifest: Manifest, lock: FileLock | None = None
    ) -> None:
        self._manifest = manifest
        self._lock = lock  # keeps the files from being removed
        self.parts = tuple(Part(disk, manifest, each) for each in manifest.segments)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"Snapshot({self.number}: {self.n_live:,} rows)"

    @property
    def manifest(self) -> Manifest:
        """Facts of the state: its segments and their files."""
        return self._manifest

    @property
    def number(self) -> int:
        """Number of the manifest."""
        return self._manifest.number

    @property
    def n_live(self) -> int:
        """Number of rows that are not deleted."""
        return self._manifest.n_live

    @property
    def schema(self) -> Any:
        """Schema of the rows as they are given, ids, codes and vectors included."""
        return self._manifest.schema

    @property
    def fingerprint(self) -> str:
        """Fingerprint of the encoder that the codes are from."""
        return self._manifest.fingerprint

    @property
    def n_bits(self) -> int:
        """Bits of a code."""
        return self._manifest.n_bits

    def close(self) -> None:
        """Let writers remove the files; what is mapped already stays readable."""
        if self._lock is not None:
            self._lock.release()

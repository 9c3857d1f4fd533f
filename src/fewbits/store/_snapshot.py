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
from fewbits.store._blocks import BLOCK
from fewbits.store._deletes import read_live
from fewbits.store._derived import has_derived, read_derived
from fewbits.store._disk import Disk
from fewbits.store._manifest import Manifest, SegmentEntry
from fewbits.store._schema import BLOCKS, CORRECTION, ID, RESERVED, ROW, VECTOR
from fewbits.store._segment import ArrowFile, OpenSegment
from fewbits.store._some_rows import SomeNumbers, take_rows


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

    Parameters
    ----------
    disk : Disk
    manifest : Manifest
    entry : SegmentEntry
    """

    def __init__(self, disk: Disk, manifest: Manifest, entry: SegmentEntry) -> None:
        self._disk, self._manifest, self._entry = disk, manifest, entry
        self._segment = OpenSegment(disk, manifest, entry)

    def __repr__(self) -> str:
        return f"Part({self.n_rows:,} rows, {self.n_live:,} live)"

    @property
    def entry(self) -> SegmentEntry:
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

    @property
    def sequence(self) -> IdArray:
        """Permanent numbers of the rows, rising within and between parts."""
        return self._segment.sequence

    @property
    def codes(self) -> CodeArray:
        """Codes (n_rows, n_bytes), a read-only view of the mapped file."""
        return self._segment.codes

    @property
    def corrections(self) -> CodeArray | None:
        """Corrections (n_rows, 2), a read-only view; None where none are kept."""
        known = CORRECTION in self._manifest.schema.names
        return self._segment.corrections if known else None

    @cached_property
    def ids(self) -> Any:
        """Ids, an Arrow array of int64 or large_string."""
        return self._segment.column(ID)

    def table(self, names: list[str] | None = None) -> Any:
        """Return the user's columns, or some of them, as a mapped Arrow table.

        Raises
        ------
        ArgumentError
            When there is no such column.
        """
        import pyarrow as pa

        own = [f.name for f in self._manifest.schema if f.name not in RESERVED]
        chosen = own if names is None else names
        if unknown := [name for name in chosen if name not in own]:
            raise ArgumentError(f"the collection has no column {unknown[0]!r}")
        schema = pa.schema([self._manifest.schema.field(name) for name in chosen])
        if not chosen:
            # The length of a table without columns is lost unless it comes from one.
            return pa.table({ROW: self._segment.rows.unchecked(ROW)}).select([])
        return pa.table([self._segment.column(name) for name in chosen], schema=schema)

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
            # The length of a table without columns is lost unless it comes from one.
            return pa.table({ROW: pa.array(rows)}).select([])
        file, whole = self._segment.rows, self._manifest.schema
        schema = pa.schema([whole.field(name) for name in names])
        return pa.table([take_rows(file, name, rows) for name in names], schema=schema)

    @cached_property
    def _id_numbers(self) -> SomeNumbers | None:
        return SomeNumbers.of(self._segment.rows, ID)

    def ids_at(self, rows: IdArray) -> NDArray[Any]:
        """Return the ids of some rows, int64, or objects that are texts; see `take`."""
        if self._id_numbers is not None:
            return self._id_numbers.take(rows)
        texts = take_rows(self._segment.rows, ID, rows).to_pylist()
        return np.fromiter(texts, object, len(texts))

    def whole(self) -> Any:
        """Return all columns, sequence numbers and vectors included."""
        import pyarrow as pa

        names = [ROW, *self._manifest.schema.names]
        return pa.table({name: self._segment.column(name) for name in names})

    @cached_property
    def vectors(self) -> NDArray[Any] | Int8Parts | None:
        """Vectors, a view of the map, or None where none are kept.

        Call `check_vectors` before reading rows of it: this checks nothing.
        """
        file = self._segment.vectors
        if file is None:
            return None
        values = _matrix(file, VECTOR)
        if BLOCKS not in self._manifest.schema.names:
            return values
        return Int8Parts(values, _matrix(file, BLOCKS).reshape(self.n_rows, -1, 2))

    def check_vectors(self, rows: Any = None) -> None:
        """Check the blocks in which the vectors of some rows lie, None for all.

        Raises
        ------
        ArtefactError
            When one differs from what was written.
        """
        file = self._segment.vectors
        if file is None:
            return
        for name in (VECTOR, BLOCKS):
            if name in self._manifest.schema.names:
                _check_rows(file, name, rows)

    @property
    def has_derived(self) -> bool:
        """True if something that was derived from the codes is kept, or seems to be."""
        return has_derived(self._disk, self._entry)

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
        places = self._segment.find(ids)
        if self.live is not None:
            places[(places >= 0) & ~self.live[places]] = -1
        return places

    def live_places(self) -> IdArray:
        """Return the places of the rows that are not deleted."""
        return (
            np.arange(self.n_rows) if self.live is None else np.flatnonzero(self.live)
        )


class Snapshot:
    """One state of a collection. `close` it, or let it be garbage-collected.

    Parameters
    ----------
    disk : Disk
    manifest : Manifest
    lock : object or None
        Keeps the files from being removed.
    """

    def __init__(self, disk: Disk, manifest: Manifest, lock: Any) -> None:
        self._manifest, self._lock = manifest, lock
        entries = manifest.segments
        self.parts = tuple(Part(disk, manifest, entry) for entry in entries)

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


def _matrix(file: ArrowFile, name: str) -> NDArray[Any]:
    column = file.unchecked(name)
    width = column.type.list_size
    dtype = column.type.value_type.to_pandas_dtype()
    start = file.values_start(column)
    n_bytes = file.n_rows * width * np.dtype(dtype).itemsize
    data = file.checked.bytes[start : start + n_bytes]
    matrix: NDArray[Any] = data.view(dtype).reshape(file.n_rows, width)
    return matrix


def _check_rows(file: ArrowFile, name: str, rows: Any) -> None:
    column = file.unchecked(name)
    if rows is None:
        for start, stop in file.spans(column):
            file.checked.check(start, stop)
        return
    size = column.type.list_size * column.type.value_type.bit_width // 8
    starts = file.values_start(column) + np.unique(np.asarray(rows, np.int64)) * size
    first, last = starts // BLOCK, (starts + size - 1) // BLOCK
    longest = int((last - first).max(initial=0))
    blocks = [np.minimum(first + i, last) for i in range(longest + 1)]
    file.checked.check_blocks(np.concatenate(blocks))

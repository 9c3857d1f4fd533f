"""Segments: rows that were written at once, in Arrow files of one record batch.

A segment has a file of rows, perhaps one of vectors, and one of their sums. Beside it
may lie files that can be made again: an index of its ids, and what search derives from
its codes.
"""

import contextlib
from collections.abc import Iterable, Sequence
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fewbits._arrow import one_chunk
from fewbits._typing import IdArray
from fewbits.errors import ArtefactError, one_line
from fewbits.store._disk import Disk, read_at, write_file
from fewbits.store._ids import IdIndex, Same, among_rising, equal_texts, keys_of
from fewbits.store._manifest import (
    REPAIR,
    Manifest,
    SegmentEntry,
    draft_name,
    new_token,
    plain_entry,
    rows_name,
    vectors_name,
)
from fewbits.store._schema import ID, OF_VECTORS, ROW
from fewbits.store._sums import (
    BLOCK,
    CheckedBytes,
    FileSums,
    SummedFile,
    is_sealed,
    parse_sums,
    sealed,
    sums_bytes,
    sums_of,
)

#: Segments with fewer rows get no index of ids: a commit has one such at most.
FEW_ROWS = 1 << 12
#: Bytes of a column that is checked as a whole when some of it is read.
_SMALL = 1 << 22
_MANY = 64  # rows for each that is asked for: where there are fewer, all are read
_FEW = 32  # rows that are taken without Arrow's functions
_DERIVED = b"fewbits der 1\n\0\0"


class ArrowFile:
    """One record batch in a mapped file, whose columns are checked when they are read.

    Raises ArtefactError where it holds something else, or is damaged.
    """

    def __init__(
        self, disk: Disk, name: str, sums: FileSums, schema: Any, n_rows: int
    ) -> None:
        import pyarrow as pa

        self.path, self.n_rows = str(disk.folder / name), n_rows
        data = _mapped(disk, name)
        if len(data) != sums.n_bytes:
            raise ArtefactError(
                f"{self.path} is damaged: {len(data):,} bytes long instead of "
                f"{sums.n_bytes:,}; {REPAIR}"
            )
        self.checked = CheckedBytes(data, sums.sums, self.path)
        start, stop = sums.body
        self.checked.check(0, start)
        self.checked.check(stop, sums.n_bytes)
        buffer = pa.py_buffer(data)
        self._base = buffer.address
        self._batch = only_batch(buffer, schema, n_rows, self.path)
        self._whole: dict[str, Any] = {}  # columns all of whose bytes are checked
        self._some: dict[tuple[str, ...], Any] = {}  # batches of such columns

    def column(self, name: str) -> Any:
        """Return a column after checking all of its bytes."""
        from pyarrow import types

        if name not in self._whole:
            column = self.unchecked(name)
            self.check_column(name)
            kind = column.type
            if not (types.is_primitive(kind) or types.is_fixed_size_binary(kind)):
                self._valid(column)
            self._whole[name] = column
        return self._whole[name]

    def unchecked(self, name: str) -> Any:
        """Return a column whose bytes the caller checks."""
        return self._batch.column(name)

    def check_column(self, name: str) -> None:
        for buffer in self.unchecked(name).buffers():
            if buffer is not None and buffer.size:
                start = buffer.address - self._base
                self.checked.check(start, start + buffer.size)

    def values_start(self, name: str) -> int:
        """Return where the values of a column of one width begin in the file."""
        return int(self.unchecked(name).buffers()[-1].address - self._base)

    def matrix(self, name: str, dtype: Any, width: int) -> NDArray[Any]:
        """Return a column of one width as a view of the map, not checked."""
        start = self.values_start(name)
        n_bytes = self.n_rows * width * np.dtype(dtype).itemsize
        matrix: NDArray[Any] = self.checked.bytes[start : start + n_bytes].view(dtype)
        return matrix.reshape(self.n_rows, width)

    def take(self, names: Sequence[str], positions: IdArray) -> Any:
        """Return some columns at some positions, in any order; they may repeat.

        Of a large column only the blocks that they lie in are checked, unless it is of
        a nested type, or one of categories.
        """
        import pyarrow as pa

        if (whole := self._some.get(key := tuple(names))) is not None:
            return _taken(whole, positions)
        columns = []
        for name in names:
            column = self._whole.get(name)
            if column is None:
                column = self.unchecked(name)
                if column.nbytes <= _SMALL or not self._check_rows(name, positions):
                    column = self.column(name)
            columns.append(column)
        schema = pa.schema([self._batch.schema.field(name) for name in names])
        batch = pa.RecordBatch.from_arrays(columns, schema=schema)
        if self._whole.keys() >= {*names}:
            self._some[key] = batch
        taken = _taken(batch, positions)
        for name, column in zip(names, taken.columns, strict=True):
            if name not in self._whole:
                self._valid(column)
        return taken

    def _valid(self, column: Any) -> Any:
        """Return a column in which no value points outside, as with forged sums."""
        import pyarrow as pa

        try:
            column.validate(full=True)
        except pa.ArrowException as error:
            raise ArtefactError(f"{self.path} is damaged: {one_line(error)}") from error
        return column

    def _check_rows(self, name: str, rows: IdArray) -> bool:
        """Check where rows lie; False where the type does not tell."""
        from pyarrow import types

        column = self.unchecked(name)
        kind = column.type
        offset_size = bytes_of_offset(kind)
        is_fixed = types.is_primitive(kind) or types.is_decimal(kind)
        if not (offset_size or is_fixed or types.is_fixed_size_binary(kind)):
            return False
        validity, *values = column.buffers()

        def check(buffer: Any, starts: IdArray, sizes: Any) -> None:
            self.check_spans(starts + (buffer.address - self._base), sizes)

        if validity is not None:
            check(validity, rows // 8, 1)
        if types.is_boolean(kind):
            check(values[0], rows // 8, 1)
        elif offset_size:
            check(values[0], rows * offset_size, 2 * offset_size)
            offsets = np.frombuffer(values[0], f"<i{offset_size}")
            starts, stops = (offsets[rows + i].astype(np.int64) for i in (0, 1))
            size = 0 if values[1] is None else values[1].size
            # The sums can be forged: nothing is read from outside.
            if not ((starts >= 0) & (starts <= stops) & (stops <= size)).all():
                raise ArtefactError(f"{self.path} is damaged: a text lies outside")
            if values[1] is not None:
                check(values[1], starts, stops - starts)
        else:
            size = kind.bit_width // 8
            check(values[0], rows * size, size)
        return True

    def check_spans(self, starts: IdArray, sizes: Any) -> None:
        """Check the blocks in which some ranges of bytes lie."""
        stops = starts + sizes
        some = stops > starts
        first, last = starts[some] // BLOCK, (stops[some] - 1) // BLOCK
        longer = np.flatnonzero(last - first > 1).tolist()
        inner = [np.arange(first[i] + 1, last[i]) for i in longer]
        self.checked.check_blocks(np.concatenate([first, last, *inner]))


def _mapped(disk: Disk, name: str) -> Any:
    try:
        return disk.map(name)
    except FileNotFoundError:
        raise ArtefactError(f"{disk.folder / name} is missing; {REPAIR}") from None


def only_batch(
    buffer: Any, schema: Any, n_rows: int, path: str, *, validate: bool = True
) -> Any:
    """Return the batch of an Arrow file, which must be of one schema and length."""
    import pyarrow as pa

    try:
        file = pa.ipc.open_file(buffer)
        if not file.schema.equals(schema, check_metadata=True):
            raise ArtefactError(f"{path} holds other columns than its manifest says")
        n_batches = file.num_record_batches
        batch = file.get_batch(0) if n_batches == 1 else None
        if batch is None or batch.num_rows != n_rows:
            raise ArtefactError(f"{path} does not hold one batch of {n_rows} rows")
        if validate:
            batch.validate()
    except (pa.ArrowException, OSError, ValueError) as error:
        if isinstance(error, ArtefactError):
            raise
        raise ArtefactError(f"{path} is damaged: {one_line(error)}") from error
    return batch


def bytes_of_offset(kind: Any) -> int:
    """Return the bytes of an offset of texts, 0 for other types."""
    from pyarrow import types

    if types.is_string(kind) or types.is_binary(kind):
        return 4
    return 8 if types.is_large_string(kind) or types.is_large_binary(kind) else 0


def _taken(batch: Any, rows: IdArray) -> Any:
    """Return rows of a batch; a few, as of one answer, without Arrow's functions.

    Their import costs more than a search.
    """
    import pyarrow as pa

    if not 0 < len(rows) <= _FEW:
        return batch.take(pa.array(rows))
    return pa.concat_batches([batch.slice(row, 1) for row in rows.tolist()])


class SomeNumbers:
    """A column of int64 without nulls, of which only what is asked for is checked.

    Twenty times as fast as `ArrowFile.take` for the few rows of an answer.
    """

    def __init__(self, file: ArrowFile, name: str) -> None:
        self._checked, self._start = file.checked, file.values_start(name)
        self._values = file.matrix(name, "<i8", 1)[:, 0]

    @classmethod
    def of(cls, file: ArrowFile, name: str) -> "SomeNumbers | None":
        """Return the column; None where it is of another kind."""
        column = file.unchecked(name)
        if column.type != "int64" or column.buffers()[0] is not None:
            return None
        return cls(file, name) if file.values_start(name) % 8 == 0 else None

    def take(self, rows: IdArray) -> IdArray:
        """Return some numbers, whose blocks are checked before."""
        self._checked.check_at(self._start + 8 * rows)
        numbers: IdArray = self._values[rows]
        return numbers


def segment_schemas(manifest: Manifest, *, has_rows: bool) -> tuple[Any, Any]:
    """Return the schemas of a segment's files, of rows and of vectors."""
    import pyarrow as pa

    notes = {
        **(manifest.schema.metadata or {}),
        b"fewbits.n_bits": str(manifest.n_bits).encode(),
        b"fewbits.bit_order": b"msb",
        b"fewbits.fingerprint": manifest.fingerprint.encode(),
    }
    rows = [pa.field(ROW, pa.int64(), nullable=False)] if has_rows else []
    rows += [field for field in manifest.schema if field.name not in OF_VECTORS]
    vectors = [field for field in manifest.schema if field.name in OF_VECTORS]
    return pa.schema(rows, notes), pa.schema(vectors, notes)


def read_sums(disk: Disk, entry: SegmentEntry) -> list[FileSums]:
    """Return the sums of a segment's files, of rows and of vectors.

    Raises ArtefactError where they are damaged, or of other files.
    """
    path = str(disk.folder / entry.sums_name)
    files = parse_sums(_mapped(disk, entry.sums_name), path)
    if [file.entry for file in files] != [file for _, file in entry.arrow_files]:
        raise ArtefactError(f"{path} is damaged: it belongs to other files; {REPAIR}")
    return files


def write_segment(disk: Disk, manifest: Manifest, table: Any) -> "SegmentFiles":
    """Write and sync everything of a new segment but the names.

    The table has sequence numbers, ids and all columns of the schema of the state
    before, and is not empty.
    """
    token = new_token()
    first, last = (table[ROW][at].as_py() for at in (0, -1))
    has_rows = last - first + 1 != len(table)
    of_rows, of_vectors = segment_schemas(manifest, has_rows=has_rows)
    rows = _write_arrow(disk, rows_name(token), table, of_rows)
    vectors = None
    if of_vectors.names:
        vectors = _write_arrow(disk, vectors_name(token), table, of_vectors)
    ids = one_chunk(table[ID])
    id_range, rises = None, False
    if ids.type == "int64":
        keys = ids.to_numpy()
        id_range = int(keys.min()), int(keys.max())
        rises = bool((keys[1:] > keys[:-1]).all())
    entry = SegmentEntry(
        token=token,
        n_rows=len(table),
        n_live=len(table),
        first=first,
        last=last,
        rows=rows.entry,
        vectors=None if vectors is None else vectors.entry,
        id_range=id_range,
        ids_rise=rises,
        has_rows=has_rows,
    )
    if has_index(entry):
        write_index(disk, entry, ids)
    files = [rows] if vectors is None else [rows, vectors]
    write_sums(disk, entry, files, manifest.number + 1)
    return SegmentFiles(disk, manifest, entry, files)


def _write_arrow(disk: Disk, name: str, table: Any, schema: Any) -> FileSums:
    """Write and sync columns of a table as a file of one batch; return its sums."""
    import pyarrow as pa

    columns = [one_chunk(table[name]) for name in schema.names]
    batch = pa.RecordBatch.from_arrays(columns, schema=schema)
    file = disk.create(name)
    try:
        summed = SummedFile(file)
        # Arrow writes small pieces, each of which would be a call of Python.
        sink = pa.BufferedOutputStream(pa.PythonFile(summed, "w"), BLOCK)
        with sink, pa.ipc.new_file(sink, schema) as writer:
            writer.write_batch(batch)
        n_bytes, sums = summed.finish()
        file.sync()
    finally:
        file.close()
    return FileSums(sums, *arrow_frame(disk.map(name)), n_bytes)


def arrow_frame(data: Any) -> tuple[bytes, bytes]:
    """Return what stands before the first and behind the last value of a file."""
    import pyarrow as pa

    buffer = pa.py_buffer(data)
    batch = pa.ipc.open_file(buffer).get_batch(0)
    spans = [
        (each.address - buffer.address, each.size)
        for column in batch.columns
        for each in column.buffers()
        if each is not None and each.size
    ]
    start = min((at for at, _ in spans), default=len(data))
    stop = max((at + size for at, size in spans), default=start)
    return bytes(buffer[:start]), bytes(buffer[stop:])


def write_sums(
    disk: Disk, entry: SegmentEntry, files: list[FileSums], number: int
) -> None:
    """Write the file of sums of a segment that is new in the state of a number."""
    facts = {**plain_entry(entry), "number": number}
    write_file(disk, entry.sums_name, sums_bytes(files, facts))


def has_index(entry: SegmentEntry) -> bool:
    """Return whether a segment should have a file of its ids, sorted."""
    return not entry.ids_rise and entry.n_rows >= FEW_ROWS


def write_index(disk: Disk, entry: SegmentEntry, ids: Any) -> None:
    file = disk.create(entry.ids_name)
    try:
        for piece in IdIndex.of(keys_of(ids)).to_bytes(entry.token):
            file.write(piece)
    finally:
        file.close()  # not synced: it can be made again


def read_index(disk: Disk, entry: SegmentEntry) -> IdIndex:
    """Return the index of a segment's ids from its file, checked as far as it is read.

    Raises ArtefactError where it is damaged, OSError where it is not there.
    """
    data, width = disk.map(entry.ids_name), 4 if entry.id_range is None else 8
    path = str(disk.folder / entry.ids_name)
    return IdIndex.from_bytes(data, entry.n_rows, width, entry.token, path)


class SegmentFiles:
    """The files of a segment, each opened when something in it is asked for.

    They never change, so that all states with the segment share them. Of ids and row
    numbers, only the blocks in which the few that are asked for lie are read.
    """

    def __init__(
        self,
        disk: Disk,
        manifest: Manifest,
        entry: SegmentEntry,
        sums: list[FileSums] | None = None,
    ) -> None:
        self._disk, self._manifest, self.entry = disk, manifest, entry
        self._sums = sums  # read with the first file where they are not known

    @cached_property
    def rows(self) -> ArrowFile:
        return self._file(0)

    @cached_property
    def vectors(self) -> ArrowFile | None:
        return None if self.entry.vectors is None else self._file(1)

    def _file(self, number: int) -> ArrowFile:
        entry = self.entry
        name, _ = entry.arrow_files[number]
        if self._sums is None:
            self._sums = read_sums(self._disk, entry)
        schema = segment_schemas(self._manifest, has_rows=entry.has_rows)[number]
        return ArrowFile(self._disk, name, self._sums[number], schema, entry.n_rows)

    @cached_property
    def row_numbers(self) -> IdArray:
        """Permanent numbers of all rows, which rise."""
        if not self.entry.has_rows:
            return np.arange(self.entry.first, self.entry.last + 1)
        numbers: IdArray = self.rows.column(ROW).to_numpy()
        if len(numbers) > 1 and not (numbers[1:] > numbers[:-1]).all():
            raise ArtefactError(
                f"{self.rows.path} is damaged: its rows are not in order"
            )
        return numbers

    def check_entry(self) -> None:
        """Raise where the rows are not what the manifest says of them."""
        entry, rows = self.entry, self.row_numbers
        wrong = (
            "row numbers" if [entry.first, entry.last] != [rows[0], rows[-1]] else ""
        )
        if entry.id_range is not None:
            ids = self.rows.column(ID).to_numpy()
            if entry.id_range != (ids.min(), ids.max()):
                wrong = "the smallest and the largest id"
            elif entry.ids_rise and not (ids[1:] > ids[:-1]).all():
                wrong = "the order of ids"
        if wrong:
            raise ArtefactError(
                f"{self.rows.path} is damaged: its manifest says otherwise of {wrong}"
            )

    def rows_at(self, positions: IdArray) -> IdArray:
        if self.entry.is_dense:
            return self.entry.first + positions
        if "row_numbers" in self.__dict__:
            return self.row_numbers[positions]
        return SomeNumbers(self.rows, ROW).take(positions)

    def positions_of(self, rows: IdArray) -> IdArray:
        if self.entry.is_dense:
            return rows - self.entry.first
        if "row_numbers" not in self.__dict__ and self._are_few(rows):
            return self._among_rising(ROW, rows)
        return np.searchsorted(self.row_numbers, rows)

    @cached_property
    def id_numbers(self) -> SomeNumbers | None:
        return SomeNumbers.of(self.rows, ID)

    def find(self, ids: Any) -> IdArray:
        """Return the position of each id of an Arrow array, -1 where it never was."""
        keys = keys_of(ids)
        if self.entry.id_range is None:
            return self._look_up(keys, self._same_texts(ids))
        low, high = self.entry.id_range
        near = np.flatnonzero((keys >= low) & (keys <= high))
        positions = np.full(len(keys), -1, np.int64)
        if len(near) and self.entry.ids_rise and self._are_few(near):
            positions[near] = self._among_rising(ID, keys[near])
        elif len(near):
            positions[near] = self._look_up(keys[near], None)
        return positions

    def _are_few(self, numbers: IdArray) -> bool:
        return len(numbers) * _MANY < self.entry.n_rows

    def _same_texts(self, ids: Any) -> Same:
        """Return what compares ids here with some of an array."""

        def same(positions: IdArray, wanted: IdArray) -> NDArray[np.bool_]:
            import pyarrow as pa

            if not self._are_few(positions):
                texts = self.rows.column(ID).take(pa.array(positions))
            else:
                texts = self.rows.take([ID], positions).column(0)
            return equal_texts(texts, ids, wanted)

        return same

    def _among_rising(self, name: str, numbers: IdArray) -> IdArray:
        start = self.rows.values_start(name)
        return among_rising(
            self.rows.unchecked(name).to_numpy(),
            numbers,
            lambda at: self.rows.checked.check_blocks((start + 8 * at) // BLOCK),
        )

    def _look_up(self, keys: Any, same: Same | None) -> IdArray:
        try:
            return self._index.find(keys, same)
        except (ArtefactError, OSError):
            # Whatever the matter with the file is, the ids themselves are there.
            self.__dict__["_index"] = self._sorted_ids()
            return self._index.find(keys, same)

    @cached_property
    def _index(self) -> IdIndex:
        if has_index(self.entry):
            with contextlib.suppress(ArtefactError, OSError):
                return read_index(self._disk, self.entry)
        return self._sorted_ids()

    def _sorted_ids(self) -> IdIndex:
        keys = keys_of(self.rows.column(ID))
        if self.entry.ids_rise:
            return IdIndex(keys, np.arange(len(keys), dtype=np.uint32))
        return IdIndex.of(keys)


def write_derived(disk: Disk, entry: SegmentEntry, pieces: Iterable[Any]) -> None:
    """Write what search derives from the codes of a segment, in place of what is there.

    The caller holds the lock of the store; without it, the file could be collected.
    After an OSError there is no file.
    """
    remove_derived(disk, entry)
    draft = draft_name()
    try:
        file = disk.create(draft)
        try:
            summed = SummedFile(file)
            for piece in pieces:
                summed.write(piece)
            n_bytes, sums = summed.finish()
            file.write(sealed(sums.astype("<u4").tobytes() + _seal(entry, n_bytes)))
        finally:
            file.close()  # not synced: it can be made again
        disk.publish(draft, entry.derived_name)
    except OSError:
        with contextlib.suppress(OSError):
            disk.remove(draft)
        raise


def remove_derived(disk: Disk, entry: SegmentEntry) -> None:
    with contextlib.suppress(FileNotFoundError):
        disk.remove(entry.derived_name)


def read_derived(disk: Disk, entry: SegmentEntry) -> memoryview:
    """Return the derived file of a segment, memory-mapped, after checking all of it.

    Raises ArtefactError where it is damaged, OSError where it is not there.
    """
    path = disk.folder / entry.derived_name
    data = disk.map(entry.derived_name)
    size = len(_seal(entry, 0))
    n_bytes = int.from_bytes(
        read_at(data, max(0, len(data) - 12), len(data) - 4), "little"
    )
    view = memoryview(data)[:n_bytes]
    tail = memoryview(read_at(data, n_bytes, len(data)))
    if len(tail) != 4 * -(-n_bytes // BLOCK) + size + 4:
        raise ArtefactError(f"{path} is damaged: its length does not fit")
    if tail[-size - 4 : -4] != _seal(entry, n_bytes):
        raise ArtefactError(f"{path} is damaged: it is of another segment")
    sums = np.frombuffer(tail[: -size - 4], "<u4")
    if not (is_sealed(tail) and np.array_equal(sums_of(view), sums)):
        raise ArtefactError(f"{path} is damaged: its checksum does not match")
    return view


def _seal(entry: SegmentEntry, n_bytes: int) -> bytes:
    """Return what ties a file to its segment, and its length."""
    numbers = np.array([entry.rows.n_bytes, entry.rows.crc, n_bytes], "<u8")
    return _DERIVED + entry.token.encode() + numbers.tobytes()

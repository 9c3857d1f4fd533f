"""Segments: rows that were written at once, in Arrow files of one record batch.

A segment has a file of rows, perhaps one of vectors, and one of their sums, unless it
is so small that these stand in the manifest. Beside it may lie files that can be made
again: an index of its ids, and what search derives from its codes.
"""

import contextlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any
from weakref import WeakValueDictionary

import numpy as np
from numpy.typing import NDArray

from fewbits._arrow import one_chunk
from fewbits._typing import IdArray
from fewbits.errors import ArtefactError, one_line
from fewbits.store._disk import Disk, read_at, write_file
from fewbits.store._ids import IdIndex, keys_of
from fewbits.store._manifest import (
    BLOCK,
    REPAIR,
    Manifest,
    SegmentEntry,
    draft_name,
    new_token,
    plain_entry,
)
from fewbits.store._schema import ID, ROW, VECTOR_COLUMNS
from fewbits.store._sums import (
    CheckedBytes,
    FileSums,
    SummedFile,
    is_sealed,
    parse_sums,
    seal,
    sums_bytes,
    sums_of,
)

#: Segments with fewer rows get no index of ids: their ids are sorted when first looked
#: up.
FEW_ROWS = 1 << 12
#: Bytes of a column that is checked as a whole when some of it is read.
_SMALL = 1 << 22
#: Blocks of a file whose sums stand in the manifest.
INLINE = 1
_FEW = 32  # rows that are taken without Arrow's functions
_DERIVED = b"fewbits der 1\n\0\0"


class ArrowFile(CheckedBytes):
    """A file of a segment: one record batch, whose columns are checked when read.

    What stands before and behind the values is checked at once, and all of a file whose
    sums are in the manifest. Of `batch` itself, views of the map, nothing is checked.
    """

    def __init__(
        self, data: Any, sums: FileSums, schema: Any, n_rows: int, path: str
    ) -> None:
        import pyarrow as pa

        super().__init__(data, sums.sums, path)
        start, stop = sums.body if sums.head else (len(data), len(data))
        self.check(0, start)
        self.check(stop, sums.n_bytes)
        buffer = pa.py_buffer(data)
        self.batch = only_batch(buffer, schema, n_rows, path).replace_schema_metadata()
        self._address = buffer.address
        #: Columns, and batches of some, all of whose bytes are checked.
        self._whole: dict[str, Any] = {}
        self._checked: dict[tuple[str, ...], Any] = {}
        self._numbers: dict[str, tuple[int, IdArray]] = {}

    def column(self, name: str) -> Any:
        """Return a column after checking all of its bytes."""
        from pyarrow import types

        column = self._whole.get(name)
        if column is None:
            column = self.batch.column(name)
            for buffer in column.buffers():
                if buffer is not None and buffer.size:
                    start = buffer.address - self._address
                    self.check(start, start + buffer.size)
            kind = column.type
            if not (types.is_primitive(kind) or types.is_fixed_size_binary(kind)):
                check_inside(column, self.path)
            self._whole[name] = column
        return column

    def matrix(self, name: str) -> tuple[int, NDArray[Any]]:
        """Return where the values of a column of one width begin, and a view of them.

        Numbers, bytes of codes, or fixed-size lists of numbers, one a row. Nothing is
        checked.
        """
        from pyarrow import types

        column = self.batch.column(name)
        kind, dtype, width = column.type, np.dtype(np.uint8), 1
        if types.is_fixed_size_binary(kind):
            width = kind.byte_width
        elif types.is_fixed_size_list(kind):
            dtype, width = np.dtype(kind.value_type.to_pandas_dtype()), kind.list_size
        else:
            dtype = np.dtype(kind.to_pandas_dtype())
        start = column.buffers()[-1].address - self._address
        stop = start + len(column) * width * dtype.itemsize
        return start, self.bytes[start:stop].view(dtype).reshape(len(column), width)

    def numbers(self, name: str, positions: IdArray) -> IdArray:
        """Return some values of a column of int64, of which only their blocks are read.

        Twenty times as fast as `take` for the few rows of an answer.
        """
        if name not in self._numbers:
            start, values = self.matrix(name)
            self._numbers[name] = start, values[:, 0]
        start, numbers = self._numbers[name]
        self.check_blocks((start + 8 * positions) // BLOCK)
        return numbers[positions]

    def search(self, name: str, numbers: IdArray) -> IdArray:
        """Return the position of each number in a column that rises, -1 for none.

        By binary search, which reads only the blocks that it probes.
        """
        last = self.batch.num_rows - 1
        low, high = np.zeros(len(numbers), np.int64), np.full(len(numbers), last)
        for _ in range(last.bit_length() + 1):
            middle = (low + high) // 2
            before = self.numbers(name, middle) < numbers
            low = np.where(before, np.minimum(middle + 1, last), low)
            high = np.where(before, high, middle)
        return np.where(self.numbers(name, low) == numbers, low, -1)

    def take(self, names: Sequence[str], positions: IdArray) -> Any:
        """Return some columns at some positions, in any order; they may repeat.

        Of a large column only the blocks that they lie in are checked, unless it is of
        a nested type, or one of categories.
        """
        import pyarrow as pa

        batch, partly = self._checked.get(key := tuple(names)), []
        if batch is None:
            for name in names:
                column = self.batch.column(name)
                if name in self._whole:
                    continue
                if column.nbytes > _SMALL and self._check_rows(column, positions):
                    partly.append(name)
                else:
                    self.column(name)
            batch = self.batch.select(names)
            if not partly:
                self._checked[key] = batch
        if 0 < len(positions) <= _FEW:
            # The import of Arrow's functions costs more than a search.
            rows = [batch.slice(position, 1) for position in positions.tolist()]
            selection = pa.concat_batches(rows)
        else:
            selection = batch.take(pa.array(positions))
        for name in partly:
            check_inside(selection.column(name), self.path)
        return selection

    def check_spans(self, starts: IdArray, sizes: Any) -> None:
        """Check the blocks in which some ranges of bytes lie."""
        stops = starts + sizes
        is_nonempty = stops > starts
        first, last = starts[is_nonempty] // BLOCK, (stops[is_nonempty] - 1) // BLOCK
        longer = np.flatnonzero(last - first > 1).tolist()
        inner = [np.arange(first[i] + 1, last[i]) for i in longer]
        self.check_blocks(np.concatenate([first, last, *inner]))

    def _check_rows(self, column: Any, rows: IdArray) -> bool:
        """Check where rows of a column lie; False where the type does not tell."""
        from pyarrow import types

        kind = column.type
        offset_size = offset_width(kind)
        is_fixed = types.is_primitive(kind) or types.is_decimal(kind)
        if not (offset_size or is_fixed or types.is_fixed_size_binary(kind)):
            return False
        validity, *values = column.buffers()

        def check(buffer: Any, starts: IdArray, sizes: Any) -> None:
            self.check_spans(starts + (buffer.address - self._address), sizes)

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


@dataclass(eq=False)
class SegmentFiles:
    """What was read of a segment so far; all states with the segment share it."""

    sums: dict[str, FileSums] | None = None  # by the kinds of files, "seg" and "vec"
    arrow: dict[str, ArrowFile] = field(default_factory=dict)
    updates: "WeakValueDictionary[str, Any]" = field(
        default_factory=WeakValueDictionary
    )
    row_numbers: IdArray | None = None
    ids: IdIndex | None = None


def read_sums(disk: Disk, entry: SegmentEntry) -> dict[str, FileSums]:
    """Return the sums of a segment's files, by their kinds.

    Raises ArtefactError where they are damaged, or of other files.
    """
    if not entry.has_sums:
        return {
            kind: FileSums(np.array(file.sums, np.uint32), file.n_bytes)
            for kind, file in entry.arrow_files.items()
        }
    path = disk.folder / entry.name("sum")
    try:
        sums = parse_sums(disk.read(path.name), str(path))
    except FileNotFoundError:
        raise ArtefactError(f"{path} is missing; {REPAIR}") from None
    if [file.entry() for file in sums] != [*entry.arrow_files.values()]:
        raise ArtefactError(f"{path} is damaged: it belongs to other files; {REPAIR}")
    return dict(zip(entry.arrow_files, sums, strict=True))


def file_schema(manifest: Manifest, kind: str, has_rows: bool, schema: Any) -> Any:
    """Return the schema of a segment's file of rows, ``"seg"``, or vectors, ``"vec"``.

    `has_rows` is a fact of its `SegmentEntry`, `schema` its `Manifest.stored_schema`.
    """
    import pyarrow as pa

    of_vectors = kind == "vec"
    fields = [x for x in schema if (x.name in VECTOR_COLUMNS) == of_vectors]
    if has_rows and not of_vectors:
        fields.insert(0, pa.field(ROW, pa.int64(), nullable=False))
    notes = {
        b"fewbits.n_bits": str(manifest.n_bits).encode(),
        b"fewbits.bit_order": b"msb",
        b"fewbits.fingerprint": manifest.fingerprint.encode(),
    }
    return pa.schema(fields, {**(schema.metadata or {}), **notes})


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


def check_inside(values: Any, path: str) -> None:
    """Raise where a value of an array or batch points outside, as with forged sums."""
    import pyarrow as pa

    try:
        values.validate(full=True)
    except pa.ArrowException as error:
        raise ArtefactError(f"{path} is damaged: {one_line(error)}") from error


def offset_width(kind: Any) -> int:
    """Return the width in bytes of offsets of strings and binaries, 0 for others."""
    from pyarrow import types

    if types.is_string(kind) or types.is_binary(kind):
        return 4
    return 8 if types.is_large_string(kind) or types.is_large_binary(kind) else 0


def write_segment(
    disk: Disk, manifest: Manifest, table: Any
) -> tuple[SegmentEntry, SegmentFiles]:
    """Write and sync everything of a new segment but the names.

    The table has rows (`_row`), ids and all columns of the schema of the state
    before, and is not empty.
    """
    token = new_token()
    first, last = (table[ROW][at].as_py() for at in (0, -1))
    has_rows = last - first + 1 != len(table)
    schema = file_schema(manifest, "seg", has_rows, manifest.schema)
    rows = write_arrow(disk, f"seg-{token}.arrow", table.select(schema.names), schema)
    schema = file_schema(manifest, "vec", has_rows, manifest.schema)
    vectors = None
    if schema.names:
        vectors = write_arrow(
            disk, f"vec-{token}.arrow", table.select(schema.names), schema
        )
    files = [rows] if vectors is None else [rows, vectors]
    inline = all(len(file.sums) <= INLINE for file in files)
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
        rows=rows.entry(inline=inline),
        vectors=None if vectors is None else vectors.entry(inline=inline),
        id_range=id_range,
        ids_rise=rises,
        has_rows=has_rows,
    )
    if has_index(entry):
        write_index(disk, entry, ids)
    if not inline:
        files = [
            with_frame(file, disk.map(entry.name(kind)))
            for kind, file in zip(entry.arrow_files, files, strict=True)
        ]
        write_sums(disk, entry, files, manifest.number + 1)
    return entry, SegmentFiles(dict(zip(entry.arrow_files, files, strict=True)))


def write_arrow(disk: Disk, name: str, table: Any, schema: Any) -> FileSums:
    """Write and sync a table as a file of one batch; return its sums."""
    import pyarrow as pa

    columns = [one_chunk(column) for column in table.columns]
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
    return FileSums(sums, n_bytes)


def with_frame(sums: FileSums, data: Any) -> FileSums:
    """Add what stands before the first and behind the last value of a file."""
    import pyarrow as pa

    buffer = pa.py_buffer(data)
    batch = pa.ipc.open_file(buffer).get_batch(0)
    spans = [
        (values.address - buffer.address, values.size)
        for column in batch.columns
        for values in column.buffers()
        if values is not None and values.size
    ]
    start = min((at for at, _ in spans), default=len(data))
    stop = max((at + size for at, size in spans), default=start)
    return replace(sums, head=bytes(buffer[:start]), tail=bytes(buffer[stop:]))


def write_sums(
    disk: Disk, entry: SegmentEntry, files: list[FileSums], number: int
) -> None:
    """Write the file of sums of a segment that is new in the state of a number."""
    facts = {**plain_entry(entry), "number": number}
    write_file(disk, entry.name("sum"), sums_bytes(files, facts))


def has_index(entry: SegmentEntry) -> bool:
    """Return whether a segment should have a file of its ids, sorted."""
    return not entry.ids_rise and entry.n_rows >= FEW_ROWS


def write_index(disk: Disk, entry: SegmentEntry, ids: Any) -> None:
    file = disk.create(entry.name("ids"))
    try:
        for piece in IdIndex.of(keys_of(ids)).to_bytes(entry.token):
            file.write(piece)
    finally:
        file.close()  # not synced: it can be made again


def read_index(disk: Disk, entry: SegmentEntry, *, whole: bool = False) -> IdIndex:
    """Return the index of a segment's ids, checked as far as it is read, or whole.

    Raises ArtefactError where it is damaged, OSError where it is not there.
    """
    name, width = entry.name("ids"), 4 if entry.id_range is None else 8
    path = str(disk.folder / name)
    index = IdIndex.from_bytes(disk.map(name), entry.n_rows, width, entry.token, path)
    if whole:
        index.check()
    return index


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
            file.write(
                seal(sums.astype("<u4").tobytes() + _segment_identity(entry, n_bytes))
            )
        finally:
            file.close()  # not synced: it can be made again
        disk.publish(draft, entry.name("mih"))
    except OSError:
        with contextlib.suppress(OSError):
            disk.remove(draft)
        raise


def remove_derived(disk: Disk, entry: SegmentEntry) -> None:
    with contextlib.suppress(FileNotFoundError):
        disk.remove(entry.name("mih"))


def read_derived(disk: Disk, entry: SegmentEntry) -> memoryview:
    """Return the derived file of a segment, memory-mapped, after checking all of it.

    Raises ArtefactError where it is damaged, OSError where it is not there.
    """
    path = disk.folder / entry.name("mih")
    data = disk.map(path.name)
    size = len(_segment_identity(entry, 0))
    n_bytes = int.from_bytes(
        read_at(data, max(0, len(data) - 12), len(data) - 4), "little"
    )
    view = memoryview(data)[:n_bytes]
    tail = memoryview(read_at(data, n_bytes, len(data)))
    if len(tail) != 4 * -(-n_bytes // BLOCK) + size + 4:
        raise ArtefactError(f"{path} is damaged: its length does not fit")
    if tail[-size - 4 : -4] != _segment_identity(entry, n_bytes):
        raise ArtefactError(f"{path} is damaged: it is of another segment")
    sums = np.frombuffer(tail[: -size - 4], "<u4")
    if not (is_sealed(tail) and np.array_equal(sums_of(view), sums)):
        raise ArtefactError(f"{path} is damaged: its checksum does not match")
    return view


def _segment_identity(entry: SegmentEntry, n_bytes: int) -> bytes:
    """Return what ties a file to its segment, and its length."""
    numbers = np.array([entry.rows.n_bytes, entry.rows.crc, n_bytes], "<u8")
    return _DERIVED + entry.token.encode() + numbers.tobytes()

"""Segments: rows that were written at once, in an Arrow file of one record batch."""

from collections.abc import Iterable
from dataclasses import asdict
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fewbits._typing import CodeArray, IdArray
from fewbits.errors import ArtefactError, one_line
from fewbits.store._blocks import BLOCK, CheckedBytes, SummedFile
from fewbits.store._disk import Disk
from fewbits.store._files import write_file
from fewbits.store._ids import IdIndex, among_rising, keys_of
from fewbits.store._manifest import FileEntry, Manifest, SegmentEntry
from fewbits.store._names import ids_name, rows_name, sums_name, vectors_name
from fewbits.store._schema import CODE, CORRECTION, ID, OF_VECTORS, ROW, file_schema
from fewbits.store._sums import FileSums, parse_sums, sums_bytes

#: Segments with fewer rows get no index of ids: a commit has one such at most.
FEW_ROWS = 1 << 12
_MANY = 64  # rows for each id: where there are fewer, all ids are read


class ArrowFile:
    """One record batch in a mapped file, whose columns are checked when they are read.

    Parameters
    ----------
    disk : Disk
    name : str
    known : FileSums
    schema : pyarrow.Schema
    n_rows : int
        What the file must hold.

    Raises
    ------
    ArtefactError
        When it holds something else or is damaged where Arrow reads first.
    """

    def __init__(
        self, disk: Disk, name: str, known: FileSums, schema: Any, n_rows: int
    ) -> None:
        import pyarrow as pa

        self.path = str(disk.folder / name)
        self.known, self.n_rows = known, n_rows
        self.checked = CheckedBytes(
            mapped(disk, name, known.n_bytes), known.sums, self.path
        )
        start, stop = known.body
        self.checked.check(0, start)
        self.checked.check(stop, known.n_bytes)
        buffer = pa.py_buffer(self.checked.data)
        self._base = buffer.address
        self.batch = only_batch(buffer, schema, n_rows, self.path)

    def column(self, name: str) -> Any:
        """Return a column after checking all of its bytes."""
        column = self.batch.column(name)
        for start, stop in self.spans(column):
            self.checked.check(start, stop)
        return _valid(column, self.path)

    def unchecked(self, name: str) -> Any:
        """Return a column whose bytes the caller checks."""
        return self.batch.column(name)

    def spans(self, column: Any) -> Iterable[tuple[int, int]]:
        """Yield where in the file the buffers of a column lie."""
        for buffer in column.buffers():
            if buffer is not None and buffer.size:
                start = self.start_of(buffer)
                yield start, start + buffer.size

    def start_of(self, buffer: Any) -> int:
        """Return where a buffer of a column begins in the file."""
        return int(buffer.address - self._base)

    def values_start(self, column: Any) -> int:
        """Return where the values of a column of one width begin in the file."""
        return self.start_of(column.buffers()[-1])


def mapped(disk: Disk, name: str, n_bytes: int) -> Any:
    """Map a file that must have a certain length."""
    path = disk.folder / name
    try:
        data = disk.map(name)
    except FileNotFoundError:
        raise ArtefactError(
            f"{path} is missing; 'fewbits verify --repair' goes on without it"
        ) from None
    if len(data) != n_bytes:
        raise ArtefactError(
            f"{path} is damaged: {len(data):,} bytes long instead of {n_bytes:,}; "
            "'fewbits verify --repair' keeps what is intact"
        )
    return data


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


def _valid(column: Any, path: str) -> Any:
    """Return a column in which no value points outside, as one with forged sums may."""
    import pyarrow as pa
    from pyarrow import types

    if types.is_primitive(column.type) or types.is_fixed_size_binary(column.type):
        return column
    try:
        column.validate(full=True)
    except pa.ArrowException as error:
        raise ArtefactError(f"{path} is damaged: {one_line(error)}") from error
    return column


class OpenSegment:
    """The files of a segment, each opened when something in it is asked for.

    Parameters
    ----------
    disk : Disk
    manifest : Manifest
    entry : SegmentEntry
    """

    def __init__(self, disk: Disk, manifest: Manifest, entry: SegmentEntry) -> None:
        self._disk, self._manifest, self.entry = disk, manifest, entry

    @cached_property
    def _sums(self) -> list[FileSums]:
        name = sums_name(self.entry.token)
        path = self._disk.folder / name
        try:
            files = parse_sums(self._disk.map(name), str(path))
        except FileNotFoundError:
            raise ArtefactError(
                f"{path} is missing; 'fewbits verify --repair' makes it again"
            ) from None
        wanted = [e for e in (self.entry.rows, self.entry.vectors) if e is not None]
        if [file.entry for file in files] != wanted:
            raise ArtefactError(
                f"{path} belongs to other files; "
                "'fewbits verify --repair' makes it again"
            )
        return files

    @cached_property
    def rows(self) -> ArrowFile:
        """The file of sequence numbers, ids, codes and the user's columns."""
        return self._file(rows_name(self.entry.token), 0)

    @cached_property
    def vectors(self) -> ArrowFile | None:
        """The file of vectors, None where none are kept."""
        if self.entry.vectors is None:
            return None
        return self._file(vectors_name(self.entry.token), 1)

    def _file(self, name: str, number: int) -> ArrowFile:
        m = self._manifest
        schema = file_schema(m.schema, m.n_bits, m.fingerprint, vectors=bool(number))
        known = self._sums[number]
        return ArrowFile(self._disk, name, known, schema, self.entry.n_rows)

    def column(self, name: str) -> Any:
        """Return any column, checked."""
        if name in OF_VECTORS:
            if self.vectors is None:
                raise KeyError(name)
            return self.vectors.column(name)
        return self.rows.column(name)

    @cached_property
    def codes(self) -> CodeArray:
        """The codes (n_rows, n_bytes), a view of the map."""
        return self._bytes_of(CODE)

    @cached_property
    def corrections(self) -> CodeArray:
        """The corrections (n_rows, 2), a view of the map."""
        return self._bytes_of(CORRECTION)

    def _bytes_of(self, name: str) -> CodeArray:
        column = self.rows.column(name)
        width = column.type.byte_width
        start = self.rows.values_start(column)
        data = self.rows.checked.bytes[start : start + self.entry.n_rows * width]
        return data.reshape(self.entry.n_rows, width)

    @cached_property
    def sequence(self) -> IdArray:
        """The permanent numbers of the rows, rising."""
        numbers: IdArray = self.rows.column(ROW).to_numpy()
        if len(numbers) > 1 and not (numbers[1:] > numbers[:-1]).all():
            raise ArtefactError(
                f"{self.rows.path} is damaged: its rows are not in order"
            )
        return numbers

    def find(self, ids: Any) -> IdArray:
        """Return the row of each id, deleted or not, -1 where there is none.

        Parameters
        ----------
        ids : pyarrow.Array
            Of the type that the store has.
        """
        if self.entry.id_range is None:
            return self._look_up(keys_of(ids), lambda *at: self._same(ids, *at))
        low, high = self.entry.id_range
        keys = keys_of(ids)
        near = np.flatnonzero((keys >= low) & (keys <= high))
        rows = np.full(len(keys), -1, np.int64)
        if len(near) and self.entry.ids_rise and len(near) * _MANY < self.entry.n_rows:
            rows[near] = self._among_rising(keys[near])
        elif len(near):
            rows[near] = self._look_up(keys[near], None)
        return rows

    def _among_rising(self, keys: Any) -> IdArray:
        file, column = self.rows, self.rows.unchecked(ID)
        start = file.values_start(column)

        def check(places: IdArray) -> None:
            file.checked.check_blocks((start + 8 * places) // BLOCK)

        return among_rising(column.to_numpy(), keys, check)

    def _look_up(self, keys: Any, same: Any) -> IdArray:
        try:
            return self._index.find(keys, same)
        except ArtefactError:
            # Whatever the matter with the file is, the ids themselves are there.
            self.__dict__["_index"] = self._sorted()
            return self._index.find(keys, same)

    def _same(self, ids: Any, rows: IdArray, wanted: IdArray) -> NDArray[np.bool_]:
        import pyarrow.compute as pc

        here = self.rows.column(ID).take(rows)
        equal: NDArray[np.bool_] = pc.equal(here, ids.take(wanted)).to_numpy(
            zero_copy_only=False
        )
        return equal

    @cached_property
    def _index(self) -> IdIndex:
        if self.entry.ids_rise or self.entry.n_rows < FEW_ROWS:
            return self._sorted()
        name = ids_name(self.entry.token)
        width = 4 if self.entry.id_range is None else 8
        try:
            data = self._disk.map(name)
            path = str(self._disk.folder / name)
            return IdIndex.from_bytes(
                data, self.entry.n_rows, width, self.entry.token, path
            )
        except (ArtefactError, OSError):
            return self._sorted()

    def _sorted(self) -> IdIndex:
        keys = keys_of(self.rows.column(ID))
        if self.entry.ids_rise:
            return IdIndex(keys, np.arange(len(keys), dtype=np.uint32))
        return IdIndex.of(keys)


class SegmentFiles:
    """Writes the files of one segment.

    Parameters
    ----------
    disk : Disk
    manifest : Manifest
        The state before: its schema is that of the rows.
    """

    def __init__(self, disk: Disk, manifest: Manifest) -> None:
        self._disk, self._manifest = disk, manifest

    def write(self, table: Any, token: str) -> SegmentEntry:
        """Write and sync everything but the names.

        Parameters
        ----------
        table : pyarrow.Table
            With sequence numbers, ids and all columns of the schema; not empty.
        token : str
        """
        files = [self._arrow_file(table, rows_name(token), vectors=False)]
        has_vectors = any(name in OF_VECTORS for name in table.column_names)
        if has_vectors:
            files.append(self._arrow_file(table, vectors_name(token), vectors=True))
        entry = self._entry(table, token, [file.entry for file in files])
        facts = {**asdict(entry), "number": self._manifest.number + 1}
        write_file(self._disk, sums_name(token), sums_bytes(files, facts))
        return entry

    def _arrow_file(self, table: Any, name: str, *, vectors: bool) -> FileSums:
        import pyarrow as pa

        m = self._manifest
        schema = file_schema(m.schema, m.n_bits, m.fingerprint, vectors=vectors)
        batch = _one_batch(table, schema)
        file = self._disk.create(name)
        try:
            summed = SummedFile(file)
            with pa.ipc.new_file(summed, schema) as writer:
                writer.write_batch(batch)
            file.sync()
        finally:
            file.close()
        n_bytes, sums = summed.finish()
        head, tail = arrow_frame(self._disk.map(name))
        return FileSums(sums, head, tail, n_bytes)

    def _entry(self, table: Any, token: str, files: list[FileEntry]) -> SegmentEntry:
        numbers, ids = table[ROW], table[ID]
        id_range, rises = None, False
        if ids.type == "int64":
            keys = ids.to_numpy()
            id_range = int(keys.min()), int(keys.max())
            rises = bool((keys[1:] > keys[:-1]).all())
        if not rises and len(ids) >= FEW_ROWS:
            self._write_index(ids, token)
        n_rows = table.num_rows
        return SegmentEntry(
            token=token,
            n_rows=n_rows,
            n_live=n_rows,
            first=numbers[0].as_py(),
            last=numbers[n_rows - 1].as_py(),
            rows=files[0],
            vectors=files[1] if len(files) > 1 else None,
            id_range=id_range,
            ids_rise=rises,
        )

    def _write_index(self, ids: Any, token: str) -> None:
        index = IdIndex.of(keys_of(ids.combine_chunks()))
        file = self._disk.create(ids_name(token))
        try:
            for piece in index.to_bytes(token):
                file.write(piece)
        finally:
            file.close()  # not synced: it can be made again


def _one_batch(table: Any, schema: Any) -> Any:
    """Return columns of a table as one record batch, not copied where they lie so."""
    import pyarrow as pa

    columns = []
    for field in schema:
        column = table[field.name]
        whole = column.chunk(0) if column.num_chunks == 1 else column.combine_chunks()
        columns.append(whole)
    return pa.RecordBatch.from_arrays(columns, schema=schema)


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

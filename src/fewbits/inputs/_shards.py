"""Tables in files: one, or several that follow one another in the order of their names.

Parquet is read column by column and batch by batch, so that no more than what is asked
for is ever in memory; Arrow files are memory-mapped.
"""

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fewbits._arrow import (
    list_matrix,
    plain_column,
    plain_table,
    plain_type,
    stored_column,
)
from fewbits.errors import ArgumentError, ArtefactError, FewbitsError, one_line
from fewbits.inputs._common_fields import common_fields

PARQUET = {".parquet", ".pq"}
ARROW = {".arrow", ".feather", ".ipc", ".arrows"}
_BATCH = 8192  # rows: a batch of lists may hold 2**31 - 1 numbers


class Table(ABC):
    """Columns of one length; those that are asked for are read.

    Attributes
    ----------
    fields : list of pyarrow.Field
        Names and plain types, see `fewbits._arrow.plain_type`.
    auxiliary : tuple of str
        Columns that are never items unless they are named, such as the index of pandas.
    lengths : sequence of int
        Rows of each file, where the table is from files.
    """

    fields: list[Any]
    auxiliary: tuple[str, ...] = ()
    lengths: Sequence[int] = ()

    @abstractmethod
    def __len__(self) -> int:
        """Rows."""

    @abstractmethod
    def column(self, place: int) -> Any:
        """Return a plain column."""

    @abstractmethod
    def kept(self, place: int) -> Any:
        """Return a column of the type that it has, to be given back later."""

    @abstractmethod
    def vectors(self, place: int, what: str) -> NDArray[Any]:
        """Return a column of lists as a matrix, holding no second copy of it."""

    @cached_property
    def names(self) -> list[str]:
        """Names of the columns, in order."""
        return [field.name for field in self.fields]


class Loaded(Table):
    """A table that is in memory, or mapped."""

    def __init__(self, table: Any, auxiliary: tuple[str, ...] = ()) -> None:
        self._given, self._table = table, plain_table(table)
        self.fields = list(self._table.schema)
        self.auxiliary = auxiliary

    def __len__(self) -> int:
        return int(self._table.num_rows)

    def column(self, place: int) -> Any:
        return self._table.column(place)

    def kept(self, place: int) -> Any:
        return stored_column(self._given.column(place))

    def vectors(self, place: int, what: str) -> NDArray[Any]:
        return list_matrix(self._table.column(place), what)


class ParquetShards(Table):
    """Parquet files that have the same columns."""

    def __init__(self, paths: Sequence[Path]) -> None:
        from pyarrow import parquet

        # No file stays open: there may be more than a process may have open.
        schemas, counts = [], []
        for path in paths:
            with damage_told(path, "Parquet"), parquet.ParquetFile(path) as file:
                schemas.append(_plain_fields(file.schema_arrow))
                counts.append(int(file.metadata.num_rows))
        self.fields = common_fields(schemas, paths)
        self._paths = paths
        self.lengths = counts

    def __len__(self) -> int:
        return sum(self.lengths)

    def column(self, place: int) -> Any:
        kind = self.fields[place].type
        found = [plain_column(each) for each in self._batches(place)]
        return _joined([_as_type(each, kind) for each in found], kind)

    def kept(self, place: int) -> Any:
        found = [stored_column(each) for each in self._batches(place)]
        if len({str(each.type) for each in found}) != 1:
            return self.column(place)
        return _joined(found, found[0].type)

    def vectors(self, place: int, what: str) -> NDArray[Any]:
        matrix = np.empty((0, 0))
        start, kind = 0, self.fields[place].type
        for batch in self._batches(place):
            lists = _chunked(_as_type(plain_column(batch), kind))
            rows = list_matrix(lists, what, start)
            if not len(rows):
                continue
            if not start:
                matrix = np.empty((len(self), rows.shape[1]), rows.dtype)
            if rows.shape[1] != matrix.shape[1]:
                raise ArgumentError(
                    f"{what} has vectors of several lengths: {matrix.shape[1]} numbers "
                    f"in row 0, {rows.shape[1]} in row {start}"
                )
            matrix[start : start + len(rows)] = rows
            start += len(rows)
        return matrix

    def _batches(self, place: int) -> Iterator[Any]:
        """Yield the arrays of one column, by its place: names may repeat."""
        from pyarrow import parquet

        name = self.fields[place].name
        nth = self.names[:place].count(name)
        for path in self._paths:
            with damage_told(path, "Parquet"), parquet.ParquetFile(path) as file:
                for batch in file.iter_batches(_BATCH, columns=[name]):
                    # A name with a dot also asks for the fields of a struct.
                    same = [i for i, n in enumerate(batch.schema.names) if n == name]
                    column = batch.column(same[nth])
                    column.validate(full=True)
                    yield column


def open_tables(paths: Sequence[Path]) -> Table:
    """Return the table of one file, or of several that have the same columns."""
    if all(path.suffix.lower() in PARQUET for path in paths):
        return ParquetShards(paths)
    import pyarrow as pa

    tables = [_read_arrow(path) for path in paths]
    schemas = [_plain_fields(table.schema) for table in tables]
    fields = common_fields(schemas, paths)
    first = tables[0].schema
    if any(table.schema.names != first.names for table in tables):
        tables = [table.select(first.names) for table in tables]
    if any(table.schema.types != first.types for table in tables):
        tables = [_as_fields(plain_table(table), fields) for table in tables]
    loaded = Loaded(
        pa.concat_tables(_cast(table, tables[0].schema) for table in tables)
    )
    loaded.lengths = [table.num_rows for table in tables]
    return loaded


def _as_type(column: Any, kind: Any) -> Any:
    return column if column.type == kind else column.cast(kind)


def _as_fields(table: Any, fields: Sequence[Any]) -> Any:
    import pyarrow as pa

    columns = [
        _as_type(column, field.type)
        for column, field in zip(table.columns, fields, strict=True)
    ]
    return pa.table(columns, names=table.column_names)


@contextmanager
def damage_told(source: Path | str, what: str) -> Iterator[None]:
    """Turn Arrow's error about a damaged file into one line."""
    import pyarrow as pa

    try:
        yield
    except (FewbitsError, PermissionError, FileNotFoundError):
        raise
    except (pa.ArrowException, OSError, UnicodeDecodeError, ValueError) as error:
        raise ArtefactError(
            f"{source} is not a {what} file: {one_line(error)}"
        ) from error


def _read_arrow(path: Path) -> Any:
    """Map an Arrow file, or a stream, as Hugging Face's datasets write it."""
    import pyarrow as pa
    from pyarrow import feather

    with damage_told(path, path.suffix):
        with path.open("rb") as file:
            head = file.read(6)
        if head.startswith(b"FEA1"):  # the first version of Feather
            return feather.read_table(path)
        return read_ipc(pa.memory_map(str(path)), head)


def read_ipc(source: Any, head: bytes) -> Any:
    """Return the table of an Arrow file or stream, which begins with `head`.

    What is damaged is refused before Arrow would look behind the end of a buffer.
    """
    import pyarrow as pa

    is_file = head.startswith(b"ARROW1")
    with pa.ipc.open_file(source) if is_file else pa.ipc.open_stream(source) as reader:
        table = reader.read_all()
    table.validate(full=True)
    return table


def _cast(table: Any, schema: Any) -> Any:
    """Return a table with what a schema says beside types, such as about nulls."""
    return table if table.schema.equals(schema) else table.cast(schema)


def _plain_fields(schema: Any) -> list[Any]:
    import pyarrow as pa

    return [pa.field(field.name, plain_type(field.type)) for field in schema]


def _chunked(column: Any) -> Any:
    import pyarrow as pa

    return column if isinstance(column, pa.ChunkedArray) else pa.chunked_array([column])


def _joined(columns: Sequence[Any], kind: Any) -> Any:
    import pyarrow as pa

    chunks = [chunk for column in columns for chunk in _chunked(column).chunks]
    return pa.chunked_array(chunks, kind)

"""Tables in memory and in files, of which those columns are read that are asked for.

Parquet is read column by column and batch by batch, so that no more than what is asked
for is ever in memory; Arrow files are memory-mapped. Several files follow one another,
and folders named ``year=2020``, as Hive and Spark write partitions, give a column.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from copy import copy
from mmap import ACCESS_READ, mmap
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import unquote

import numpy as np
from numpy.typing import NDArray

from fewbits._arrow import (
    chunks_of,
    is_list,
    list_matrix,
    own_memory,
    plain_column,
    plain_type,
    stored_column,
)
from fewbits._lazy import pa, pc
from fewbits.errors import ArgumentError, ArtefactError, FewbitsError, one_line

PARQUET = {".parquet", ".pq"}
ARROW = {".arrow", ".feather", ".ipc", ".arrows"}
_BATCH = 8192  # rows: a batch of lists may hold 2**31 - 1 numbers


class Table:
    """Columns of one length, which are read when they are asked for.

    Columns go by their places, as names may repeat: `arrays` yields the Arrow arrays of
    the column at a place. Auxiliary columns are never items unless they are named, such
    as the index of pandas. A column that is not in memory takes time to read. Fields of
    structs get places behind the columns when they are asked for.
    """

    def __init__(
        self,
        fields: Iterable[Any],
        n_rows: int,
        arrays: Callable[[int], Iterable[Any]],
        auxiliary: tuple[str, ...] = (),
        *,
        in_memory: bool = True,
        is_ours: bool = True,
    ) -> None:
        self.fields = _plain_fields(fields)
        self.names: list[str] = [field.name for field in self.fields]
        self.n_columns = len(self.fields)
        self.auxiliary, self.in_memory = auxiliary, in_memory
        self._is_ours = is_ours  # else others may write to the arrays
        self._n_rows, self._arrays, self._mask = n_rows, arrays, None
        self._read: dict[int, list[Any]] = {}
        self._columns: dict[int, Any] = {}
        self._structs: dict[int, tuple[int, str]] = {}  # of fields, with their names

    @classmethod
    def of(cls, table: Any, auxiliary: tuple[str, ...] = ()) -> "Table":
        """Return a pyarrow.Table as a table."""
        return cls(
            table.schema, len(table), lambda i: table.column(i).chunks, auxiliary
        )

    def __len__(self) -> int:
        return self._n_rows

    def places(self, name: str) -> list[int]:
        """Return the places of columns of a name, or of a field as ``place.city``."""
        places = [i for i, other in enumerate(self.names) if other == name]
        outer, _, inner = name.rpartition(".")
        if places or not outer or len(structs := self.places(outer)) != 1:
            return places
        kind = self.fields[structs[0]].type
        if not str(kind).startswith("struct<") or kind.get_field_index(inner) < 0:
            return []
        self._structs[len(self.fields)] = structs[0], inner
        self.fields += _plain_fields([kind.field(inner).with_name(name)])
        self.names.append(name)
        return [len(self.fields) - 1]

    def column(self, place: int) -> Any:
        """Return a plain column; it stays in memory."""
        if place not in self._columns:
            self._read.setdefault(place, list(self._chunks(place)))
            chunks = list(self._plain(place))
            self._columns[place] = pa.chunked_array(chunks, self.fields[place].type)
        return self._columns[place]

    def stored_column(self, place: int) -> Any:
        """Return a column of the type that it has, to be given back later."""
        chunks = list(self._of_mask(map(stored_column, self._chunks(place))))
        if len({str(chunk.type) for chunk in chunks}) != 1:
            column = self.column(place)
        else:
            column = pa.chunked_array(chunks)
        return column if self._is_ours else own_memory(column)

    def vectors(self, place: int, what: str) -> NDArray[Any]:
        """Return a column of lists as a matrix, holding no second copy of it."""
        return list_matrix(self._plain(place), len(self), what)

    def of_rows(self, mask: Any) -> "Table":
        """Return the rows where a mask, a pyarrow.Array of bool, says so."""
        rows = copy(self)
        rows._mask, rows._n_rows, rows._columns = mask, mask.true_count, {}
        return rows

    def _chunks(self, place: int) -> Iterable[Any]:
        """Return the arrays of a column, or of a field, of all rows."""
        if place in self._read:
            return self._read[place]
        if place not in self._structs:
            return self._arrays(place)
        struct, name = self._structs[place]
        chunks = self._read.setdefault(struct, list(self._chunks(struct)))
        return [pc.struct_field(chunk, name) for chunk in chunks]

    def _plain(self, place: int) -> Iterator[Any]:
        kind = self.fields[place].type
        for chunk in self._of_mask(map(plain_column, self._chunks(place))):
            yield chunk if chunk.type == kind else chunk.cast(kind)

    def _of_mask(self, columns: Iterable[Any]) -> Iterator[Any]:
        start = 0
        for chunk in (chunk for column in columns for chunk in chunks_of(column)):
            if self._mask is None:
                yield chunk
            else:
                yield chunk.filter(self._mask.slice(start, len(chunk)))
                start += len(chunk)


class _File(NamedTuple):
    """One file of a table: its rows, and its arrays by name and which of that name."""

    schema: Any
    n_rows: int
    arrays: Callable[[str, int], Iterable[Any]]


def open_tables(paths: Sequence[Path]) -> Table:
    """Return the table of one file, or of several that have the same columns."""
    files = [
        _parquet_file(path) if path.suffix.lower() in PARQUET else _arrow_file(path)
        for path in paths
    ]
    fields = _common_fields([_plain_fields(file.schema) for file in files], paths)
    names = [field.name for field in fields]
    parts = partitions(paths)
    parts = {name: parts[name] for name in parts if name not in names}  # some keep both
    more = [pa.field(name, values.type) for name, values in parts.items()]

    def arrays(place: int) -> Iterator[Any]:
        if place >= len(fields):
            values = parts[more[place - len(fields)].name]
            for i, file in enumerate(files):
                yield values.take(np.full(file.n_rows, i))
            return
        name = names[place]
        for file in files:
            yield from file.arrays(name, names[:place].count(name))

    n_rows = sum(file.n_rows for file in files)
    in_memory = not any(path.suffix.lower() in PARQUET for path in paths)
    return Table([*fields, *more], n_rows, arrays, tuple(parts), in_memory=in_memory)


def _parquet_file(path: Path) -> _File:
    from pyarrow import parquet

    # No file stays open: there may be more than a process may have open.
    with damage_as_error(path, "Parquet"), parquet.ParquetFile(path) as opened:
        schema, n_rows = opened.schema_arrow, opened.metadata.num_rows
        start, metadata = 0, opened.metadata
        if metadata.num_row_groups and metadata.num_columns:
            group = metadata.row_group(metadata.num_row_groups - 1)
            start = group.column(metadata.num_columns - 1).data_page_offset
        check_one_file(path, start)

    def arrays(name: str, nth: int) -> Iterator[Any]:
        with damage_as_error(path, "Parquet"), parquet.ParquetFile(path) as opened:
            for batch in opened.iter_batches(_BATCH, columns=[name]):
                # A name with a dot also asks for the fields of a struct.
                array = batch.column(_places(batch.schema, name)[nth])
                array.validate(full=True)
                yield array

    return _File(schema, n_rows, arrays)


def _arrow_file(path: Path) -> _File:
    """Map an Arrow file, or a stream, as Hugging Face's datasets write it."""
    from pyarrow import feather

    with damage_as_error(path, path.suffix):
        with path.open("rb") as file:
            head = file.read(6)
        if head.startswith(b"FEA1"):  # the first version of Feather
            table = feather.read_table(path)
        else:
            check_one_file(path)
            table = read_ipc(pa.memory_map(str(path)), head)
    return _File(
        table.schema,
        table.num_rows,
        lambda name, nth: table.column(_places(table.schema, name)[nth]).chunks,
    )


def read_ipc(source: Any, head: bytes) -> Any:
    """Return the table of an Arrow file or stream, which begins with `head`."""
    if head.startswith(b"ARROW1"):
        with pa.ipc.open_file(source) as reader:
            table = reader.read_all()
    else:
        tables = []
        while any(head):  # several streams may follow one another; zeros fill up
            with pa.ipc.open_stream(source) as reader:
                tables.append(reader.read_all())
            head = source.read_at(8, source.tell())
        if any(other.schema != tables[0].schema for other in tables):
            raise ValueError("it holds streams of several schemas")
        table = pa.concat_tables(tables)
    table.validate(full=True)
    return table


#: Where one file ends and another begins.
_SEAMS = b"PAR1PAR1", b"ARROW1ARROW1\0\0"


def check_one_file(source: Path | bytes, start: int = 0) -> None:
    """Refuse files that were joined to one, of which readers see a mixture."""
    content: Any = source
    if isinstance(source, Path):
        with source.open("rb") as file:
            content = mmap(file.fileno(), 0, access=ACCESS_READ)
    if any(content.find(seam, start) >= 0 for seam in _SEAMS):
        raise ValueError("it holds several, joined: keep each as a file of its own")


@contextmanager
def damage_as_error(source: Path | str, what: str) -> Iterator[None]:
    """Turn Arrow's error about a damaged file into one line."""
    try:
        yield
    except (FewbitsError, PermissionError, FileNotFoundError):
        raise
    except (pa.ArrowException, OSError, UnicodeDecodeError, ValueError) as error:
        raise ArtefactError(
            f"{source} is not a {what} file: {one_line(error)}"
        ) from error


def _places(schema: Any, name: str) -> list[int]:
    return [i for i, other in enumerate(schema.names) if other == name]


def _plain_fields(fields: Iterable[Any]) -> list[Any]:
    return [field.with_type(plain_type(field.type)) for field in fields]


def _common_fields(schemas: Sequence[list[Any]], paths: Sequence[Path]) -> list[Any]:
    """Return fields that hold the columns of all files, in the order of the first."""
    first = list(schemas[0])
    names = [field.name for field in first]
    for schema, path in zip(schemas[1:], paths[1:], strict=True):
        if [field.name for field in schema] != names:
            by_name = {field.name: field for field in schema}
            if len(by_name) < len(schema) or sorted(by_name) != sorted(names):
                odd = sorted({*by_name} ^ {*names}) or sorted(by_name)
                raise ArgumentError(
                    f"{path} has other columns than {paths[0]}: {odd[0]!r} is in only "
                    "one of them, or several times"
                )
            schema = [by_name[name] for name in names]
        for i, (own_field, field) in enumerate(zip(schema, first, strict=True)):
            kind = _wider(field.type, own_field.type)
            if kind is None:
                raise ArgumentError(
                    f"{path} has another column {field.name!r} than {paths[0]}: it "
                    f"holds {own_field.type}, not {field.type}"
                )
            first[i] = field.with_type(kind)
    return first


def _wider(one: Any, two: Any) -> Any:
    """Return the type that holds the values of both exactly, None if there is none."""
    if one == two or pa.types.is_null(two):
        return one
    if pa.types.is_null(one):
        return two
    if is_list(one) and is_list(two):
        value = _wider(one.value_type, two.value_type)
        if value is None:
            return None
        size = getattr(one, "list_size", None)
        same = size is not None and size == getattr(two, "list_size", None)
        return pa.list_(value, size) if same else pa.large_list(value)
    for is_kind in (pa.types.is_integer, pa.types.is_floating):
        if is_kind(one) and is_kind(two):
            dtypes = one.to_pandas_dtype(), two.to_pandas_dtype()
            kind = pa.from_numpy_dtype(np.result_type(*dtypes))
            return kind if is_kind(kind) else None
    return None


# Columns in the names of folders

#: What Hive writes for a value that is missing.
_MISSING = "__HIVE_DEFAULT_PARTITION__"
_INTEGER = re.compile(r"-?(?:0|[1-9]\d{0,17})")


def is_partition(path: Path) -> bool:
    """Return whether a folder is named ``column=value``."""
    return bool(path.name.partition("=")[0] and "=" in path.name)


def partitions(paths: Sequence[Path]) -> dict[str, Any]:
    """Return the columns in the names of folders, a value per file."""
    rows: list[dict[str, str | None]] = []
    for path in paths:
        folders = [part for part in path.parts[:-1] if is_partition(Path(part))]
        pairs = [part.partition("=") for part in folders]
        rows.append(
            {unquote(x): None if y == _MISSING else unquote(y) for x, _, y in pairs}
        )
        if list(rows[-1]) != list(rows[0]):
            raise ArgumentError(
                f"{path} lies in folders of other columns than {paths[0]}: "
                f"{', '.join(rows[-1]) or 'none'}, not {', '.join(rows[0]) or 'none'}"
            )
    columns = {}
    for name in rows[0]:
        column = pa.array([row[name] for row in rows], pa.large_string())
        full = column.drop_null().to_pylist()
        are_numbers = full and all(map(_INTEGER.fullmatch, full))
        columns[name] = column.cast(pa.int64()) if are_numbers else column
    return columns

"""Tables and columns of any library as plain Arrow, and their values as Python's."""

import sys
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from difflib import get_close_matches
from pathlib import PurePath
from typing import Any

import numpy as np

from fewbits._arrow._python import array_of
from fewbits._lazy import pa, pc
from fewbits.errors import ArgumentError, a_kind, one_line

_MANY = 30  # names in a message
#: What Arrow and other libraries raise of values that they do not know.
_UNREADABLE = (TypeError, ValueError, OverflowError, NotImplementedError)


# Kinds of columns


def is_text(kind: Any) -> bool:
    """Return whether a type holds texts."""
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind))


def is_list(kind: Any) -> bool:
    """Return whether a type holds lists of numbers, which may be vectors."""
    lists = (pa.types.is_list, pa.types.is_large_list, pa.types.is_fixed_size_list)
    return any(is_one(kind) for is_one in lists) and is_number(kind.value_type)


def is_number(kind: Any) -> bool:
    """Return whether a type is numeric; booleans are not."""
    return bool(pa.types.is_integer(kind) or pa.types.is_floating(kind))


def plain_type(kind: Any) -> Any:
    """Return the plain type with the same values; decimals become float64."""
    if isinstance(kind, pa.BaseExtensionType):
        return plain_type(kind.storage_type)
    if pa.types.is_dictionary(kind) or pa.types.is_run_end_encoded(kind):
        return plain_type(kind.value_type)
    if pa.types.is_string(kind) or pa.types.is_string_view(kind):
        return pa.large_string()
    if pa.types.is_binary_view(kind):
        return pa.large_binary()
    if pa.types.is_decimal(kind):
        return pa.float64()
    if pa.types.is_fixed_size_list(kind):
        return pa.list_(plain_type(kind.value_type), kind.list_size)
    lists = (pa.types.is_list, pa.types.is_large_list)
    views = (pa.types.is_list_view, pa.types.is_large_list_view)
    if any(is_one(kind) for is_one in (*lists, *views)):
        return pa.large_list(plain_type(kind.value_type))
    return kind


def known_names(names: Iterable[str]) -> str:
    """Return the names of columns for a message of one line, a few of many."""
    names = list(names)
    more = f" and {len(names) - _MANY} more" if len(names) > _MANY else ""
    # A blank at an end of a name is its part, and would not be seen.
    shown = [name if name == name.strip(" ") != "" else repr(name) for name in names]
    line = ", ".join(shown[:_MANY]) + more
    return "".join(letter if letter.isprintable() else "?" for letter in line)


def no_column(what: str, name: str, names: Iterable[str]) -> str:
    """Return the message that there is no column of a name."""
    names = list(names)
    near = get_close_matches(str(name), names, n=1)
    meant = f" (did you mean {near[0]!r}?)" if near else ""
    has = known_names(names) or "none"
    return f"{what} has no column {name!r}{meant}; it has {has}"


def split_names(names: Iterable[str], columns: Iterable[str]) -> list[str]:
    """Return names of columns, with lists such as "title,year" taken apart.

    A name that is in `columns` with its comma stays whole.

    Examples
    --------
    >>> split_names(["a,b", "c"], ["a", "b", "c"]), split_names(["a,b"], ["a,b", "a"])
    (['a', 'b', 'c'], ['a,b'])
    """
    columns, split = list(columns), list[str]()
    for name in names:
        if isinstance(name, str) and "," in name and name not in columns:
            split += map(str.strip, name.split(","))
        else:
            split.append(name)
    return split


# Columns of any encoding


def plain_table(table: Any) -> Any:
    """Return the table with every column as `plain_column` has it."""
    columns = [plain_column(column) for column in table.columns]
    return pa.table(columns, names=table.column_names)


def plain_column(column: Any) -> Any:
    """Return a column whose type is plain, see `plain_type`; most are so already."""
    kind = plain_type(column.type)
    if column.type == kind:
        return column
    return pa.chunked_array([_plain(chunk, kind) for chunk in chunks_of(column)], kind)


def chunks_of(column: Any) -> list[Any]:
    """Return the arrays of a column that may be one array."""
    chunks: list[Any] = getattr(column, "chunks", [column])
    return chunks


def stored_column(column: Any) -> Any:
    """Return a column of the type that it has, but for views and run-ends.

    These say how values lie in memory, not what they are, and few kernels know them.
    """
    kind = column.type
    if _is_layout(kind):
        return plain_column(column)
    if not (pa.types.is_dictionary(kind) and _is_layout(kind.value_type)):
        return column
    values = plain_type(kind.value_type)  # Arrow cannot decode views
    return pa.chunked_array(
        pa.DictionaryArray.from_arrays(
            chunk.indices, _plain(chunk.dictionary, values), ordered=kind.ordered
        )
        for chunk in chunks_of(column) or [pa.array([], kind)]
    )


def _is_layout(kind: Any) -> bool:
    texts = pa.types.is_string_view(kind) or pa.types.is_binary_view(kind)
    lists = pa.types.is_list_view(kind) or pa.types.is_large_list_view(kind)
    return bool(texts or lists or pa.types.is_run_end_encoded(kind))


def _plain(chunk: Any, kind: Any) -> Any:
    if isinstance(chunk, pa.ExtensionArray):
        return _plain(chunk.storage, kind)
    if pa.types.is_dictionary(chunk.type):
        # Arrow itself takes no views from a dictionary, as polars writes them.
        return _plain(chunk.dictionary, kind).take(chunk.indices)
    if pa.types.is_run_end_encoded(chunk.type):
        return _plain(pc.run_end_decode(chunk), kind)
    if chunk.type == kind:
        return chunk
    if pa.types.is_decimal(chunk.type):  # Arrow's own cast to floats rounds twice
        chunk = chunk.cast(pa.string())
    if pa.types.is_large_list(kind):  # Arrow's own cast loses rows of list views
        return with_members(chunk, _plain(chunk.flatten(), kind.value_type))
    try:
        return chunk.cast(kind)
    except pa.ArrowException as error:
        raise ArgumentError(
            f"cannot read values of type {chunk.type}: {one_line(error)}"
        ) from None


def with_members(lists: Any, members: Any) -> Any:
    """Return lists of any lengths as large ones, with other members in their order."""
    lengths = lists.value_lengths().fill_null(0).to_numpy(zero_copy_only=False)
    offsets = pa.array(np.concatenate([[0], np.cumsum(lengths, dtype=np.int64)]))
    mask = lists.is_null() if lists.null_count else None
    return pa.LargeListArray.from_arrays(offsets, members, mask=mask)


def one_chunk(column: Any) -> Any:
    """Return a column as one array, not copied where it lies so."""
    if not hasattr(column, "num_chunks"):
        return column
    return column.chunk(0) if column.num_chunks == 1 else column.combine_chunks()


def own_memory(column: Any) -> Any:
    """Return a copy of a column in read-only memory."""
    return own_table(pa.table([column], names=[""])).column(0)


def own_table(table: Any) -> Any:
    """Return a copy of a table in read-only memory."""
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table)
    return pa.ipc.open_stream(sink.getvalue()).read_all()


# Data frames and their columns


def is_frame(items: Any) -> bool:
    """Return whether an object is a table of pandas, polars, pyarrow or others."""
    kind = type(items)  # a LazyFrame of polars warns when it is asked itself
    if hasattr(kind, "column_names") and hasattr(kind, "schema"):
        return True  # pyarrow.Table and RecordBatch
    if hasattr(kind, "columns") and hasattr(kind, "dtypes"):
        return True  # pandas and polars
    streams = hasattr(items, "__arrow_c_stream__") and "pyarrow" in sys.modules
    return streams and hasattr(kind, "columns")  # such as a relation of DuckDB


def frame_names(frame: Any) -> list[str]:
    """Return the names of the columns of a data frame."""
    if hasattr(frame, "collect_schema"):  # polars, also a LazyFrame
        return [*frame.collect_schema()]
    names = getattr(frame, "column_names", None)
    return [*map(str, frame.columns if names is None else names)]


def is_column(items: Any) -> bool:
    """Return whether an object is one column: a Series, or an Arrow array."""
    if is_frame(items):
        return False
    if not _is_pandas(items, "Series"):
        return any(hasattr(items, f"__arrow_c_{way}__") for way in ("stream", "array"))
    first = items.iloc[0] if items.dtype == object and len(items) else None
    # Arrow has no type for paths and pictures: a Series of these is read as a list.
    return not (isinstance(first, PurePath) or hasattr(first, "getbands"))


def as_table(frame: Any) -> Any:
    """Return a data frame as an Arrow table of plain columns, see `typed_table`."""
    table = typed_table(frame)
    with _one_line(f"cannot read the {type(frame).__name__}"):
        return plain_table(table)


def typed_table(frame: Any) -> Any:
    """Return a data frame as an Arrow table of its types, without an index."""
    table, reasons = typed_columns(frame)
    for name, reason in reasons.items():
        kind = type(frame).__name__
        raise ArgumentError(f"cannot read the {kind}: column {name!r}: {reason}")
    return table


def typed_columns(frame: Any) -> tuple[Any, dict[str, str]]:
    """Return the table, and why columns cannot be read; these are null in it."""
    if isinstance(frame, pa.Table):
        return frame, {}
    if isinstance(frame, pa.RecordBatch):
        return pa.Table.from_batches([frame]), {}
    with _one_line(f"cannot read the {type(frame).__name__}"):
        if hasattr(frame, "collect"):  # a LazyFrame of polars
            frame = frame.collect()
        is_pandas = _is_pandas(frame, "DataFrame")
        kinds = map(str, getattr(frame, "dtypes", ()))
        if not is_pandas and "Object" not in kinds:  # of polars
            return pa.table(frame), {}
    names = [*map(str, frame.columns)]
    columns, reasons = [], {}
    for i, name in enumerate(names):
        try:
            columns.append(_column(frame.iloc[:, i] if is_pandas else frame[name]))
        except (pa.ArrowException, *_UNREADABLE) as error:
            columns.append(pa.nulls(len(frame)))
            reasons[name] = one_line(error)
    return pa.table(columns, names=names), reasons


def as_frame(items: Any) -> Any:
    """Return rows or columns of Python, or what gives an Arrow table, as a table.

    A dict of columns, a list of rows with names (dicts, named tuples, Series of
    pandas), a RecordBatchReader, which is read to its end, or a dataset of pyarrow;
    anything else is returned as it is, but that columns of pandas that are numbered
    from 0 on get into this order.
    """
    if isinstance(items, np.ndarray | str):  # the most frequent: Arrow stays unloaded
        return items
    kind = type(items)
    if hasattr(kind, "schema"):
        way = next((x for x in ("read_all", "to_table") if hasattr(kind, x)), None)
        return items if way is None else getattr(items, way)()
    if _is_pandas(items, "DataFrame"):
        labels, numbers = [*items.columns], [*range(items.shape[1])]
        is_numbered = all(isinstance(x, int | np.integer) for x in labels)
        if is_numbered and sorted(labels) == numbers != labels:
            return items.iloc[:, np.argsort(labels)]
        return items
    if isinstance(items, list | tuple) and items and _share_labels(items):
        make_frame = type(items[0].to_frame())  # pandas stays unimported here
        return as_frame(make_frame([*items]).reset_index(drop=True))
    is_rows = isinstance(items, list | tuple) and items and _has_names(items[0])
    if not (is_rows or _is_row(items)):
        return items
    arrays: dict[str, Any] = {}
    with _one_line(f"cannot read the {kind.__name__} as a table"):
        if is_rows:
            if not all(map(_has_names, items)):
                raise ValueError("some rows have names, some have none")
            rows = []
            for row in items:
                if _is_pandas(row, "Series"):
                    if not row.index.is_unique:
                        raise ValueError("a name comes twice in a row")
                    row = row.to_dict()
                rows.append(row._asdict() if hasattr(row, "_asdict") else row)
            names = dict.fromkeys(name for row in rows for name in row)
            items = {x: [row.get(x) for row in rows] for x in names}
        for name, values in items.items():
            is_one = isinstance(values, str | bytes | Mapping)
            if is_one or not hasattr(values, "__len__"):
                raise ValueError(f"{name!r} is {a_kind(values)}, not a column")
            if str(name) in arrays:
                raise ValueError(f"two columns are named {str(name)!r}")
            is_matrix = getattr(values, "ndim", 1) > 1
            arrays[str(name)] = _column([*values] if is_matrix else values)
        return pa.table(arrays)


def rows_by_names(items: Any) -> dict[frozenset[str], list[int]]:
    """Return the positions of a list's rows by the names that they have.

    Nothing of anything else, in which all rows have all columns.
    """
    positions: dict[frozenset[str], list[int]] = {}
    if isinstance(items, list | tuple) and items and all(map(_has_names, items)):
        for i, row in enumerate(items):
            is_series = _is_pandas(row, "Series")
            names = frozenset(
                map(str, row.index if is_series else getattr(row, "_fields", row))
            )
            positions.setdefault(names, []).append(i)
    return positions


def by_name(columns: Any) -> Any:
    """Return columns by their names, of a frame, rows or a Series; others as given."""
    if _is_pandas(columns, "Series") and not is_text(_column(columns).type):
        if not isinstance(columns.name, str):
            raise ArgumentError(
                "columns are a mapping of names to values, got a Series without a name"
            )
        return {columns.name: columns}
    if isinstance(columns, Mapping) or not is_frame(table := as_frame(columns)):
        return columns
    table = typed_table(table)
    return {name: table[name] for name in table.column_names}


def is_mixed(frame: Any) -> bool:
    """Return False of a frame of pandas with one column, or NumPy's numbers alone."""
    if not _is_pandas(frame, "DataFrame"):
        return True
    return len(frame.columns) > 1 and any(
        getattr(dtype, "kind", "O") not in "fiub" for dtype in frame.dtypes
    )


def with_index(frame: Any) -> tuple[Any, tuple[str, ...]]:
    """Return a frame of pandas with named levels of its index as columns, and these."""
    if not _is_pandas(frame, "DataFrame"):
        return frame, ()
    columns = {*map(str, frame.columns)}
    names = [x for x in frame.index.names if isinstance(x, str) and x not in columns]
    if twice := next((x for x in names if names.count(x) > 1), None):
        raise ArgumentError(f"two levels of the index are named {twice!r}")
    return (frame.reset_index(level=names) if names else frame), tuple(names)


def as_column(column: Any) -> Any:
    """Return a Series, an Arrow array or a list as a plain Arrow column."""
    with _one_line("must be a list of values of one type"):
        return plain_column(_column(column))


def typed_column(column: Any) -> Any:
    """Return what `as_column` does, of the type that it has, in memory of its own."""
    with _one_line("must be a list of values of one type"):
        typed = stored_column(_column(column))
        # Other libraries than Arrow write in place.
        foreign = _is_pandas(column, "Series") or _streams(column)
        return own_memory(typed) if foreign else typed


@contextmanager
def _one_line(what: str) -> Iterator[None]:
    """Turn errors of Arrow into one line."""
    try:
        yield
    except (pa.ArrowException, *_UNREADABLE) as error:
        raise ArgumentError(f"{what}: {one_line(error)}") from None


def _column(column: Any) -> Any:
    # Of objects of polars, Arrow would get the addresses in memory.
    is_object = str(getattr(column, "dtype", "")) in ("object", "Object")
    if is_object or isinstance(column, list | tuple):
        array = array_of(column)
    elif _is_pandas(column, "Series"):
        if str(column.dtype).startswith(("period", "interval")):
            # Arrow would store their numbers.
            raise ValueError(
                f"the column holds {column.dtype}; convert it, as by .astype(str)"
            )
        if str(column.dtype).startswith("Sparse"):  # which Arrow has no type for
            column = column.sparse.to_dense()
        array = pa.Array.from_pandas(column)
    elif _streams(column):
        array = pa.chunked_array(column)
    else:
        arrays = pa.ChunkedArray, pa.Array
        array = column if isinstance(column, arrays) else pa.array(column)
    return array if isinstance(array, pa.ChunkedArray) else pa.chunked_array([array])


def _is_row(item: Any) -> bool:
    """Return whether an object is a dict of columns, or a row; SciPy has dicts, too."""
    return isinstance(item, Mapping) and not hasattr(item, "toarray")


def _share_labels(items: Any) -> bool:
    """Return whether items are Series of the same labels, which are no texts.

    Labels that are numbers from 0 on are no names, nor those of windows of a Series.
    """
    first = items[0]
    if not _is_pandas(first, "Series") or _has_names(first):
        return False
    labels = first.index
    return not np.array_equal(labels, np.arange(len(labels))) and all(
        _is_pandas(row, "Series") and labels.equals(row.index) for row in items
    )


def _has_names(row: Any) -> bool:
    """Return whether a row of a list is a dict, a named tuple or a named Series."""
    if _is_pandas(row, "Series"):
        return len(row) > 0 and all(isinstance(name, str) for name in row.index)
    return _is_row(row) or (isinstance(row, tuple) and hasattr(row, "_fields"))


def _streams(items: Any) -> bool:
    is_arrow = isinstance(items, pa.ChunkedArray)
    return hasattr(items, "__arrow_c_stream__") and not is_arrow


def _is_pandas(items: Any, name: str) -> bool:
    """Return whether an object is of pandas, without importing pandas."""
    return any(
        kind.__name__ == name and kind.__module__.split(".")[0] == "pandas"
        for kind in type(items).__mro__
    )

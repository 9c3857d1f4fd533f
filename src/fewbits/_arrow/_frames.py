"""Data frames of any library as Arrow tables, and their columns."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import PurePath
from typing import Any

import numpy as np

from fewbits._arrow._plain import own_memory, plain_column, plain_table, stored_column
from fewbits.errors import ArgumentError, a_kind, one_line


def is_frame(items: Any) -> bool:
    """Return whether an object is a table of pandas, polars, pyarrow or others."""
    kind = type(items)  # a LazyFrame of polars warns when it is asked itself
    if hasattr(kind, "column_names") and hasattr(kind, "schema"):
        return True  # pyarrow.Table and RecordBatch
    if hasattr(kind, "columns") and hasattr(kind, "dtypes"):
        return True  # pandas and polars
    return _streams_rows(items)


def is_column(items: Any) -> bool:
    """Return whether an object is one column: a Series, or an Arrow array.

    Paths and pictures are nothing that Arrow knows: a Series of such is a plain list.
    """
    if is_frame(items):
        return False
    if _is_pandas(items, "Series"):
        return not (items.dtype == object and len(items) and _is_image(items.iloc[0]))
    return any(hasattr(items, f"__arrow_c_{way}__") for way in ("stream", "array"))


def as_table(frame: Any) -> Any:
    """Return a data frame as an Arrow table of plain columns.

    Parameters
    ----------
    frame : data frame of pandas, polars or pyarrow, or with ``__arrow_c_stream__``
        The index of pandas is left out, as scikit-learn does.

    Returns
    -------
    pyarrow.Table

    Raises
    ------
    ArgumentError
        When Arrow has no type for what a column holds.
    """
    with _naming(f"cannot read the {type(frame).__name__}"):
        return plain_table(_table(frame))


def typed_table(frame: Any) -> Any:
    """Return a data frame as an Arrow table whose columns keep their types."""
    with _naming(f"cannot read the {type(frame).__name__}"):
        return _table(frame)


def as_frame(items: Any) -> Any:
    """Return rows or columns of Python, or what gives an Arrow table, as a table.

    A dict of columns, a list of dicts, a RecordBatchReader, which is read to its end,
    or a dataset of pyarrow; anything else is returned as it is.

    Raises
    ------
    ArgumentError
        When columns differ in length, or one holds values of several types.

    Examples
    --------
    >>> as_frame([{"id": 1}, {"id": 2, "text": "b"}]).to_pydict()
    {'id': [1, 2], 'text': [None, 'b']}
    """
    if isinstance(items, np.ndarray | str):  # the most frequent: Arrow stays unloaded
        return items
    kind = type(items)
    if hasattr(kind, "schema"):
        way = next((x for x in ("read_all", "to_table") if hasattr(kind, x)), None)
        return items if way is None else getattr(items, way)()
    is_rows = isinstance(items, list | tuple) and items and _is_row(items[0])
    if not (is_rows or _is_row(items)):
        return items
    with _naming(f"cannot read the {kind.__name__} as a table"):
        if is_rows:
            if not all(map(_is_row, items)):
                raise ValueError("some rows are dicts, some are not")
            names = dict.fromkeys(name for row in items for name in row)
            items = {x: [row.get(x) for row in items] for x in names}
        return _of_columns(items)


def typed_columns(frame: Any) -> tuple[Any, dict[str, str]]:
    """Return what `typed_table` does, and why columns of pandas cannot be read.

    These are columns of nulls in the table: one that is not asked for does no harm.
    """
    if not _is_pandas(frame, "DataFrame"):
        return typed_table(frame), {}
    try:
        return typed_table(frame), {}
    except ArgumentError:
        return _readable(frame)


def is_mixed(frame: Any) -> bool:
    """Return False of a frame of pandas with one column, or NumPy's numbers alone."""
    if not _is_pandas(frame, "DataFrame"):
        return True
    return len(frame.columns) > 1 and any(
        getattr(each, "kind", "O") not in "fiub" for each in frame.dtypes
    )


def with_index(frame: Any) -> tuple[Any, tuple[str, ...]]:
    """Return a frame of pandas with the named levels of its index as columns.

    And their names; an index without a name stays where it is.
    """
    if not _is_pandas(frame, "DataFrame"):
        return frame, ()
    known = {*map(str, frame.columns)}
    names = [x for x in frame.index.names if isinstance(x, str) and x not in known]
    if repeated := next((x for x in names if names.count(x) > 1), None):
        raise ArgumentError(f"two levels of the index are named {repeated!r}")
    return (frame.reset_index(level=names) if names else frame), tuple(names)


def has_own_index(frame: Any) -> bool:
    """Return whether a frame of pandas has an index that is named, or not 0..n-1."""
    if not _is_pandas(frame, "DataFrame"):
        return False
    index = frame.index
    return any(index.names) or not np.array_equal(index, np.arange(len(frame)))


def as_column(column: Any) -> Any:
    """Return a Series, an Arrow array or a list as a plain Arrow column.

    Raises
    ------
    ArgumentError
        When its values are not of one type.
    """
    with _naming("must be a list of values of one type"):
        return plain_column(_column(column))


def typed_column(column: Any) -> Any:
    """Return what `as_column` does, but of the type that it has.

    In memory of its own, unless it is Arrow's: other libraries write in place.
    """
    with _naming("must be a list of values of one type"):
        found = stored_column(_column(column))
        foreign = _is_pandas(column, "Series") or _streams(column)
        return own_memory(found) if foreign else found


@contextmanager
def _naming(what: str) -> Iterator[None]:
    """Turn what Arrow says of an object into one line."""
    import pyarrow as pa

    try:
        yield
    except (pa.ArrowException, TypeError, ValueError, OverflowError) as error:
        raise ArgumentError(f"{what}: {one_line(error)}") from None


def _table(frame: Any) -> Any:
    import pyarrow as pa

    if isinstance(frame, pa.Table):
        return frame
    if isinstance(frame, pa.RecordBatch):
        return pa.Table.from_batches([frame])
    if _is_pandas(frame, "DataFrame"):
        named = frame.rename(columns=str)
        for name, dtype in zip(named.columns, named.dtypes, strict=True):
            _check_dtype(dtype, f"column {name!r}")
        return pa.Table.from_pandas(named, preserve_index=False)
    if hasattr(frame, "collect"):  # a LazyFrame of polars
        return frame.collect().to_arrow()
    return pa.table(frame)


def _column(column: Any) -> Any:
    import pyarrow as pa

    if _is_pandas(column, "Series"):
        _check_dtype(column.dtype, "the column")
        column = pa.Array.from_pandas(column)
    found = pa.chunked_array(column) if _streams(column) else column
    if isinstance(found, pa.ChunkedArray):
        return found
    made = found if isinstance(found, pa.Array) else pa.array(found)
    return made if isinstance(made, pa.ChunkedArray) else pa.chunked_array([made])


def _check_dtype(dtype: Any, what: str) -> None:
    """Refuse periods and intervals, which Arrow would store as their numbers."""
    if str(dtype).startswith(("period", "interval")):
        raise ValueError(f"{what} holds {dtype}; convert it, as by .astype(str)")


def _readable(frame: Any) -> tuple[Any, dict[str, str]]:
    import pyarrow as pa

    columns, odd = [], {}
    for place, name in enumerate(map(str, frame.columns)):
        try:
            columns.append(_column(frame.iloc[:, place]))
        except (pa.ArrowException, TypeError, ValueError, OverflowError) as error:
            columns.append(pa.nulls(len(frame)))
            odd[name] = one_line(error)
    return pa.table(columns, names=[*map(str, frame.columns)]), odd


def _is_row(item: Any) -> bool:
    """Return whether an object is a dict of columns, or a row; SciPy has dicts, too."""
    return isinstance(item, Mapping) and not hasattr(item, "toarray")


def _of_columns(columns: Mapping[Any, Any]) -> Any:
    import pyarrow as pa

    made = {}
    for name, values in columns.items():
        if isinstance(values, str | bytes | Mapping) or not hasattr(values, "__len__"):
            raise ValueError(f"{name!r} is {a_kind(values)}, not a column")
        if str(name) in made:
            raise ValueError(f"two columns are named {str(name)!r}")
        is_matrix = getattr(values, "ndim", 1) > 1
        made[str(name)] = _column([*values] if is_matrix else values)
    return pa.table(made)


def _streams(items: Any) -> bool:
    import pyarrow as pa

    return hasattr(items, "__arrow_c_stream__") and not isinstance(
        items, pa.ChunkedArray
    )


def _streams_rows(items: Any) -> bool:
    """Return whether an object streams a table, as a relation of DuckDB does."""
    import sys

    if not hasattr(items, "__arrow_c_stream__") or "pyarrow" not in sys.modules:
        return False
    return hasattr(type(items), "columns")


def _is_image(item: Any) -> bool:
    return isinstance(item, PurePath) or hasattr(item, "getbands")


def _is_pandas(items: Any, name: str) -> bool:
    """Return whether an object is of pandas, without importing pandas."""
    return any(
        each.__name__ == name and each.__module__.split(".")[0] == "pandas"
        for each in type(items).__mro__
    )

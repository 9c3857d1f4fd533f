"""Data frames of any library as Arrow tables, and their columns."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import PurePath
from typing import Any

from fewbits._arrow._plain import own_memory, plain_column, plain_table, stored_column
from fewbits.errors import ArgumentError, one_line


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

    In memory of its own, unless it is Arrow's: others change values in place.
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
        return pa.Table.from_pandas(named, preserve_index=False)
    if hasattr(frame, "collect"):  # a LazyFrame of polars
        return frame.collect().to_arrow()
    return pa.table(frame)


def _column(column: Any) -> Any:
    import pyarrow as pa

    if _is_pandas(column, "Series"):
        column = pa.Array.from_pandas(column)
    found = pa.chunked_array(column) if _streams(column) else column
    if isinstance(found, pa.ChunkedArray):
        return found
    made = found if isinstance(found, pa.Array) else pa.array(found)
    return made if isinstance(made, pa.ChunkedArray) else pa.chunked_array([made])


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

"""Data frames of any library as Arrow tables, and their columns."""

from typing import Any

from fewbits._arrow._plain import plain_column, plain_table
from fewbits.errors import ArgumentError, one_line


def is_frame(items: Any) -> bool:
    """Tell a table with named columns: of pandas, polars, pyarrow and others."""
    kind = type(items)  # a LazyFrame of polars warns when it is asked itself
    if hasattr(kind, "column_names") and hasattr(kind, "schema"):
        return True  # pyarrow.Table and RecordBatch
    if hasattr(kind, "columns") and hasattr(kind, "dtypes"):
        return True  # pandas and polars
    return _streams_rows(items)


def is_column(items: Any) -> bool:
    """Tell one column: a Series, or an Arrow array."""
    if is_frame(items):
        return False
    known = ("__arrow_c_stream__", "__arrow_c_array__")
    return any(hasattr(items, name) for name in known) or _is_pandas(items, "Series")


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
    import pyarrow as pa

    try:
        if isinstance(frame, pa.Table):
            table = frame
        elif isinstance(frame, pa.RecordBatch):
            table = pa.Table.from_batches([frame])
        elif _is_pandas(frame, "DataFrame"):
            named = frame.rename(columns=str)
            table = pa.Table.from_pandas(named, preserve_index=False)
        elif hasattr(frame, "collect"):  # a LazyFrame of polars
            table = frame.collect().to_arrow()
        else:
            table = pa.table(frame)
        return plain_table(table)
    except (pa.ArrowException, TypeError, ValueError, OverflowError) as error:
        raise ArgumentError(
            f"cannot read the {type(frame).__name__}: {one_line(error)}"
        ) from None


def as_column(column: Any) -> Any:
    """Return a Series, an Arrow array or a list as a plain Arrow column.

    Raises
    ------
    ArgumentError
        When its values are not of one type.
    """
    import pyarrow as pa

    try:
        if _is_pandas(column, "Series"):
            column = pa.Array.from_pandas(column)
        found = pa.chunked_array(column) if _streams(column) else column
        if not isinstance(found, pa.ChunkedArray):
            made = found if isinstance(found, pa.Array) else pa.array(found)
            found = (
                made if isinstance(made, pa.ChunkedArray) else pa.chunked_array([made])
            )
        return plain_column(found)
    except (pa.ArrowException, TypeError, ValueError, OverflowError) as error:
        raise ArgumentError(
            f"must be a list of values of one type: {one_line(error)}"
        ) from None


def _streams(items: Any) -> bool:
    import pyarrow as pa

    return hasattr(items, "__arrow_c_stream__") and not isinstance(
        items, pa.ChunkedArray
    )


def _streams_rows(items: Any) -> bool:
    """Tell other tables, such as a relation of DuckDB, by what they stream."""
    import sys

    if not hasattr(items, "__arrow_c_stream__") or "pyarrow" not in sys.modules:
        return False
    return hasattr(type(items), "columns")


def _is_pandas(items: Any, name: str) -> bool:
    """Tell an object of pandas without importing it."""
    return any(
        each.__name__ == name and each.__module__.split(".")[0] == "pandas"
        for each in type(items).__mro__
    )

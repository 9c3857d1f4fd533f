"""Columns of numbers as matrices, chunk by chunk."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fewbits._arrow._frames import as_column, as_table, is_column, is_frame
from fewbits._arrow._kinds import is_list, is_number
from fewbits.errors import FeatureError


def as_array(items: Any) -> Any:
    """Return a data frame of numbers, or a column of vectors, as a matrix.

    Anything else, arrays and lists among it, comes back as it is.

    Raises
    ------
    FeatureError
        When a column holds no numbers, or a value is missing.

    Examples
    --------
    >>> import pyarrow as pa
    >>> as_array(pa.table({"a": [1, 2], "b": [0.5, 1.0]}))
    array([[1. , 0.5],
           [2. , 1. ]])
    """
    if isinstance(items, np.ndarray | list | tuple):
        return items
    if is_frame(items):
        plain = _plain_pandas(items)
        if plain is not None:
            return plain
        table = as_table(items)
        if table.num_columns == 1 and is_list(table.schema.field(0).type):
            name = table.column_names[0]
            return list_matrix(table.column(0), f"column {name!r}")
        return number_matrix(table, range(table.num_columns), "the data frame")
    if is_column(items) and not hasattr(items, "__array_interface__"):
        column = as_column(items)
        if is_list(column.type):
            return list_matrix(column, "the column")
        if is_number(column.type):
            return _numbers(column, "the column")
    return items


def number_matrix(table: Any, places: Sequence[int], source: str) -> NDArray[Any]:
    """Return columns of numbers side by side, in the smallest type that holds all.

    Raises
    ------
    FeatureError
        When one holds something else, or a value is missing.
    """
    fields = [table.schema.field(i) for i in places]
    for field in fields:
        if not (is_number(field.type) or str(field.type) == "bool"):
            raise FeatureError(
                f"column {field.name!r} of {source} holds {field.type}, not numbers"
            )
    kinds = {field.type.to_pandas_dtype() for field in fields}
    dtype = np.result_type(*kinds) if kinds else np.float64
    matrix = np.empty((table.num_rows, len(fields)), dtype)
    for j, (i, field) in enumerate(zip(places, fields, strict=True)):
        what = f"column {field.name!r} of {source}"
        matrix[:, j] = _numbers(table.column(i), what)
    return matrix


def list_matrix(column: Any, what: str, first_row: int = 0) -> NDArray[Any]:
    """Return a column of lists of numbers as a matrix; no copy of a single chunk.

    Parameters
    ----------
    column : pyarrow.ChunkedArray
        Of lists, all of one length; may hold more numbers than a list column of 32-bit
        offsets.
    what : str
        Names the column in messages.
    first_row : int, default=0
        Number of its first row, where it is a part of a longer one.

    Raises
    ------
    FeatureError
        When a list or a number is missing, or lengths differ.
    """
    if column.null_count:
        raise FeatureError(missing_told(column, what, first_row))
    chunks = [_list_rows(chunk, what) for chunk in column.chunks]
    widths = {rows.shape[1] for rows in chunks if len(rows)}
    if len(widths) > 1:
        raise FeatureError(f"{what} has vectors of several lengths")
    if len(chunks) == 1:
        return chunks[0]
    width = widths.pop() if widths else 0
    matrix = np.empty((len(column), width), chunks[0].dtype if chunks else np.float64)
    start = 0
    for rows in chunks:
        matrix[start : start + len(rows)] = rows if len(rows) else 0
        start += len(rows)
    return matrix


def missing_told(column: Any, what: str, first_row: int = 0) -> str:
    """Return the message that a column has gaps."""
    import pyarrow.compute as pc

    n, row = column.null_count, pc.index(column.is_null(), True).as_py()
    more = f", nor in {n - 1} more" * (n > 1)
    return f"{what} has no value in row {first_row + row}{more}"


def _list_rows(chunk: Any, what: str) -> NDArray[Any]:
    import pyarrow.types as types

    values = chunk.flatten()  # what the rows of a slice hold, and no more
    if values.null_count:
        raise FeatureError(f"a vector of {what} lacks {values.null_count} numbers")
    flat = values.to_numpy(zero_copy_only=False)
    if types.is_fixed_size_list(chunk.type):
        return np.asarray(flat).reshape(len(chunk), chunk.type.list_size)
    lengths = chunk.value_lengths().to_numpy(zero_copy_only=False)
    different = np.unique(lengths)
    if len(different) > 1:
        raise FeatureError(f"{what} has vectors of {len(different)} different lengths")
    width = int(different[0]) if len(different) else 0
    return np.asarray(flat).reshape(len(chunk), width)


def _numbers(column: Any, what: str) -> NDArray[Any]:
    if column.null_count:
        raise FeatureError(missing_told(column, what))
    return np.asarray(column.to_numpy())


def _plain_pandas(frame: Any) -> NDArray[Any] | None:
    """Return a frame of NumPy's own numbers as it is, None for any other."""
    dtypes = getattr(frame, "dtypes", None)
    if dtypes is None or not hasattr(frame, "iloc"):
        return None
    if all(isinstance(each, np.dtype) and each.kind in "fiub" for each in dtypes):
        return np.asarray(frame)
    return None

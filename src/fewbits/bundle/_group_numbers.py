"""Numbers for the values of a column, equal for equal ones."""

from typing import Any

import numpy as np
from numpy.typing import NDArray


def numbers_of(column: Any) -> NDArray[np.int32]:
    """Return the number of each value among those that are different.

    They count from 0 on, by first appearance. Null is a value, too, and so is NaN;
    0.0 and -0.0 are equal.

    Parameters
    ----------
    column : pyarrow.ChunkedArray

    Raises
    ------
    NotImplementedError, ValueError
        When Arrow cannot compare values of this type.
    """
    import pyarrow as pa

    if pa.types.is_dictionary(column.type):
        column = _dictionary_numbers(column)
    elif pa.types.is_floating(column.type):
        column = _plain_floats(column)
    encoded = column.dictionary_encode(null_encoding="encode")
    numbers = [chunk.indices.to_numpy() for chunk in encoded.chunks]
    return np.concatenate(numbers) if numbers else np.empty(0, np.int32)


def _dictionary_numbers(column: Any) -> Any:
    """Return a number for each value; dictionaries of parts may repeat entries."""
    import pyarrow as pa

    kind = column.type.value_type
    entries = pa.chunked_array([chunk.dictionary for chunk in column.chunks], kind)
    numbers, start, parts = numbers_of(entries), 0, []
    missing = entries.is_null().to_numpy()
    numbers[missing.astype(np.bool_)] = -1
    for chunk in column.chunks:
        own = np.append(numbers[start : start + len(chunk.dictionary)], -1)
        start += len(chunk.dictionary)
        places = chunk.indices.cast(pa.int64()).fill_null(len(own) - 1)
        parts.append(pa.array(own[places.to_numpy()], pa.int32()))
    return pa.chunked_array(parts, pa.int32())


def _plain_floats(column: Any) -> Any:
    """Return the same with one zero and one NaN."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if column.type == pa.float16():
        column = column.cast(pa.float32())
    nan = pa.scalar(np.nan, column.type)
    plain = pc.add(column, pa.scalar(0, column.type))
    return pc.if_else(pc.is_nan(column), nan, plain)

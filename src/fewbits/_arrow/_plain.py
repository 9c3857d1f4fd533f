"""Columns of any encoding as columns of plain types."""

from typing import Any

import numpy as np

from fewbits._arrow._kinds import plain_type
from fewbits.errors import ArgumentError, one_line


def plain_table(table: Any) -> Any:
    """Return the table with every column as `plain_column` has it."""
    import pyarrow as pa

    columns = [plain_column(column) for column in table.columns]
    return pa.table(columns, names=table.column_names)


def plain_column(column: Any) -> Any:
    """Return a column whose type is plain, see `plain_type`; most are so already.

    Dictionaries, run-end encodings, views and extension types (a tensor of fixed shape,
    for instance) are read as what they stand for.
    """
    import pyarrow as pa

    wanted = plain_type(column.type)
    if column.type == wanted:
        return column
    chunks = column.chunks if isinstance(column, pa.ChunkedArray) else [column]
    return pa.chunked_array([_plain(chunk, wanted) for chunk in chunks], wanted)


def _plain(chunk: Any, wanted: Any) -> Any:
    import pyarrow as pa
    import pyarrow.types as types

    if isinstance(chunk, pa.ExtensionArray):
        return _plain(chunk.storage, wanted)
    if types.is_dictionary(chunk.type):
        # Arrow itself takes no views from a dictionary, as polars writes them.
        return _plain(chunk.dictionary, wanted).take(chunk.indices)
    if types.is_run_end_encoded(chunk.type):
        return _plain(pa.compute.run_end_decode(chunk), wanted)
    if chunk.type == wanted:
        return chunk
    if types.is_large_list(wanted):
        return _plain_lists(chunk, wanted)
    try:
        return chunk.cast(wanted)
    except pa.ArrowException as error:
        raise ArgumentError(
            f"cannot read values of type {chunk.type}: {one_line(error)}"
        ) from None


def _plain_lists(chunk: Any, wanted: Any) -> Any:
    """Return lists without a cast: Arrow's own loses rows of list views."""
    import pyarrow as pa

    lengths = chunk.value_lengths().fill_null(0).to_numpy(zero_copy_only=False)
    offsets = np.concatenate([[0], np.cumsum(lengths, dtype=np.int64)])
    values = _plain(chunk.flatten(), wanted.value_type)
    mask = chunk.is_null() if chunk.null_count else None
    return pa.LargeListArray.from_arrays(pa.array(offsets), values, mask=mask)

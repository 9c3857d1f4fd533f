"""Columns of any encoding as columns of plain types."""

from collections.abc import Callable
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


def stored_column(column: Any) -> Any:
    """Return a column of the type that it has, but for views and run-ends.

    These say how values lie in memory, not what they are, and few kernels know them.
    """
    import pyarrow.types as types

    if _is_layout(column.type):
        return plain_column(column)
    if types.is_dictionary(column.type) and _is_layout(column.type.value_type):
        return _chunk_by_chunk(_plain_dictionary, column)
    return column


def _is_layout(kind: Any) -> bool:
    import pyarrow.types as types

    layouts = (
        *(types.is_string_view, types.is_binary_view, types.is_list_view),
        *(types.is_large_list_view, types.is_run_end_encoded),
    )
    return any(is_one(kind) for is_one in layouts)


def _chunk_by_chunk(change: Callable[[Any], Any], column: Any) -> Any:
    import pyarrow as pa

    chunks = column.chunks if isinstance(column, pa.ChunkedArray) else [column]
    made = [change(chunk) for chunk in chunks or [pa.array([], column.type)]]
    return pa.chunked_array(made)


def _plain_dictionary(chunk: Any) -> Any:
    """Return categories whose values are plain: Arrow cannot decode views."""
    import pyarrow as pa

    values = _plain(chunk.dictionary, plain_type(chunk.type.value_type))
    return pa.DictionaryArray.from_arrays(
        chunk.indices, values, ordered=chunk.type.ordered
    )


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


def own_memory(column: Any) -> Any:
    """Return a copy of a column in read-only memory."""
    import pyarrow as pa

    table = pa.table([column], names=[""])
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table)
    return pa.ipc.open_stream(sink.getvalue()).read_all().column(0)

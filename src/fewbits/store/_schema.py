"""Columns of a store: its own, and those that new rows must have."""

from typing import Any

from fewbits.errors import ArgumentError

#: The columns of a store that are not the user's. `_row` is the permanent number of a
#: row, which the store gives; the caller gives the others. `_correction` is two bytes a
#: row, see `fewbits.index.Corrections`; `_blocks` are the scales and offsets of int8
#: vectors.
ROW, ID, CODE, CORRECTION = "_row", "_id", "_code", "_correction"
VECTOR, BLOCKS = "_vector", "_blocks"
RESERVED = (ROW, ID, CODE, CORRECTION, VECTOR, BLOCKS)
VECTOR_COLUMNS = (VECTOR, BLOCKS)


def check_columns(table: Any, schema: Any) -> None:
    """Refuse a table that has not just the columns of a schema, of the same types.

    Ids may be left out where they are numbers.
    """
    kinds = dict(zip(table.column_names, table.schema.types, strict=True))
    for field in schema:
        kind = kinds.pop(field.name, None)
        is_left_out = kind is None and field.name == ID and field.type == "int64"
        if kind != field.type and not is_left_out:
            raise ArgumentError(
                f"column {field.name!r} is of type {kind}, the store keeps {field.type}"
            )
    if kinds:
        raise ArgumentError(f"the store has no column {min(kinds)!r}")

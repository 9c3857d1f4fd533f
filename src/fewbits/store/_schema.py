"""Columns of a store: its own, those of each file, those that tables must have."""

from typing import Any

import numpy as np

from fewbits._arrow import plain_type, stored_column
from fewbits.errors import ArgumentError, one_line

#: The columns of a store that are not the user's. `_row` is the permanent number of a
#: row, which the store gives; the caller gives the others. `_correction` is two bytes a
#: row, see `fewbits.index.Corrections`; `_blocks` are the scales and offsets of int8
#: vectors.
ROW, ID, CODE, CORRECTION = "_row", "_id", "_code", "_correction"
VECTOR, BLOCKS = "_vector", "_blocks"
RESERVED = (ROW, ID, CODE, CORRECTION, VECTOR, BLOCKS)
OF_VECTORS = (VECTOR, BLOCKS)


def checked_schema(schema: Any, n_bits: int) -> Any:
    """Return a schema whose layouts are plain, or refuse it."""
    import pyarrow as pa

    if len(set(schema.names)) != len(schema.names):
        raise ArgumentError("two columns of a collection cannot have the same name")
    if ROW in schema.names:
        raise ArgumentError(f"a column cannot be called {ROW!r}; rename it")
    width = -(-n_bits // 8)
    fitting = {ID: (pa.int64(), pa.large_string()), CODE: (pa.binary(width),)}
    if CORRECTION in schema.names:
        fitting[CORRECTION] = (pa.binary(2),)
    for name, kinds in fitting.items():
        kind = schema.field(name).type if name in schema.names else None
        if kind not in kinds:
            named = " or ".join(map(str, kinds))
            raise ArgumentError(f"column {name} must be of type {named}, got {kind}")
    for name in OF_VECTORS:
        if name in schema.names and not _is_matrix(schema.field(name).type):
            kind = schema.field(name).type
            raise ArgumentError(
                f"column {name} must be fixed-size lists of numbers, got {kind}"
            )
    if BLOCKS in schema.names and VECTOR not in schema.names:
        raise ArgumentError(f"column {BLOCKS} needs column {VECTOR}")
    fields = [
        field if field.name in RESERVED else field.with_type(stored_type(field.type))
        for field in schema
    ]
    return pa.schema(fields, schema.metadata)


def conforming(table: Any, schema: Any, n_bits: int) -> Any:
    """Return a table with the columns of a schema, in its order.

    Types that hold the same values are turned into those of the schema; ids may be left
    out where they are numbers. Columns that are missing or unknown, and values of
    another type, are refused.
    """
    import pyarrow as pa

    names = set(table.column_names)
    numbered = schema.field(ID).type == pa.int64() and ID not in names
    fields = [field for field in schema if not (numbered and field.name == ID)]
    if missing := [field.name for field in fields if field.name not in names]:
        raise ArgumentError(f"the rows lack the column {missing[0]!r}")
    if unknown := names - set(schema.names):
        raise ArgumentError(
            f"the collection has no column {min(unknown)!r}; it has "
            f"{', '.join(n for n in schema.names if n not in RESERVED) or 'none'}"
        )
    columns = [_column(table, field) for field in fields]
    made = pa.table(columns, schema=pa.schema(fields, schema.metadata))
    if n_bits % 8:
        _check_last_bits(made[CODE], n_bits)
    return made


def _column(table: Any, field: Any) -> Any:
    import pyarrow as pa

    column = table[field.name]
    if (field.name in RESERVED or not field.nullable) and column.null_count:
        row = column.is_null().to_pylist().index(True)
        raise ArgumentError(f"column {field.name!r} has no value in row {row}")
    if field.name in OF_VECTORS and any(c.flatten().null_count for c in column.chunks):
        raise ArgumentError(f"column {field.name!r} lacks numbers")
    if column.type == field.type:
        return column
    if not _holds_the_same(column.type, field.type):
        raise ArgumentError(
            f"column {field.name!r} is of type {column.type}, the collection keeps "
            f"{field.type}"
        )
    try:
        return _as_stored(column, field.type)
    except (pa.ArrowException, ArgumentError) as error:
        reason = one_line(error)
        raise ArgumentError(f"column {field.name!r} cannot be read: {reason}") from None


def _holds_the_same(kind: Any, kept: Any) -> bool:
    """Return whether each value of one type is one of the other."""
    import pyarrow as pa

    kind, kept = plain_type(kind), plain_type(kept)
    if kind == kept:
        return True
    try:
        both = pa.unify_schemas(
            [pa.schema([("", kind)]), pa.schema([("", kept)])],
            promote_options="permissive",
        )
    except pa.ArrowException:
        return False
    return bool(both.field(0).type == kept)


def _as_stored(column: Any, kind: Any) -> Any:
    from pyarrow import types

    column = stored_column(column)
    if types.is_dictionary(column.type) and not types.is_dictionary(kind):
        column = column.cast(column.type.value_type)
    if types.is_dictionary(kind) and not types.is_dictionary(column.type):
        column = column.cast(kind.value_type).dictionary_encode()
    return column.cast(kind)


def stored_type(kind: Any) -> Any:
    """Return the type that a column of the user's is kept as.

    Views and run-ends become what they stand for. The numbers of categories have 32
    bits, as there may be more when segments are joined; categories within lists or
    structs become their values.
    """
    import pyarrow as pa
    from pyarrow import types

    if types.is_dictionary(kind):
        return pa.dictionary(pa.int32(), _without(kind.value_type), kind.ordered)
    return _without(kind)


def _without(kind: Any) -> Any:
    """Return a type without dictionaries, views and run-ends at any depth."""
    import pyarrow as pa
    from pyarrow import types

    if isinstance(kind, pa.BaseExtensionType):
        return kind
    if types.is_dictionary(kind) or types.is_run_end_encoded(kind):
        return _without(kind.value_type)
    if types.is_string_view(kind) or types.is_binary_view(kind):
        return plain_type(kind)
    if types.is_struct(kind):
        return pa.struct([f.with_type(_without(f.type)) for f in kind])
    if types.is_map(kind):
        return pa.map_(
            _without(kind.key_type), kind.item_field.with_type(_without(kind.item_type))
        )
    if types.is_fixed_size_list(kind):
        return pa.list_(_inner(kind), kind.list_size)
    if types.is_list(kind):
        return pa.list_(_inner(kind))
    if (
        types.is_large_list(kind)
        or types.is_list_view(kind)
        or types.is_large_list_view(kind)
    ):
        return pa.large_list(_inner(kind))
    return kind


def _inner(kind: Any) -> Any:
    return kind.value_field.with_type(_without(kind.value_type))


def _is_matrix(kind: Any) -> bool:
    from pyarrow import types

    if not types.is_fixed_size_list(kind):
        return False
    value = kind.value_type
    return bool(types.is_floating(value) or value == "int8")


def _check_last_bits(column: Any, n_bits: int) -> None:
    for chunk in column.chunks:
        width = chunk.type.byte_width
        codes = np.frombuffer(chunk.buffers()[1], np.uint8)
        codes = codes[chunk.offset * width :][: len(chunk) * width]
        if (codes[width - 1 :: width] & (255 >> n_bits % 8)).any():
            raise ArgumentError(f"a code has bits set beyond the first {n_bits}")

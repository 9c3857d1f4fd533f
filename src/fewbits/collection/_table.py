"""New rows as an Arrow table of the form that a store takes."""

from collections.abc import Collection, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fewbits._arrow import (
    MisfitError,
    converted,
    is_text,
    known_names,
    plain_type,
    typed_column,
)
from fewbits._frozen import frozen_array, read_only
from fewbits._ids import shown_id
from fewbits._typing import CodeArray
from fewbits._warnings import warn_user
from fewbits.errors import ArgumentError, one_line
from fewbits.index import Int8Vectors
from fewbits.store import BLOCKS, CODE, CORRECTION, ID, RESERVED, VECTOR

#: Forms of kept vectors.
FORMS = ("float16", "float32", "int8")


def table_of(
    codes: CodeArray,
    *,
    ids: Any = None,
    columns: Mapping[str, Any] | None = None,
    vectors: NDArray[Any] | Int8Vectors | None = None,
    corrections: CodeArray | None = None,
) -> Any:
    """Return rows as an Arrow table; without ids, the store numbers them."""
    import pyarrow as pa

    parts = {} if ids is None else {ID: ids}
    parts[CODE] = fixed_binary(codes)
    if corrections is not None:
        parts[CORRECTION] = fixed_binary(corrections)
    parts |= {
        name: user_column(name, column) for name, column in (columns or {}).items()
    }
    if isinstance(vectors, Int8Vectors):
        parts[VECTOR] = _fixed_lists(vectors.values)
        parts[BLOCKS] = _fixed_lists(vectors.blocks)
    elif vectors is not None:
        parts[VECTOR] = _fixed_lists(vectors)
    for name, column in parts.items():
        if len(column) != len(codes):
            what = "ids" if name == ID else f"entries in {name!r}"
            raise ArgumentError(f"{len(codes)} items, but {len(column)} {what}")
    return pa.table(parts)


def kept_vectors(features: NDArray[Any], form: str) -> NDArray[Any] | Int8Vectors:
    """Return features in the form in which they are kept."""
    features = features[:]  # dense, of a sparse matrix
    if form == "int8":
        return Int8Vectors.from_vectors(features)
    with np.errstate(over="ignore"):
        vectors: NDArray[Any] = np.asarray(features, dtype=form)
    if form == "float16" and np.isinf(vectors).any():
        row = int(np.argmax(np.isinf(vectors).any(axis=1)))
        raise ArgumentError(
            f"the features of row {row} are too large for float16: keep float32"
        )
    return vectors


def fixed_binary(codes: CodeArray) -> Any:
    """Return codes as an Arrow column."""
    import pyarrow as pa

    codes = np.ascontiguousarray(codes)
    kind = pa.binary(codes.shape[1])
    return pa.Array.from_buffers(kind, len(codes), [None, pa.py_buffer(codes)])


def _fixed_lists(matrix: NDArray[Any]) -> Any:
    import pyarrow as pa

    flat = pa.array(np.ascontiguousarray(matrix).reshape(-1))
    width = int(np.prod(matrix.shape[1:]))  # also of no rows
    return pa.FixedSizeListArray.from_arrays(flat, width)


def user_column(name: str, column: Any) -> Any:
    """Return a column of the user's as an Arrow column of the type it is kept as."""
    import pyarrow as pa

    if name in RESERVED:
        raise ArgumentError(
            f"a column cannot be called {name!r}, which is where the collection keeps "
            "its own; rename it"
        )
    try:
        if isinstance(column, str | bytes) or not np.iterable(column):
            raise ArgumentError(f"must be a list of values, got {column!r}"[:80])
        if isinstance(column, np.ndarray):
            kind = column.dtype
            typed = column.ndim == 1 and kind.kind in "biufmM" and kind.isnative
            column = frozen_array(column) if typed else column.tolist()
        column = typed_column(column)
        kind = _kept_type(column.type)
        if pa.types.is_dictionary(column.type) and any(
            chunk.dictionary.null_count for chunk in column.chunks
        ):
            column = column.cast(column.type.value_type)  # null is no category
        # Maps of Parquet differ by the names of their parts alone.
        is_same = column.type.equals(kind, check_metadata=True)
        return column if is_same else column.cast(kind)
    except ArgumentError as error:
        raise ArgumentError(f"column {name!r} {error}") from None
    except pa.ArrowException as error:
        reason = one_line(error)
        raise ArgumentError(f"column {name!r} cannot be read: {reason}") from None


def _kept_type(kind: Any) -> Any:
    """Return the type that a column is kept as.

    Views and run-ends become what they stand for. The numbers of categories have 32
    bits, as there may be more when segments are joined; categories within lists or
    structs become their values.
    """
    import pyarrow as pa
    from pyarrow import types

    def plain(kind: Any) -> Any:
        if isinstance(kind, pa.BaseExtensionType):
            return kind
        if types.is_dictionary(kind) or types.is_run_end_encoded(kind):
            return plain(kind.value_type)
        if types.is_string_view(kind) or types.is_binary_view(kind):
            return plain_type(kind)
        if types.is_struct(kind):
            return pa.struct([f.with_type(plain(f.type)) for f in kind])
        if types.is_map(kind):
            item = kind.item_field.with_type(plain(kind.item_type))
            return pa.map_(plain(kind.key_type), item)
        if not types.is_nested(kind) or types.is_union(kind):
            return kind
        member = kind.value_field.with_type(plain(kind.value_type))  # of a list
        if types.is_fixed_size_list(kind):
            return pa.list_(member, kind.list_size)
        return pa.list_(member) if types.is_list(kind) else pa.large_list(member)

    if types.is_dictionary(kind):
        return pa.dictionary(pa.int32(), plain(kind.value_type), kind.ordered)
    return plain(kind)


def ids_of(column: Any) -> NDArray[Any]:
    """Return a column of ids as a read-only array."""
    if is_text(column.type):
        return read_only(np.fromiter(column.to_pylist(), object, len(column)))
    return read_only(column.to_numpy())


def filtered(columns: Any, mask: NDArray[np.bool_] | None) -> Any:
    """Return the rows of a column or table of Arrow that a mask leaves."""
    import pyarrow as pa

    return columns if mask is None else columns.filter(pa.array(mask))


# Rows that come to a collection that has some.


def aligned(
    table: Any,
    schema: Any,
    *,
    id_name: str | None,
    required: Collection[str | None],
    whole: bool,
) -> tuple[Any, Any]:
    """Return the schema of a collection after new rows, and these in its columns.

    Columns that the rows lack are null there, and those that the collection lacks are
    left out, each with a warning; `required` ones must be there, all of `whole` rows.
    """
    import pyarrow as pa

    schema = typed_schema(schema, table)
    names = [name for name in table.column_names if name not in RESERVED]
    fields = [field for field in schema if field.name not in RESERVED]
    if missing := [field for field in fields if field.name not in names]:
        if id_name in [field.name for field in missing]:
            raise ArgumentError(
                f"column {id_name!r} cannot give the ids: in the collection it is "
                "a column beside them; to have it as ids, build the collection anew"
            )
        lacking = [
            field
            for field in missing
            if whole or field.name in required or not field.nullable
        ]
        listed = known_names(repr(field.name) for field in lacking or missing)
        noun = "column" if len(lacking or missing) == 1 else "columns"
        if lacking:
            hint = "update changes columns of rows that are there"
            if whole:
                hint = "upsert takes whole rows: give every column"
            raise ArgumentError(
                f"the new rows have no {noun} {listed}, which the collection has; they "
                f"have {known_names(names) or 'none'} ({hint})"
            )
        warn_user(f"the new rows have no {noun} {listed}: they get null there")
        for field in missing:
            table = table.append_column(field.name, pa.nulls(len(table), field.type))
    if extra := [name for name in names if name not in schema.names]:
        listed = ", ".join(map(repr, extra))
        warn_user(f"left out {listed}: the collection has no such columns")
    columns = {
        field.name: cast_column(table[field.name], field)
        for field in schema
        if field.name in table.column_names
    }
    return schema, pa.table(columns)


def typed_schema(schema: Any, table: Any) -> Any:
    """Return a schema whose columns of nulls have the types of new rows.

    So have members of lists and fields of structs that were null or not there in all.
    """
    for place, field in enumerate(schema):
        if field.name in table.column_names:
            kind = _filled(field.type, table.schema.field(field.name).type)
            schema = schema.set(place, field.with_type(kind))
    return schema


def _filled(kind: Any, other: Any) -> Any:
    """Return a type with that of other values where it has none yet."""
    import pyarrow as pa
    import pyarrow.types as types

    if types.is_null(kind) or (types.is_struct(kind) and not kind.num_fields):
        return other
    if types.is_struct(kind) and types.is_struct(other):
        parts = {field.name: field.type for field in other}
        return pa.struct(
            [f.with_type(_filled(f.type, parts.get(f.name, f.type))) for f in kind]
        )
    lists = types.is_list, types.is_large_list, types.is_fixed_size_list
    if not all(any(is_one(x) for is_one in lists) for x in (kind, other)):
        return kind
    member = kind.value_field.with_type(_filled(kind.value_type, other.value_type))
    if types.is_fixed_size_list(kind):
        return pa.list_(member, kind.list_size)
    return pa.list_(member) if types.is_list(kind) else pa.large_list(member)


def cast_column(column: Any, field: Any) -> Any:
    """Return a column in the type of a field, if no value changes by that."""
    try:
        return converted(column, field.type)
    except MisfitError as misfit:
        from fewbits.collection.filters import name_of_type

        kept, new = (f"{name_of_type(x)} ({x})" for x in (field.type, column.type))
        what = "ids" if field.name == ID else f"column {field.name!r}"
        hint = f": {misfit.hint}" * bool(misfit.hint)
        raise ArgumentError(
            f"{what} must be {kept} as in the collection, got "
            f"{shown_id(misfit.value)} of {new}{hint}; types are said "
            "at the first build, by types= (on the command line --types)"
        ) from None

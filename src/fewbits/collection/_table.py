"""New rows as an Arrow table of the form that a store takes."""

from collections.abc import Collection, Mapping
from typing import Any
from uuid import UUID

import numpy as np
from numpy.typing import NDArray

from fewbits._arrow import (
    MisfitError,
    as_column,
    check_no_blank,
    converted,
    is_column,
    is_integer,
    is_text,
    known_names,
    one_chunk,
    own_memory,
    repeated,
    typed_column,
)
from fewbits._frozen import frozen_array, read_only
from fewbits._typing import CodeArray, IdArray
from fewbits._warnings import warn_user
from fewbits.errors import ArgumentError
from fewbits.index import Int8Vectors
from fewbits.store import BLOCKS, CODE, CORRECTION, ID, RESERVED, VECTOR

#: Forms of kept vectors.
FORMS = ("float16", "float32", "int8")
_SHOWN = 60  # characters of an id in a message


def table_of(
    codes: CodeArray,
    *,
    ids: Any = None,
    columns: Mapping[str, Any] | None = None,
    vectors: NDArray[Any] | Int8Vectors | None = None,
    corrections: CodeArray | None = None,
) -> Any:
    """Return rows as an Arrow table; without ids, the store numbers them.

    Raises
    ------
    ArgumentError
        When lengths differ, an id repeats, or a column takes a reserved name or has
        values of several types.
    """
    import pyarrow as pa

    parts = {} if ids is None else {ID: new_ids(ids)}
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


def kept_vectors(
    features: NDArray[Any], form: str | None
) -> NDArray[Any] | Int8Vectors | None:
    """Return features in the form in which they are kept; None keeps none."""
    if form is None:
        return None
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
    """Return a column of the user's as an Arrow column of its own type."""
    import pyarrow as pa

    if name in RESERVED:
        raise ArgumentError(
            f"a column cannot be called {name!r}, which is where the collection keeps "
            "its own; rename it"
        )
    try:
        if isinstance(column, np.ndarray):
            kind = column.dtype
            typed = column.ndim == 1 and kind.kind in "biufmM" and kind.isnative
            column = frozen_array(column) if typed else column.tolist()
        column = typed_column(column)
    except ArgumentError as error:
        raise ArgumentError(f"column {name!r} {error}") from None
    kind = column.type
    if pa.types.is_dictionary(kind):
        if any(chunk.dictionary.null_count for chunk in column.chunks):
            column = column.cast(kind.value_type)  # null is no category
        # Room for any number of categories that come later.
        column = column.cast(pa.dictionary(pa.int32(), kind.value_type, kind.ordered))
    buffers = [buffer for chunk in column.chunks for buffer in chunk.buffers()]
    changes = any(buffer is not None and buffer.is_mutable for buffer in buffers)
    return own_memory(column) if changes else column


# Ids: whole numbers or texts.


def new_ids(ids: Any) -> Any:
    """Return ids as an Arrow column of int64 or large_string, each only once.

    Whole numbers from 0 on, or texts that are not blank; a UUID is its text.
    """
    import pyarrow as pa

    column = _column(ids)
    if is_text(column.type):
        check_no_blank(column, "the list of ids")
        made = column.cast(pa.large_string())
    else:
        made = pa.array(frozen_array(_whole_numbers(column)))
    if (repetition := repeated(made)) is not None:
        value, count = repetition
        raise ArgumentError(
            f"id {shown_id(value)} is given more than once, {count} times"
        )
    return made


def ids_of(column: Any) -> NDArray[Any]:
    """Return a column of ids as a read-only array."""
    if is_text(column.type):
        return read_only(np.fromiter(column.to_pylist(), object, len(column)))
    return read_only(column.to_numpy())


def id_column(ids: Any, texts: bool) -> Any:
    """Return ids to look for as a column of the kind that a collection has."""
    import pyarrow as pa

    column = _column(ids)
    if not len(column):
        return pa.array([], pa.large_string() if texts else pa.int64())
    if texts != is_text(column.type):
        raise ArgumentError(
            f"the ids of this collection are {('whole numbers', 'texts')[texts]}, got "
            f"{column[0].as_py()!r}"
        )
    if not texts:
        return pa.array(_whole_numbers(column))
    return one_chunk(column.cast(pa.large_string()))


def check_known(column: Any, there: NDArray[np.bool_]) -> None:
    """Refuse ids that are not there."""
    if not there.all():
        unknown = column[int(np.argmin(there))].as_py()
        raise ArgumentError(f"there is no item with id {shown_id(unknown)}")


def filtered(columns: Any, mask: NDArray[np.bool_] | None) -> Any:
    """Return the rows of a column or table of Arrow that a mask leaves."""
    import pyarrow as pa

    return columns if mask is None else columns.filter(pa.array(mask))


def _column(ids: Any) -> Any:
    if isinstance(ids, np.ma.MaskedArray):
        raise ArgumentError("ids are a masked array; leave out the rows of its gaps")
    if not is_column(ids):
        array = np.asarray(ids)
        if not array.ndim:
            raise ArgumentError(
                f"ids must be a list of whole numbers or texts: give [{ids!r}]"
            )
        if array.ndim != 1:
            raise ArgumentError(
                f"ids must be a list of whole numbers or texts, got shape {array.shape}"
            )
        listed = isinstance(ids, list | tuple)
        if (
            listed
            and array.dtype.kind in "iu"
            and any(isinstance(i, bool) for i in ids)
        ):
            raise ArgumentError("ids must be whole numbers or texts, got a truth value")
        if listed and array.dtype.kind == "U":
            array = np.array(ids, dtype=object)  # of [1, "a"] NumPy makes two texts
        ids = array.tolist() if array.dtype.kind in "OUT" else array
        if isinstance(ids, list):
            ids = [str(value) if isinstance(value, UUID) else value for value in ids]
    try:
        column = as_column(ids)
    except ArgumentError:
        raise ArgumentError("ids must be all whole numbers or all texts") from None
    if column.null_count:
        row = column.is_null().to_pylist().index(True)
        raise ArgumentError(f"an id is missing in row {row}")
    if len(column) and not (is_integer(column.type) or is_text(column.type)):
        raise ArgumentError(
            f"ids must be a list of whole numbers, or of texts, got {column.type}"
        )
    return column


def _whole_numbers(column: Any) -> IdArray:
    if not len(column):
        return np.empty(0, np.int64)
    numbers = np.asarray(column.to_numpy())
    low, high = numbers.min(), numbers.max()
    if low < 0 or high > np.iinfo(np.int64).max:
        wrong = low if low < 0 else high
        raise ArgumentError(f"ids must lie between 0 and 2**63 - 1, got {wrong}")
    return numbers.astype(np.int64)


def shown_id(value: Any) -> str:
    """Return an id for a message, long ones cut."""
    return repr(value[:_SHOWN]) if isinstance(value, str) else str(value)


# Rows that come to a collection that has some.


def aligned(
    table: Any, schema: Any, *, id_name: str | None, required: Collection[str | None]
) -> Any:
    """Return new rows with the columns of a collection, in their order and types.

    Columns that the rows lack are null there, and those that the collection lacks are
    left out, each with a warning.

    Parameters
    ----------
    table : pyarrow.Table
        Of `table_of`.
    schema : pyarrow.Schema
        Of the store.
    id_name : str or None
        The column that the ids were read from.
    required : collection of str
        Columns that must be there, since null would stand for a value.
    """
    import pyarrow as pa

    names = [name for name in table.column_names if name not in RESERVED]
    fields = [field for field in schema if field.name not in RESERVED]
    if missing := [field for field in fields if field.name not in names]:
        if id_name in [field.name for field in missing]:
            raise ArgumentError(
                f"column {id_name!r} cannot give the ids: in the collection it is "
                "a column beside them; to have it as ids, build the collection anew"
            )
        if lacking := [f for f in missing if f.name in required or not f.nullable]:
            raise ArgumentError(
                f"the new rows have no column {lacking[0].name!r}, which the "
                f"collection has; they have {known_names(names) or 'none'}"
            )
        listed = known_names(repr(field.name) for field in missing)
        noun = "column" if len(missing) == 1 else "columns"
        warn_user(f"the new rows have no {noun} {listed}: they get null there")
        for field in missing:
            table = table.append_column(field.name, pa.nulls(len(table), field.type))
    if extra := [name for name in names if name not in schema.names]:
        listed = ", ".join(map(repr, extra))
        warn_user(f"left out {listed}: the collection has no such columns")
    return pa.table(
        {
            field.name: cast_column(table[field.name], field)
            for field in schema
            if field.name in table.column_names
        }
    )


def typed_schema(schema: Any, table: Any) -> Any:
    """Return a schema whose columns of nulls have the types of new rows."""
    import pyarrow as pa

    for place, field in enumerate(schema):
        if pa.types.is_null(field.type) and field.name in table.column_names:
            schema = schema.set(place, field.with_type(table[field.name].type))
    return schema


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

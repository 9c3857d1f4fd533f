"""New rows in the form that a collection has."""

from collections.abc import Collection
from typing import Any

import numpy as np

from fewbits._arrow import known_names
from fewbits._warnings import warn_user
from fewbits.bundle._items import Items
from fewbits.bundle._table_part import ID, RESERVED
from fewbits.errors import ArgumentError


def aligned(
    table: Any,
    held: Items,
    *,
    numbered: bool,
    id_name: str | None = None,
    needed: Collection[str] = (),
) -> Any:
    """Return a table with the columns of a collection, in their order and types.

    Parameters
    ----------
    table : pyarrow.Table
        As `Items.table` gives it.
    held : Items
        The collection.
    numbered : bool
        Leave out the ids, as these are given later.
    id_name : str, default=None
        Name of the column that the ids are from.
    needed : collection of str, default=()
        Columns that may not be null in place of a value.

    Warns
    -----
    UserWarning
        Of columns that the collection does not have, which are left out, and of those
        that the rows lack, which are null there.

    Raises
    ------
    ArgumentError
        When a column is missing that is needed or takes no null, or its values are not
        of the collection's type.
    """
    import pyarrow as pa

    own = [name for name in table.column_names if name not in RESERVED]
    if missing := [name for name in held.columns if name not in own]:
        if id_name in missing:
            raise ArgumentError(
                f"column {id_name!r} cannot give the ids: in the collection it is "
                "a column beside them; to have it as ids, build the collection anew"
            )
        table = _with_nulls(table, [held.schema.field(x) for x in missing], needed)
    if extra := [name for name in own if name not in held.columns]:
        names = ", ".join(map(repr, extra))
        warn_user(f"left out {names}: the collection has no such columns")
    columns = {
        field.name: _cast(table[field.name], field, len(held))
        for field in held.schema
        if not (numbered and field.name == ID)
    }
    return pa.table(columns)


def _with_nulls(table: Any, fields: list[Any], needed: Collection[str]) -> Any:
    """Return a table with further columns of nulls."""
    import pyarrow as pa

    own = [name for name in table.column_names if name not in RESERVED]
    if lacking := [f.name for f in fields if f.name in needed or not f.nullable]:
        raise ArgumentError(
            f"the new rows have no column {lacking[0]!r}, which the collection has; "
            f"they have {known_names(own) or 'none'}"
        )
    names = known_names(repr(f.name) for f in fields)
    warn_user(f"the new rows have no column {names}: they get null there")
    for f in fields:
        table = table.append_column(f.name, pa.nulls(len(table), f.type))
    return table


def _cast(column: Any, field: Any, n_held: int) -> Any:
    """Return a column as one of another type, where no value changes by that."""
    import pyarrow as pa

    if column.type == field.type:
        return column
    if column.null_count == len(column):  # of any type: CSV says none for blank cells
        return pa.nulls(len(column), field.type)
    if pa.types.is_null(field.type):
        raise ArgumentError(_told_of_untyped(column, field.name, n_held))
    name = "ids" if field.name == ID else f"column {field.name!r}"
    # A category is what it stands for.
    plain = column.cast(_values(column.type))
    try:
        cast = plain.cast(_values(field.type))
        same = _are_same(cast.cast(plain.type), plain)
        made = cast.cast(field.type)
    except (pa.ArrowException, ValueError):
        same = False
    if not same or _kind(plain.type) != _kind(_values(field.type)):
        raise ArgumentError(
            f"{name} must be {_told(field.type)} as in the collection, got "
            f"{_told(column.type)}"
        )
    return made


def _told_of_untyped(column: Any, name: str, n_held: int) -> str:
    """Return a sentence on how a column gets a type that was built of nulls alone."""
    import pyarrow as pa

    kind = _values(column.type)
    told = (
        f"column {name!r} was null in each row when it was built, so it has no type "
        f"and takes no {_told(kind)}: build the collection anew"
    )
    try:
        pa.nulls(0, str(kind))
    except ValueError:  # a type that has no name to call it by
        return told
    return (
        f"{told}, or save bundle.with_column({name!r}, pyarrow.nulls({n_held}, "
        f"{str(kind)!r}))"
    )


def _told(kind: Any) -> str:
    """Return a type in the words of a filter, and in those of Arrow."""
    from fewbits.collection.filters import name_of_type

    return f"{name_of_type(kind)} ({kind})"


def _values(kind: Any) -> Any:
    """Return the type of what categories stand for; others are that themselves."""
    import pyarrow as pa

    return kind.value_type if pa.types.is_dictionary(kind) else kind


def _are_same(column: Any, other: Any) -> bool:
    """Return whether values are equal; NaN equals itself."""
    import pyarrow as pa

    if not pa.types.is_floating(column.type):
        return bool(column.equals(other))
    return all(
        np.array_equal(a, b, equal_nan=True)
        for a, b in (
            (column.fill_null(0).to_numpy(), other.fill_null(0).to_numpy()),
            (column.is_null().to_numpy(), other.is_null().to_numpy()),
        )
    )


def _kind(type_: Any) -> str:
    """Return what a cast must not turn into something else: truth, texts, the rest."""
    import pyarrow as pa

    from fewbits._arrow import is_text

    if pa.types.is_boolean(type_):
        return "truth"
    return "text" if is_text(type_) else "other"

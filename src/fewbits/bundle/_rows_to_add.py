"""New rows in the form that a collection has."""

from typing import Any

from fewbits._arrow import known_names
from fewbits._warnings import warn_user
from fewbits.bundle._items import Items
from fewbits.bundle._table_part import ID, RESERVED
from fewbits.errors import ArgumentError


def aligned(
    table: Any, held: Items, *, numbered: bool, id_name: str | None = None
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

    Warns
    -----
    UserWarning
        Of columns that the collection does not have, which are left out.

    Raises
    ------
    ArgumentError
        When a column is missing, or its values are not of the collection's type.
    """
    import pyarrow as pa

    own = [name for name in table.column_names if name not in RESERVED]
    if missing := [name for name in held.columns if name not in own]:
        if id_name in missing:
            raise ArgumentError(
                f"column {id_name!r} cannot give the ids: in the collection it is "
                "a column beside them; to have it as ids, build the collection anew"
            )
        raise ArgumentError(
            f"the new rows have no column {missing[0]!r}, which the collection has; "
            f"they have {known_names(own) or 'none'}"
        )
    if extra := [name for name in own if name not in held.columns]:
        names = ", ".join(map(repr, extra))
        warn_user(f"left out {names}: the collection has no such columns")
    columns = {
        field.name: _cast(table[field.name], field)
        for field in held.schema
        if not (numbered and field.name == ID)
    }
    return pa.table(columns)


def _cast(column: Any, field: Any) -> Any:
    """Return a column as one of another type, where no value changes by that."""
    import pyarrow as pa

    if column.type == field.type:
        return column
    name = "ids" if field.name == ID else f"column {field.name!r}"
    try:
        cast = column.cast(field.type)
        same = cast.cast(column.type).equals(column)
    except (pa.ArrowException, ValueError):
        same = False
    if not same or _is_reread(column.type, field.type):
        raise ArgumentError(
            f"{name} must be {_told(field.type)} as in the collection, got "
            f"{_told(column.type)}"
        )
    return cast


def _told(kind: Any) -> str:
    """Return a type in the words of a filter, and in those of Arrow."""
    from fewbits.filters._values import held

    return f"{held(kind)} ({kind})"


def _is_reread(given: Any, wanted: Any) -> bool:
    """Return whether a cast would take texts for numbers, or the other way round."""
    from fewbits._arrow import is_text

    return bool(is_text(given) != is_text(wanted) and str(given) != "null")

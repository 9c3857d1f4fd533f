"""Columns of Arrow tables: by name, and what they hold."""

from pathlib import Path
from typing import Any

from fewbits.errors import ArgumentError

_MANY = 30  # names that are told


def column_of(table: Any, name: str, path: Path) -> Any:
    """Return the column of this name."""
    if name not in table.column_names:
        known = table.column_names[:_MANY]
        more = len(table.column_names) - len(known)
        raise ArgumentError(
            f"{path} has no column {name!r}; it has {', '.join(known)}"
            + f" and {more} more" * (more > 0)
        )
    if table.column_names.count(name) > 1:
        raise ArgumentError(f"{path} has several columns called {name!r}; rename them")
    return table[name]


def check_full(values: Any, name: str, path: Path) -> None:
    """Refuse a column with gaps."""
    if values.null_count:
        n, row = values.null_count, values.is_null().to_pylist().index(True)
        more = f", nor in {n - 1} more" * (n > 1)
        raise ArgumentError(
            f"column {name!r} of {path} has no value in row {row}{more}"
        )


def is_text(kind: Any) -> bool:
    """Tell texts by the type of their column."""
    import pyarrow.types as types

    return bool(types.is_string(kind) or types.is_large_string(kind))


def reads_as_number(text: str) -> bool:
    """Tell a number that is written as a text."""
    try:
        float(text)
    except ValueError:
        return False
    return True


def is_list(kind: Any) -> bool:
    """Tell lists, which may be vectors."""
    import pyarrow.types as types

    return bool(
        types.is_list(kind)
        or types.is_large_list(kind)
        or types.is_fixed_size_list(kind)
    )


def is_integer(kind: Any) -> bool:
    """Tell whole numbers."""
    import pyarrow.types as types

    return bool(types.is_integer(kind))


def is_number(kind: Any) -> bool:
    """Tell plain numbers; truth values are none."""
    import pyarrow.types as types

    return bool(is_integer(kind) or types.is_floating(kind))

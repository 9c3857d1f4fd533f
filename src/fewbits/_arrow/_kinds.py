"""The kind of a column of an Arrow table, by its type."""

from collections.abc import Iterable
from typing import Any

_MANY = 30  # names in a message


def is_text(kind: Any) -> bool:
    """Return whether a type holds texts."""
    import pyarrow.types as types

    return bool(types.is_string(kind) or types.is_large_string(kind))


def is_list(kind: Any) -> bool:
    """Return whether a type holds lists of numbers, which may be vectors."""
    import pyarrow.types as types

    lists = (types.is_list, types.is_large_list, types.is_fixed_size_list)
    return any(each(kind) for each in lists) and is_number(kind.value_type)


def is_integer(kind: Any) -> bool:
    """Return whether a type holds integers."""
    import pyarrow.types as types

    return bool(types.is_integer(kind))


def is_flag(kind: Any) -> bool:
    """Return whether a type is boolean, which counts as 0 and 1 among numbers."""
    import pyarrow.types as types

    return bool(types.is_boolean(kind))


def is_number(kind: Any) -> bool:
    """Return whether a type is numeric; booleans are not."""
    import pyarrow.types as types

    return bool(is_integer(kind) or types.is_floating(kind))


def plain_type(kind: Any) -> Any:
    """Return the plain type with the same values: of a dictionary, those it holds.

    Decimals become float64, a tensor of fixed shape a list of its numbers, and views
    what they view.
    """
    import pyarrow as pa
    import pyarrow.types as types

    if isinstance(kind, pa.BaseExtensionType):
        return plain_type(kind.storage_type)
    if types.is_dictionary(kind):
        return plain_type(kind.value_type)
    if types.is_run_end_encoded(kind):
        return plain_type(kind.value_type)
    if types.is_string(kind) or types.is_string_view(kind):
        return pa.large_string()
    if types.is_binary_view(kind):
        return pa.large_binary()
    if types.is_decimal(kind):
        return pa.float64()
    if types.is_fixed_size_list(kind):
        return pa.list_(plain_type(kind.value_type), kind.list_size)
    if _any_list(kind):
        return pa.large_list(plain_type(kind.value_type))
    return kind


def _any_list(kind: Any) -> bool:
    import pyarrow.types as types

    return bool(
        types.is_list(kind)
        or types.is_large_list(kind)
        or types.is_list_view(kind)
        or types.is_large_list_view(kind)
    )


def known_names(names: Iterable[str]) -> str:
    r"""Return the names of columns for a message of one line, a few of many.

    Examples
    --------
    >>> known_names(["a", "b\n"])
    'a, b?'
    >>> known_names(["price "])
    "'price '"
    """
    known = list(names)
    more = f" and {len(known) - _MANY} more" if len(known) > _MANY else ""
    # A blank at an end of a name is its part, and would not be seen.
    shown = [name if name == name.strip(" ") != "" else repr(name) for name in known]
    listed_names = ", ".join(shown[:_MANY]) + more
    return "".join(letter if letter.isprintable() else "?" for letter in listed_names)

"""Types of columns, where the user says them."""

import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from fewbits._arrow import (
    MisfitError,
    converted,
    known_names,
    typed_column,
)
from fewbits._ids import new_ids
from fewbits.errors import ArgumentError
from fewbits.inputs._input import Input

_ZONED = re.compile(r"timestamp\[(s|ms|us|ns), *tz=(.+)\]")
_DECIMAL = re.compile(r"decimal(?:128|256)?\((\d+), *(-?\d+)\)")
_LIST = re.compile(r"(?:large_)?list<(?:item: )?(.+)>")
_EXAMPLES = (
    "string, int64, float64, bool, date32, timestamp[us, tz=UTC], decimal(10, 2)"
)


def as_types(types: Any) -> dict[str, Any]:
    """Return types of columns by name, of a dict of names or a pyarrow.Schema.

    Examples
    --------
    >>> as_types({"zip": "string", "price": "decimal(10, 2)"})
    {'zip': DataType(string), 'price': Decimal128Type(decimal128(10, 2))}
    """
    import pyarrow as pa

    if isinstance(types, pa.Schema):
        return {field.name: field.type for field in types}
    if not isinstance(types, Mapping):
        raise ArgumentError(
            "types are a mapping of columns to names of types, such as "
            f"{{'zip': 'string'}}, or a pyarrow.Schema, got {type(types).__name__}"
        )
    return {str(name): _type_of(name, kind) for name, kind in types.items()}


def _type_of(name: str, kind: Any) -> Any:
    import pyarrow as pa

    if isinstance(kind, pa.DataType):
        return kind
    text = str(kind).strip()
    try:
        if match := _ZONED.fullmatch(text):
            return pa.timestamp(*match.groups())
        if match := _DECIMAL.fullmatch(text):
            digits, scale = map(int, match.groups())
            return (pa.decimal128 if digits <= 38 else pa.decimal256)(digits, scale)
        if match := _LIST.fullmatch(text):
            return pa.list_(_type_of(name, match[1]))
        return pa.type_for_alias(text)
    except ValueError:
        raise ArgumentError(
            f"column {name!r} cannot be {text!r}; types have the names of Arrow, such "
            f"as {_EXAMPLES}"
        ) from None


def with_types(source: Input, types: Mapping[str, Any]) -> Input:
    """Return items whose other columns, or ids, have these types."""
    columns = source.stored_columns()
    for name, kind in types.items():
        is_id = name == source.id
        if not is_id and name not in columns:
            raise ArgumentError(
                f"{source.source} has no column {name!r} that is kept, to be {kind}; "
                f"kept are {known_names(columns) or 'none'}"
            )
        column = source.ids if is_id else typed_column(columns[name])
        try:
            column = converted(column, kind)
        except MisfitError as misfit:
            raise ArgumentError(
                f"column {name!r} of {source.source} holds {str(misfit.value)[:40]!r} "
                f"({column.type}), which is no {kind}"
                + f": {misfit.hint}"
                * bool(misfit.hint)
            ) from None
        if is_id:
            what = f"column {name!r} of {source.source}"
            source = replace(source, ids=new_ids(column, what))
        else:
            columns[name] = column
    typed = {name: columns[name] for name in types if name in columns}
    return replace(source, columns={**source.columns, **typed})

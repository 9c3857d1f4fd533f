"""Values that operators work on: a column of one kind, or a literal."""

from typing import Any, NamedTuple
from typing import Literal as Choice

import pyarrow as pa
import pyarrow.compute as pc
from pyarrow import types

from fewbits.errors import ArgumentError
from fewbits.filters._atoms import Literal
from fewbits.filters._literals import shorten

Kind = Choice[
    "integer",
    "decimal",
    "float",
    "string",
    "boolean",
    "bit",
    "date",
    "timestamp",
    "zoned",
    "null",
    "number",
    "other",
]
# What messages call a column of each kind.
HELD: dict[Kind, str] = {
    "integer": "integer",
    "decimal": "decimal",
    "float": "number",
    "string": "text",
    "boolean": "true/false",
    "date": "date",
    "timestamp": "timestamp",
    "zoned": "timestamp with time zone",
    "null": "nothing but NULL",
}
OTHERS = (
    (types.is_struct, "struct"),
    (types.is_map, "map"),
    (types.is_nested, "list"),
    (types.is_time, "time of day"),
    (types.is_duration, "duration"),
    (lambda of: "binary" in str(of), "bytes"),
)
EXAMPLE = "year >= 2020 or category = 'x'"
NUMBERS = ("integer", "decimal", "float", "number")
TRUTHS = ("boolean", "bit", "null")


class Value(NamedTuple):
    """An operand.

    Parameters
    ----------
    kind : str
        ``"number"`` is that of a literal; columns are integer, decimal or float.
    data : Arrow array, Arrow scalar, or the value of a literal
    text : str
        A literal as written, or what a message calls a column.
    is_literal : bool
    """

    kind: Kind
    data: Any
    text: str
    is_literal: bool = False

    @property
    def shown(self) -> str:
        """Description of the value in messages."""
        if not self.is_literal or self.kind == "null":
            return self.text
        if self.kind == "number":
            return f"the number {self.text[:60]}" if self.text else "a number"
        noun = HELD[self.kind] if self.kind in ("string", "date") else "timestamp"
        return f"the {noun} {shorten(self.text)}"


def literal_value(literal: Literal) -> Value:
    """Return a literal as an operand."""
    if literal.kind in ("null", "boolean"):
        return truth(pa.scalar(literal.value, pa.bool_()), literal.text.upper())
    return Value(literal.kind, literal.value, literal.text, is_literal=True)


def truth(data: Any, text: str = "a condition") -> Value:
    """Return what is true, false or null; NULL for all rows is of no other kind."""
    if isinstance(data, pa.Scalar) and not data.is_valid:
        return Value("null", data, "NULL", is_literal=True)
    return Value("boolean", data, text)


def column_value(data: Any, name: str) -> Value:
    """Return a column as an operand, decoded where its type is one of storage."""
    text = f"column {shorten(name)} ({name_of_type(data.type)})"
    if types.is_dictionary(data.type):
        data = data.cast(data.type.value_type)
    elif types.is_run_end_encoded(data.type):
        data = pc.run_end_decode(data)
    kind = _kind(data.type)
    if kind == "string":
        data = _plain_string(data)
    elif kind == "null":
        return Value("null", pa.scalar(None, pa.bool_()), text)
    return Value(kind, data, text)


def name_of_type(of: pa.DataType) -> str:
    """Return what a column holds, in the words of a filter.

    Examples
    --------
    >>> name_of_type(pa.large_string()), name_of_type(pa.list_(pa.int8()))
    ('text', 'list')
    """
    if types.is_dictionary(of) or types.is_run_end_encoded(of):
        return name_of_type(of.value_type)
    kind = _kind(of)
    if kind != "other":
        return HELD[kind]
    return next((name for is_one, name in OTHERS if is_one(of)), "other values")


def _plain_string(data: Any) -> Any:
    plain = (pa.string(), pa.large_string())
    if data.type in plain:
        return data
    return data.cast(pa.large_string())


def _kind(of: pa.DataType) -> Kind:
    if types.is_timestamp(of):
        return "timestamp" if of.tz is None else "zoned"
    checks: tuple[tuple[Kind, Any], ...] = (
        ("boolean", types.is_boolean),
        ("integer", types.is_integer),
        ("float", types.is_floating),
        ("decimal", types.is_decimal),
        ("date", types.is_date),
        ("null", types.is_null),
    )
    for kind, is_kind in checks:
        if is_kind(of):
            return kind
    string_view = getattr(types, "is_string_view", types.is_string)
    if types.is_string(of) or types.is_large_string(of) or string_view(of):
        return "string"
    return "other"


def as_truth(value: Any, taker: str) -> Any:
    """Return the data of what is true, false or null."""
    if isinstance(value, Value) and value.kind in TRUTHS:
        return value.data
    given = value.shown if isinstance(value, Value) else "a list"
    raise ArgumentError(
        f"{taker} takes conditions, got {given}: compare it, as in {EXAMPLE}"
    )

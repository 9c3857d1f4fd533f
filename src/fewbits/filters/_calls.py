"""Functions of one column."""

from collections.abc import Callable
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from fewbits.errors import ArgumentError
from fewbits.filters._values import Value

_OF_TEXTS: dict[str, Callable[[Any], Any]] = {
    "lower": pc.utf8_lower,
    "upper": pc.utf8_upper,
}
_OF_DATES: dict[str, Callable[[Any], Any]] = {
    "year": pc.year,
    "month": pc.month,
    "day": pc.day,
}


def call(function: str, value: Value) -> Value:
    """Return a function of a column: lower, upper, year, month or day."""
    if value.kind == "null":
        return value
    text = f"{function}({value.text})"
    if function in _OF_TEXTS:
        if value.kind != "string":
            raise ArgumentError(f"{function} takes text, got {value.shown}")
        return Value("string", _OF_TEXTS[function](value.data), text)
    if value.kind not in ("date", "timestamp"):
        raise ArgumentError(
            f"{function} takes a date, or a time without a zone, got {value.shown}"
        )
    return Value("integer", _OF_DATES[function](value.data).cast(pa.int64()), text)

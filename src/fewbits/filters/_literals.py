"""Values as they are written in a condition."""

import re
from datetime import date, datetime, timedelta
from decimal import Decimal, InvalidOperation
from fractions import Fraction

from fewbits.errors import ArgumentError
from fewbits.filters._atoms import Literal

MAX_DIGITS = 400  # of a number, on either side of its point
SECOND = 10**9
DAY = 86_400 * SECOND
_EPOCH = datetime(1970, 1, 1)
_NUMBER = re.compile(r"(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?", re.ASCII)
_MOMENT = re.compile(
    r"(\d{4}-\d\d-\d\d)"
    r"(?:[ T]((?:[01]\d|2[0-3]):\d\d)(?::(\d\d)(?:\.(\d{1,9}))?)?"
    r"\s?(Z|[+-]\d\d(?::?\d\d)?)?)?",
    re.ASCII,
)
ISO = "'2020-01-31' or '2020-01-31 12:00:00', with '+01:00' behind it for a time zone"


def shorten(text: str, length: int = 60) -> str:
    """Return `text` for a message: one line, not too long."""
    shown = repr(text)
    return shown if len(shown) <= length else shown[: length - 4] + "...'"


def constant(word: str) -> Literal | None:
    """Return NULL, TRUE or FALSE."""
    if word == "NULL":
        return Literal("null", None, word)
    return (
        Literal("boolean", word == "TRUE", word) if word in ("TRUE", "FALSE") else None
    )


def number(text: str) -> Literal:
    """Return the exact number that is written."""
    if text.isdecimal() and text.isascii() and len(text) < MAX_DIGITS:
        return Literal("number", int(text), text)
    if not _NUMBER.fullmatch(text):
        raise ArgumentError(f"the filter holds {shorten(text)}, which is not a number")
    try:
        value = Decimal(text)
    except InvalidOperation:  # an exponent of many digits
        value = Decimal("Infinity")
    if not value.is_finite() or max(len(text), abs(value.adjusted())) > MAX_DIGITS:
        raise ArgumentError(f"the filter holds {shorten(text)}, a number out of range")
    return Literal("number", Fraction(value), text)


def moment(text: str) -> Literal | None:
    """Return a date or a time in ISO 8601, or None where `text` is none."""
    found = _MOMENT.fullmatch(text)
    if found is None:
        return None
    day, clock, second, fraction, offset = found.groups()
    try:
        if clock is None:
            return Literal("date", _nanoseconds(_midnight(day)), text)
        instant = datetime.fromisoformat(f"{day}T{clock}:{second or '00'}")
        shift = _offset(offset) if offset else 0
    except ValueError:
        return None
    value = _nanoseconds(instant) + int((fraction or "").ljust(9, "0")) - shift
    return Literal("zoned" if offset else "timestamp", value, text)


def _midnight(day: str) -> datetime:
    return datetime.combine(date.fromisoformat(day), datetime.min.time())


def _nanoseconds(instant: datetime) -> int:
    return (instant - _EPOCH) // timedelta(seconds=1) * SECOND


def _offset(text: str) -> int:
    """Return the nanoseconds of an offset such as +01:00."""
    if text == "Z":
        return 0
    hours, minutes = int(text[1:3]), int(text[3:].lstrip(":") or 0)
    if hours > 23 or minutes > 59:
        raise ValueError(text)
    return (-1 if text[0] == "-" else 1) * (hours * 60 + minutes) * 60 * SECOND


def typed_moment(word: str, text: str) -> Literal:
    """Return the value of DATE '...' or TIMESTAMP '...'."""
    found = moment(text)
    if found is None or (word == "DATE" and found.kind != "date"):
        needed = "'2020-01-31'" if word == "DATE" else ISO
        raise ArgumentError(f"{word} {shorten(text)} must be written as {needed}")
    kind = "timestamp" if word != "DATE" and found.kind == "date" else found.kind
    return Literal(kind, found.value, text)

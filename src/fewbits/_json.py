"""Results as valid JSON, whatever values they hold, and back."""

import base64
import json
import math
import re
from collections.abc import Callable, Mapping, Sequence, Set
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal
from enum import Enum
from functools import partial
from typing import Any

import numpy as np

from fewbits.errors import ArgumentError


def to_json(value: Any, *, ascii_only: bool = False) -> str:
    """Return one JSON document on one line.

    Dates and durations become ISO 8601 strings, bytes base64, decimals strings with all
    their digits; missing values, NaN and infinity become null.

    Examples
    --------
    >>> print(to_json({"day": date(2020, 1, 31), "raw": b"ab", "x": float("nan")}))
    {"day": "2020-01-31", "raw": "YWI=", "x": null}
    """
    text = _dumped(value, ascii_only)
    # Lone surrogates, from names that are not UTF-8, can be written as ASCII only.
    return text if ascii_only or _is_text(text) else to_json(value, ascii_only=True)


def _dumped(value: Any, ascii_only: bool) -> str:
    encoder = _ENCODERS[ascii_only]
    try:  # most results are plain already, and checking each value would take longer
        return encoder.encode(value)
    except (TypeError, ValueError):
        return encoder.encode(_plain(value))


def _is_text(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def _plain(value: Any) -> Any:
    """Return a value in types of JSON."""
    if isinstance(value, np.datetime64 | np.timedelta64):
        return _time_of_numpy(value)
    if isinstance(value, np.generic | Enum):
        return _plain(value.item() if isinstance(value, np.generic) else value.value)
    if value is None or isinstance(value, bool | str):
        return value
    if isinstance(value, int):
        return int(value)
    if isinstance(value, float):
        return float(value) if math.isfinite(value) else None
    return _collection(value)


def _collection(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {_key(key): _plain(entry) for key, entry in value.items()}
    if isinstance(value, np.ndarray):
        if np.ma.isMaskedArray(value):
            return _plain(value.tolist())  # None where it is masked
        return _plain(list(value) if value.ndim else value[()])
    if isinstance(value, list | tuple | Set):
        return [_plain(entry) for entry in value]
    if isinstance(value, bytes | bytearray | memoryview):
        return base64.b64encode(bytes(value)).decode("ascii")
    return _other(value)


def _other(value: Any) -> Any:
    if hasattr(value, "as_py"):  # an Arrow scalar
        return _plain(value.as_py())
    if _is_missing(value):
        return None
    if isinstance(value, timedelta):
        return _duration(value)
    if isinstance(value, datetime | date | time):
        return value.isoformat()
    return str(value)


def _is_missing(value: Any) -> bool:
    """Return whether a value is NA or NaT of pandas, or a decimal NaN."""
    try:
        return bool(value != value)
    except (TypeError, ValueError, ArithmeticError):
        return True


def _key(key: Any) -> str:
    plain = _plain(key)
    return plain if isinstance(plain, str) else json.dumps(plain)


def _time_of_numpy(value: np.datetime64 | np.timedelta64) -> str | None:
    if np.isnat(value):
        return None
    if isinstance(value, np.datetime64):
        return str(value)
    nanoseconds = value.astype("timedelta64[ns]").astype(int)
    return _seconds(int(nanoseconds), 10**9)


def _duration(value: timedelta) -> str:
    whole = (value.days * 86_400 + value.seconds) * 10**6 + value.microseconds
    return _seconds(whole, 10**6)


def _seconds(count: int, per_second: int) -> str:
    """Return a duration in ISO 8601 with all its digits."""
    sign = "-" if count < 0 else ""
    whole, part = divmod(abs(count), per_second)
    digits = f"{part:0{len(str(per_second)) - 1}d}".rstrip("0")
    return f"{sign}PT{whole}{'.' if digits else ''}{digits}S"


#: By whether they write ASCII only; making one takes as long as a small result.
_ENCODERS = {
    ascii_only: json.JSONEncoder(
        ensure_ascii=ascii_only, allow_nan=False, default=_plain
    )
    for ascii_only in (False, True)
}


# The way back.

_DURATION = re.compile(
    r"(-?)P(?:(\d+)D)?(?:T(?:(\d+)H)?(?:(\d+)M)?(?:(\d+)(?:\.(\d{1,9}))?S)?)?", re.ASCII
)
_TIME = re.compile(r"(\d\d):(\d\d)(?::(\d\d)(?:\.(\d{1,9}))?)?", re.ASCII)
_END_OF_TIME = re.compile(r"\.(\d*?)0*(Z|[+-][\d:]*)?$", re.ASCII)
#: With seconds, as zones had them before they were rounded.
_OLD_OFFSET = re.compile(r":\d\d(\.\d{1,6})?[+-]\d\d:\d\d:\d\d$", re.ASCII)
_PER_SECOND = {"s": 1, "ms": 10**3, "us": 10**6, "ns": 10**9}
_SHOWN = 60  # characters of a value in a message


def from_json(values: Sequence[Any], kind: Any) -> Any:
    """Return values as `to_json` writes them as an Arrow array of the type they had.

    Times are ISO 8601, bytes base64, decimals texts, also in lists and structs. What a
    type cannot hold exactly is refused, and so are times with a zone where the type has
    none, or without one where it has.

    Raises
    ------
    ArgumentError
        With a value that is not of the type.

    Examples
    --------
    >>> import pyarrow as pa
    >>> from_json(["PT1.5S", None], pa.duration("ms")).to_pylist()
    [datetime.timedelta(seconds=1, microseconds=500000), None]
    """
    import pyarrow as pa

    return pa.array(_of_type(values, kind), kind)


def _of_type(values: Sequence[Any], kind: Any) -> Sequence[Any]:
    """Return values of which Arrow makes an array of a type; times as numbers."""
    import pyarrow as pa
    import pyarrow.types as types

    if types.is_dictionary(kind):
        return _of_type(values, kind.value_type)
    if types.is_map(kind):
        entry = pa.struct([("key", kind.key_type), ("value", kind.item_type)])
        pairs = [
            row and [dict(zip(("key", "value"), pair, strict=True)) for pair in row]
            for row in _all(list, values, kind)
        ]
        made = _of_type(pairs, pa.list_(entry))
        return [row and [tuple(pair.values()) for pair in row] for row in made]
    if types.is_struct(kind):
        rows, names = _all(dict, values, kind), [field.name for field in kind]
        for row in rows:
            if more := [name for name in row or () if name not in names]:
                raise ArgumentError(f"{kind} has no field {more[0]!r}")
        parts = [
            _of_type([(row or {}).get(field.name) for row in rows], field.type)
            for field in kind
        ]
        return [
            None if row is None else dict(zip(names, part, strict=True))
            for row, *part in zip(rows, *parts, strict=True)
        ]
    if types.is_nested(kind):
        rows = _all(list, values, kind)
        flat = [value for row in rows for value in row or ()]
        members = iter(_of_type(flat, kind.value_type))
        return [None if row is None else [next(members) for _ in row] for row in rows]
    try:
        return _simple(values, kind)
    except (ValueError, TypeError, ArithmeticError, pa.ArrowException):
        for value in values:  # which of them is it?
            try:
                _simple([value], kind)
            except (ValueError, TypeError, ArithmeticError, pa.ArrowException):
                raise _not_of_type(value, kind) from None
        raise


def _simple(values: Sequence[Any], kind: Any) -> Sequence[Any]:
    """Return what `_of_type` does, of a type that is not nested."""
    import pyarrow as pa
    import pyarrow.types as types

    if types.is_timestamp(kind) or types.is_date(kind):
        texts = [_shortened(x) if isinstance(x, str) else x for x in values]
        moments = pa.array(texts, pa.string()).cast(kind)
        counts: list[Any] = moments.view(f"int{kind.bit_width}").to_pylist()
        return counts
    one: Callable[[Any], Any]
    per_second = _PER_SECOND.get(getattr(kind, "unit", ""), 1)
    if types.is_time(kind):
        one = partial(_count_of, _TIME, per_second)
    elif types.is_duration(kind):
        one = partial(_count_of, _DURATION, per_second)
    elif types.is_decimal(kind):
        one = _decimal_of
    elif types.is_float16(kind) or types.is_float32(kind):
        one = partial(_short_float, kind.to_pandas_dtype())
    elif (
        types.is_binary(kind)
        or types.is_large_binary(kind)
        or (types.is_fixed_size_binary(kind))
    ):
        one = partial(base64.b64decode, validate=True)
    else:
        pa.array(values, kind)
        return values
    made = [None if value is None else one(value) for value in values]
    pa.array(made, kind)  # checks its digits, or its width
    return made


def _shortened(text: str) -> str:
    """Return a moment without zeros at its end, which Arrow takes for a finer unit."""
    if _OLD_OFFSET.search(text):
        text = datetime.fromisoformat(text).astimezone(UTC).isoformat()
    return _END_OF_TIME.sub(lambda x: (f".{x[1]}" if x[1] else "") + (x[2] or ""), text)


def _all(python: type, values: Sequence[Any], kind: Any) -> Sequence[Any]:
    for value in values:
        if value is not None and not isinstance(value, python):
            raise _not_of_type(value, kind)
    return values


def _not_of_type(value: Any, kind: Any) -> ArgumentError:
    shown = json.dumps(value, default=str)
    shown = shown if len(shown) <= _SHOWN else f"{shown[:_SHOWN]}..."
    return ArgumentError(f"{shown} is no {kind}")


def _count_of(form: re.Pattern[str], per_second: int, text: str) -> int:
    """Return a time of day, or a duration, in its unit."""
    match = form.fullmatch(text)
    if match is None:
        raise ValueError(text)
    if form is _TIME:
        sign, days = "", "0"
        hours, minutes, seconds, part = match.groups("0")
        if int(hours) > 23 or int(minutes) > 59 or int(seconds) > 59:
            raise ValueError(text)
    else:
        sign, days, hours, minutes, seconds, part = match.groups("0")
        sign = match[1]
        if text[-1] in "PT":
            raise ValueError(text)
    whole = ((int(days) * 24 + int(hours)) * 60 + int(minutes)) * 60 + int(seconds)
    count, rest = divmod(int(part.ljust(9, "0")) * per_second, 10**9)
    if rest:
        raise ValueError(text)
    return (-1 if sign == "-" else 1) * (whole * per_second + count)


def _decimal_of(value: Any) -> Decimal:
    if isinstance(value, float) and len(Decimal(repr(value)).as_tuple().digits) > 15:
        raise ValueError(value)  # its last digits may not be those that were sent
    if isinstance(value, bool):
        raise TypeError(value)
    return Decimal(repr(value) if isinstance(value, float) else value)


def _short_float(dtype: Any, value: Any) -> Any:
    """Return a number that this many bits hold, or that is written so for them."""
    number = dtype(value)
    if isinstance(value, bool) or value not in (float(number), float(str(number))):
        raise ValueError(value)
    return number

"""Results as valid JSON, whatever values they hold."""

import base64
import json
import math
from collections.abc import Mapping, Set
from datetime import date, datetime, time, timedelta
from enum import Enum
from typing import Any

import numpy as np


def to_json(value: Any, *, ascii_only: bool = False) -> str:
    """Return one JSON document on one line.

    Dates and durations become ISO 8601 strings, bytes base64, decimals strings with all
    their digits. Missing values, NaN and infinity become null; but in what is called
    ``columns``, the user's own, strings as protobuf has them.

    Examples
    --------
    >>> print(to_json({"day": date(2020, 1, 31), "raw": b"ab", "x": float("nan")}))
    {"day": "2020-01-31", "raw": "YWI=", "x": null}
    >>> print(to_json({"columns": {"x": float("-inf"), "y": None}}))
    {"columns": {"x": "-Infinity", "y": null}}
    """
    encoder = _ENCODERS[ascii_only]
    try:  # most results are plain already, and checking each value would take longer
        text = encoder.encode(value)
    except (TypeError, ValueError):
        text = encoder.encode(_plain(value))
    try:
        text.encode()
    except UnicodeEncodeError:  # lone surrogates, from names that are not UTF-8
        return to_json(value, ascii_only=True)
    return text


def _plain(value: Any, is_users: bool = False) -> Any:
    """Return a value in types of JSON."""
    if isinstance(value, np.datetime64 | np.timedelta64):
        if np.isnat(value):
            return None
        if isinstance(value, np.datetime64):
            return str(value)
        return _seconds(int(value.astype("timedelta64[ns]").astype(int)), 10**9)
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, Enum):
        return _plain(value.value)
    if value is None or isinstance(value, bool | str):
        return value
    if isinstance(value, int):
        return int(value)
    if isinstance(value, float):
        if math.isfinite(value):
            return float(value)
        return _WORDS[str(float(value))] if is_users else None
    if isinstance(value, Mapping):
        return {
            _key(key): _plain(entry, is_users or key == "columns")
            for key, entry in value.items()
        }
    if np.ma.isMaskedArray(value):
        return _plain(value.tolist(), is_users)  # None where it is masked
    if isinstance(value, np.ndarray):
        return _plain(list(value) if value.ndim else value[()], is_users)
    if isinstance(value, list | tuple | Set):
        return [_plain(entry, is_users) for entry in value]
    if isinstance(value, bytes | bytearray | memoryview):
        return base64.b64encode(bytes(value)).decode("ascii")
    if hasattr(value, "as_py"):  # an Arrow scalar
        return _plain(value.as_py(), is_users)
    try:
        if value != value:  # NaT of pandas, or a decimal NaN
            return None
    except (TypeError, ValueError, ArithmeticError):  # NA of pandas
        return None
    if isinstance(value, timedelta):
        seconds = value.days * 86_400 + value.seconds
        return _seconds(seconds * 10**6 + value.microseconds, 10**6)
    if isinstance(value, datetime | date | time):
        return value.isoformat()
    return str(value)


def _key(key: Any) -> str:
    plain = _plain(key)
    return plain if isinstance(plain, str) else json.dumps(plain)


def _seconds(count: int, per_second: int) -> str:
    """Return a duration in ISO 8601 with all its digits."""
    sign = "-" if count < 0 else ""
    whole, part = divmod(abs(count), per_second)
    digits = f"{part:0{len(str(per_second)) - 1}d}".rstrip("0")
    return f"{sign}PT{whole}{'.' if digits else ''}{digits}S"


_WORDS = {"nan": "NaN", "inf": "Infinity", "-inf": "-Infinity"}
#: By whether they write ASCII only; making one takes as long as a small result.
_ENCODERS = {
    ascii_only: json.JSONEncoder(
        ensure_ascii=ascii_only, allow_nan=False, default=_plain
    )
    for ascii_only in (False, True)
}

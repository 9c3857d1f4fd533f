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

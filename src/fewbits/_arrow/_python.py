"""Values of Python as Arrow arrays, and back.

Arrow takes the first value for the kind of all: a time without a zone among such with
one, a day among times, a text among bytes become the other in silence. So values of
several kinds are refused here.
"""

import os
import re
from collections.abc import Iterable, Mapping
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from functools import cache
from itertools import chain, islice
from pathlib import PurePath
from typing import Any
from uuid import UUID

import numpy as np

from fewbits._lazy import pa, pc

#: What values are, by their types; the first that fits counts.
_KINDS: tuple[tuple[str, tuple[type, ...]], ...] = (
    ("truth values", (bool, np.bool_)),
    ("times", (datetime, np.datetime64)),
    ("dates", (date,)),
    ("times of day", (time,)),
    ("durations", (timedelta, np.timedelta64)),
    ("integers", (int, np.integer)),
    ("numbers", (float, np.floating)),
    ("decimals", (Decimal,)),
    ("texts", (str,)),
    ("bytes", (bytes, bytearray, memoryview)),
    ("UUIDs", (UUID,)),
    ("lists", (list, tuple, set, frozenset, np.ndarray)),
    ("objects", (Mapping,)),
)
#: Floats that JSON has no numbers for, as protobuf writes them.
WORDS = {"NaN": float("nan"), "Infinity": float("inf"), "-Infinity": -float("inf")}
_NUMBERS = {"integers", "numbers", "decimals"}  # which Arrow compares exactly
_OF_ZONES = {"times", "times of day", "durations"}


def array_of(values: Iterable[Any]) -> Any:
    """Return Python values as an Arrow array; raise TypeError for several kinds.

    Paths become their texts; None, NA and NaT are missing, and NaN among other values.
    Among numbers, "NaN", "Infinity" and "-Infinity" are such, as JSON has them. Lists
    of pairs whose keys and values are of two kinds are maps.
    """
    originals = values = [*values]
    kinds = set(map(type, values))
    gaps = {kind for kind in kinds if kind.__name__ in ("NAType", "NaTType")}
    if gaps or (float in kinds and kinds - {float, int, type(None)}):
        values = [None if type(x) in gaps or x is not x else x for x in values]
        values = [None if isinstance(x, float) and x != x else x for x in values]
    if any(issubclass(kind, PurePath) for kind in kinds):
        values = [os.fspath(x) if isinstance(x, PurePath) else x for x in values]
    try:
        _check_one_kind(values)
    except TypeError:
        if (numbers := _without_words(originals)) is not originals:
            return array_of(numbers)
        lists = (list, tuple)  # of (key, value), as those of maps are given
        if not all(
            isinstance(row, lists)
            and all(isinstance(pair, lists) and len(pair) == 2 for pair in row)
            for row in values
            if row is not None
        ):
            raise
        ends = np.cumsum([0, *(len(row or ()) for row in values)]).astype(np.int32)
        pairs = [pair for row in values for pair in row or ()]
        keys, items = (array_of([pair[i] for pair in pairs]) for i in (0, 1))
        mask = pa.array([row is None for row in values])
        return pa.MapArray.from_arrays(pa.array(ends), keys, items, mask=mask)
    if np.datetime64 in kinds and kinds <= {np.datetime64, type(None)}:
        missing = [x is None or np.isnat(x) for x in values]
        full = [x for x, gap in zip(values, missing, strict=True) if not gap]
        if full and len({x.dtype for x in full}) == 1:  # as they are, to nanoseconds
            filled = [
                full[0] if gap else x for x, gap in zip(values, missing, strict=True)
            ]
            return pa.array(_of_known_unit(np.array(filled)), mask=np.array(missing))
    try:
        return pa.array(values)
    except OverflowError:  # integers of 64 bits without a sign
        return pa.array(values, pa.uint64())
    except (TypeError, pa.ArrowInvalid):
        times = _with_times(values)
        _check_one_kind(times)
        return pa.array(times)


def _of_known_unit(times: Any) -> Any:
    """Return times in a unit that Arrow has: hours and minutes in seconds."""
    unit = np.datetime_data(times.dtype)[0]
    if unit not in ("D", "h", "m", "s", "ms", "us", "ns"):
        raise TypeError(f"times of NumPy in units of {unit}: give days or times")
    return times.astype("datetime64[s]") if unit in ("h", "m") else times


def _with_times(value: Any) -> Any:
    """Return values with Python's times for NumPy's, within lists and dicts, too."""
    if isinstance(value, list | tuple):
        return [*map(_with_times, value)]
    if isinstance(value, dict):
        return {name: _with_times(inner) for name, inner in value.items()}
    if not isinstance(value, np.datetime64) or np.isnat(value):
        return None if isinstance(value, np.datetime64) else value
    if isinstance(time := _of_known_unit(value).item(), int):
        raise TypeError("nanoseconds in a list: give a Series, or an array of NumPy")
    return time


def _check_one_kind(values: list[Any]) -> None:
    """Refuse values of several kinds, within lists and dicts, too."""
    full = [value for value in values if value is not None]
    kinds = {_kind_of(kind) for kind in set(map(type, full))}
    if kinds & _OF_ZONES:
        kinds = set(map(_kind_of_time, full))
    if len(kinds) > 1 and not kinds <= _NUMBERS:
        raise TypeError(" among ".join(sorted(kinds, reverse=True)))
    if "lists" in kinds:
        numbers = (isinstance(x, np.ndarray) and x.dtype != object for x in full)
        parts = zip(full, numbers, strict=True)  # of one kind: the first will do
        _check_one_kind([*chain(*(x[:1] if plain else x for x, plain in parts))])
    if "objects" in kinds:
        for name in dict.fromkeys(chain(*full)):
            _check_one_kind([row.get(name) for row in full])


def _without_words(values: list[Any]) -> list[Any]:
    """Return values with floats for their words, where these are among numbers."""
    full = [value for value in values if value is not None]
    if all(isinstance(value, list) for value in full):
        flat = [*chain(*full)]
        if (members := _without_words(flat)) is flat:
            return values
        rest = iter(members)
        return [None if x is None else [*islice(rest, len(x))] for x in values]
    if all(isinstance(value, dict) for value in full):
        made, is_same = [None if x is None else {**x} for x in values], True
        rows = [row for row in made if row is not None]
        for name in dict.fromkeys(chain(*full)):
            before = [row.get(name) for row in full]
            after = _without_words(before)
            is_same = is_same and after is before
            for row, value in zip(rows, after, strict=True):
                if name in row:
                    row[name] = value
        return values if is_same else made
    numbers = [x for x in full if type(x) in (int, float)]
    words = [x for x in full if isinstance(x, str) and x in WORDS]
    if not (numbers and words and len(numbers) + len(words) == len(full)):
        return values
    return [WORDS[x] if isinstance(x, str) else x for x in values]


def _kind_of(kind: type) -> str:
    return next((name for name, of in _KINDS if issubclass(kind, of)), kind.__name__)


def _kind_of_time(value: Any) -> str:
    """Return the kind of a value, and of a time whether it has a zone."""
    kind = _kind_of(type(value))
    # Of pandas, which Arrow cuts off.
    if getattr(value, "nanosecond", 0) or getattr(value, "nanoseconds", 0):
        raise TypeError("nanoseconds in a list: give a Series, or an array of NumPy")
    if kind not in ("times", "times of day"):
        return kind
    if getattr(value, "tzinfo", None) is None:
        return f"{kind} without a zone"
    if kind == "times of day":
        raise TypeError("times of day with a zone, which Arrow does not keep")
    return f"{kind} with a zone"


def python_rows(table: Any) -> list[dict[str, Any]]:
    """Return the rows of an Arrow table, whose values are those of `python_values`."""
    if not table.num_columns:
        return [{} for _ in range(table.num_rows)]
    values = zip(*map(python_values, table.columns), strict=True)
    return [dict(zip(table.column_names, row, strict=True)) for row in values]


def python_values(column: Any) -> list[Any]:
    """Return the values of a column as plain Python has them.

    Times that Python's `datetime` cannot hold become texts in ISO 8601, in UTC where
    they have a zone: those with nanoseconds, and years beyond 9999. Floats of 32 and 16
    bits become the shortest number that is the same in that many bits: .4, not
    0.4000000059604645.
    """
    kind = column.type
    if kind.id in _plain_kinds():
        plain: list[Any] = column.to_pylist()
        return plain
    if pa.types.is_dictionary(kind) and kind.value_type.id not in _plain_kinds():
        column, kind = column.cast(kind.value_type), kind.value_type
    if re.match("(large_|fixed_size_)?list<", str(kind)):
        rows: list[Any] = []
        for chunk in column.chunks:
            members = iter(python_values(pa.chunked_array([chunk.flatten()])))
            if (size := getattr(kind, "list_size", None)) is None:
                lengths = chunk.value_lengths().to_pylist()
            else:
                lengths = [None if x else size for x in chunk.is_null().to_pylist()]
            rows += [None if n is None else [*islice(members, n)] for n in lengths]
        return rows
    if pa.types.is_struct(kind):
        names, structs = [field.name for field in kind], []
        for chunk in column.chunks:
            parts = [python_values(pa.chunked_array([x])) for x in chunk.flatten()]
            for i, gap in enumerate(chunk.is_null().to_pylist()):
                row = {x: part[i] for x, part in zip(names, parts, strict=True)}
                structs.append(None if gap else row)
        return structs
    if pa.types.is_map(kind):
        pairs = pa.struct([("key", kind.key_type), ("value", kind.item_type)])
        rows = python_values(column.cast(pa.list_(pairs)))
        return [row and [tuple(pair.values()) for pair in row] for row in rows]
    if pa.types.is_float32(kind) or pa.types.is_float16(kind):
        dtype, numbers = kind.to_pandas_dtype(), column.to_numpy(zero_copy_only=False)
        gaps = column.is_null().to_pylist()
        return [
            None if gap else float(str(dtype(number)))
            for gap, number in zip(gaps, numbers, strict=True)
        ]
    if pa.types.is_date(kind) or pa.types.is_timestamp(kind):
        utc = column if pa.types.is_date(kind) else column.cast(pa.timestamp(kind.unit))
        years = pc.min_max(pc.year(utc))
        low, high = years["min"].as_py(), years["max"].as_py()
        if low is not None and not 1 <= low <= high <= 9999:
            return _iso(column)
    if getattr(kind, "unit", None) == "ns":
        return _of_nanoseconds(column)
    values: list[Any] = column.to_pylist()
    return values


@cache
def _plain_kinds() -> frozenset[int]:
    """Return the numbers of types whose values Arrow gives as they are wanted."""
    kinds = pa.string(), pa.large_string(), pa.int64(), pa.float64(), pa.bool_()
    return frozenset(kind.id for kind in kinds)


def _of_nanoseconds(column: Any) -> list[Any]:
    """Return times of Python where they are whole microseconds; else texts."""
    kind = column.type
    if pa.types.is_timestamp(kind):
        coarse = pa.timestamp("us", kind.tz)
    else:
        coarse = pa.time64("us") if pa.types.is_time(kind) else pa.duration("us")
    whole = column.cast(coarse, safe=False)
    exact = pc.equal(whole.cast(kind), column).to_pylist()
    times = whole.to_pylist()
    if pa.types.is_duration(kind):
        texts: list[str | None] = []
        for count in column.cast(pa.int64()).to_pylist():
            seconds, part = divmod(abs(count or 0), 10**9)
            text = f"PT{seconds}.{part:09d}".rstrip("0").rstrip(".") + "S"
            texts.append(f"-{text}" if (count or 0) < 0 else text)
    else:
        texts = _iso(column)
    return [
        text if is_exact is False else time
        for time, text, is_exact in zip(times, texts, exact, strict=True)
    ]


def _iso(column: Any) -> list[str | None]:
    """Return times in ISO 8601; in UTC, as Arrow cuts offsets with seconds."""
    if pa.types.is_timestamp(column.type) and column.type.tz is not None:
        column = column.cast(pa.timestamp(column.type.unit, "UTC"))
    texts = column.cast(pa.string()).to_pylist()
    return [None if text is None else text.replace(" ", "T", 1) for text in texts]

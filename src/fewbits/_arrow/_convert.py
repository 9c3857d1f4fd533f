"""A column in another type, where each value still means the same.

A cast that comes back unchanged is no proof: Arrow reads 1 as an instant, and noon
without a zone as noon in UTC. So the pairs of kinds that convert are listed here.

- Numbers of any type, if their values are equal; decimals also from texts.
- Times with a zone keep the instant, in any other zone; times without one convert to
  such alone. Units may change if no digit is lost. Dates are midnights without a zone,
  and these are dates, as pandas and SQL have them.
- ISO 8601 is read as dates, times and durations, base64 as bytes, a UUID as such: the
  forms that answers in JSON have.
- Members of lists, fields of structs (by name), and keys and values of maps convert as
  columns do; lists of pairs are read as maps.

Numbers never become times, texts never numbers (but for "NaN" and "Infinity") or truth
values, nor the reverse.
"""

import re
from base64 import b64decode
from collections.abc import Callable
from datetime import UTC, datetime
from decimal import Decimal
from functools import partial
from typing import Any
from uuid import UUID

import numpy as np

from fewbits._arrow._python import WORDS, python_values
from fewbits._arrow._tables import chunks_of, stored_column, with_members
from fewbits._lazy import pa, pc

_EXACT = 2**53  # below which a float is one integer alone
_DIGITS = 15  # that a float of 64 bits has, whatever they are
_DURATION = re.compile(r"(-?)PT(\d+)(?:\.(\d{1,9}))?S")
_OLD_OFFSET = r":\d\d(\.\d{1,6})?[+-]\d\d:\d\d:\d\d$"
_NANOSECONDS = {"s": 10**9, "ms": 10**6, "us": 10**3, "ns": 1}


class MisfitError(ValueError):
    """A `value` that another type cannot hold; `hint` is what to give instead."""

    def __init__(self, value: Any, hint: str = "") -> None:
        super().__init__(hint)
        self.value, self.hint = value, hint


def converted(column: Any, kind: Any) -> Any:
    """Return a column in another type, if each value means the same in it.

    MisfitError names the first value that does not.
    """
    if column.type == kind:
        return column
    chunks = [_converted(chunk, kind) for chunk in chunks_of(stored_column(column))]
    return pa.chunked_array(chunks, kind)


def _converted(values: Any, kind: Any) -> Any:
    if values.type == kind:
        return values
    if values.null_count == len(values):
        return pa.nulls(len(values), kind)
    if pa.types.is_dictionary(values.type):
        return _converted(values.dictionary.take(values.indices), kind)
    if pa.types.is_dictionary(kind):
        return _converted(values, kind.value_type).dictionary_encode().cast(kind)
    family, target = _family(values.type), _family(kind)
    if (nested := _NESTED.get((family, target))) is not None:
        return nested(values, kind)
    convert = _CONVERSIONS.get((family, target))
    hint = _HINTS.get((family, target), "")
    if convert is None:
        raise MisfitError(_first_value(values.drop_null()), hint)

    def attempt(some: Any) -> Any:
        try:
            return convert(some, kind)
        except (pa.ArrowException, ValueError, ArithmeticError, LookupError):
            return None

    result = attempt(values)
    if result is None:  # look for the first value to blame
        while len(values) > 1:
            head = values[: len(values) // 2]
            values = head if attempt(head) is None else values[len(head) :]
        raise MisfitError(_first_value(values), hint)
    return result


def _first_value(values: Any) -> Any:
    return python_values(pa.chunked_array([values[:1]]))[0]


def _family(kind: Any) -> str:
    """Return what values of a type are; types of one family differ in size alone."""
    name = str(kind)
    families = (family for family, form in _FAMILIES.items() if re.match(form, name))
    return next(families, name)


#: How Arrow calls the types of a family.
_FAMILIES = {
    "uuid": "extension<arrow.uuid>",
    "text": "(large_)?string$",
    "integer": r"u?int\d",
    "float": "(halffloat|float|double)$",
    "decimal": "decimal",
    "date": r"date\d",
    "zoned": r"timestamp\[\w+, ",
    "naive": r"timestamp\[",
    "time": r"time\d",
    "duration": "duration",
    "bytes": r"(large_)?binary$|fixed_size_binary\[",
    "list": "(large_|fixed_size_)?list<",
    "struct": "struct<",
    "map": "map<",
}


# Nested values


def _lists(values: Any, kind: Any) -> Any:
    if pa.types.is_fixed_size_list(values.type):
        size = values.type.list_size
        mask = values.is_null() if values.null_count else None
        members = values.values[values.offset * size :][: len(values) * size]
        members = _converted(members, kind.value_type)
        lists = pa.FixedSizeListArray.from_arrays(members, size, mask=mask)
    else:
        lists = with_members(values, _converted(values.flatten(), kind.value_type))
    try:
        return lists.cast(kind)  # from one form of lists to another, of equal members
    except pa.ArrowException:
        size = kind.list_size
        lengths = lists.value_lengths().to_pylist()
        row = next(i for i, n in enumerate(lengths) if n not in (None, size))
        hint = f"lists of the column have {size} members"
        raise MisfitError(_first_value(values[row:]), hint) from None


def _structs(values: Any, kind: Any) -> Any:
    parts = dict(zip([f.name for f in values.type], values.flatten(), strict=True))
    names = [field.name for field in kind]
    if more := [name for name in parts if name not in names]:
        raise MisfitError(
            _first_value(values.drop_null()), f"the column has no field {more[0]!r}"
        )
    arrays = [
        _converted(parts[field.name], field.type)
        if field.name in parts
        else pa.nulls(len(values), field.type)
        for field in kind
    ]
    mask = values.is_null() if values.null_count else None
    return pa.StructArray.from_arrays(arrays, fields=list(kind), mask=mask)


def _maps(values: Any, kind: Any) -> Any:
    """Return maps, of maps or of lists of pairs."""
    if pa.types.is_map(values.type):
        pair = pa.struct([("key", values.type.key_type), ("", values.type.item_type)])
        values = values.cast(pa.list_(pair))
        keys, items = values.flatten().flatten()
    else:
        pairs = values.flatten()
        lengths = pairs.value_lengths() if hasattr(pairs, "value_lengths") else None
        if len(pairs) and (lengths is None or set(lengths.to_pylist()) != {2}):
            raise MisfitError(_first_value(values.drop_null()), _PAIRS)
        members = pairs.flatten() if len(pairs) else pa.array([], kind.key_type)
        keys, items = (
            members.take(pa.array(range(i, len(members), 2), pa.int64()))
            for i in (0, 1)
        )
    lengths = values.value_lengths().fill_null(0).to_numpy(zero_copy_only=False)
    return pa.MapArray.from_arrays(
        pa.array(np.concatenate([[0], np.cumsum(lengths)]).astype(np.int32)),
        _converted(keys, kind.key_type),
        _converted(items, kind.item_type),
        kind,
        mask=values.is_null() if values.null_count else None,
    )


# Values: each function raises where one does not fit


def _cast(values: Any, kind: Any) -> Any:
    """Return values whose bits are compared, in the same kind."""
    result = values.cast(kind)
    if not result.cast(values.type).equals(values):
        raise ValueError
    return result


def _numbers(values: Any, kind: Any) -> Any:
    """Return integers or floats as such of another size."""
    if pa.types.is_float16(values.type):
        values = values.cast("float32")
    if pa.types.is_floating(values.type) and pa.types.is_integer(kind):
        numbers = values.fill_null(0).to_numpy(zero_copy_only=False)
        if (np.abs(numbers) >= _EXACT).any():  # it may have had digits that floats lack
            raise ValueError
    is_half = pa.types.is_float16(kind)
    made = (values.cast("float32") if is_half else values).cast(kind)
    back = made.cast("float32") if is_half else made
    gaps = values.is_null().to_numpy(zero_copy_only=False)
    before = values.fill_null(0).to_numpy(zero_copy_only=False)
    after = back.cast(values.type).fill_null(0).to_numpy(zero_copy_only=False)
    differ = (before != after) & ~gaps & ~((before != before) & (after != after))
    if not differ.any():
        return made
    if not pa.types.is_floating(values.type) or not pa.types.is_floating(kind):
        raise ValueError
    # The shortest number that is the same in fewer bits: .4 is that of a float32.
    shown = made.to_numpy(zero_copy_only=False)[differ].astype(str).astype(np.float64)
    if (shown != before[differ]).any():
        raise ValueError
    return made


def _decimals_of_floats(values: Any, kind: Any) -> Any:
    """Return decimals, of floats that have no more digits than surely were meant."""
    numbers = _shortest(values)
    if any(x is not None and len(x.as_tuple().digits) > _DIGITS for x in numbers):
        raise ValueError
    return pa.array(numbers, kind)


def _floats_of_decimals(values: Any, kind: Any) -> Any:
    # By texts: Arrow's own cast rounds twice.
    result = _numbers(values.cast(pa.string()).cast(pa.float64()), kind)
    if _shortest(result) != values.to_pylist():
        raise ValueError
    return result


def _shortest(floats: Any) -> list[Decimal | None]:
    numbers = python_values(pa.chunked_array([floats]))
    return [None if x is None else Decimal(repr(x)) for x in numbers]


def _each(convert: Callable[[Any], Any], values: Any, kind: Any) -> Any:
    results = (None if x is None else convert(x) for x in values.to_pylist())
    return pa.array([*results], kind)


def _decimal(value: Any) -> Decimal:
    if not (number := Decimal(value)).is_finite():
        raise ValueError
    return number


def _integer(value: Decimal) -> int:
    if value != int(value):
        raise ValueError
    return int(value)


def _moments(values: Any, kind: Any) -> Any:
    """Return dates or timestamps that are written in ISO 8601."""
    # Arrow takes zeros at the end for a finer unit, and knows no seconds in offsets, as
    # zones had them before they were rounded.
    texts, zone = values.cast("large_string"), r"((?:Z|[+-][\d:]*)?)$"
    texts = pc.replace_substring_regex(texts, rf"(\.\d*?)0+{zone}", r"\1\2")
    texts = pc.replace_substring_regex(texts, rf"\.{zone}", r"\1")
    if any(pc.match_substring_regex(texts, _OLD_OFFSET).to_pylist()):
        old = re.compile(_OLD_OFFSET)
        texts = pa.array(
            datetime.fromisoformat(x).astimezone(UTC).isoformat()
            if x is not None and old.search(x)
            else x
            for x in texts.to_pylist()
        )
    return texts.cast(kind)


def _times_of_day(values: Any, kind: Any) -> Any:
    day, end = (pa.scalar(x, values.type) for x in ("1970-01-01T", ""))
    moments = pc.binary_join_element_wise(day, values, end)
    return _moments(moments, pa.timestamp(kind.unit)).cast(kind)


def _durations(values: Any, kind: Any) -> Any:
    def count(text: str) -> int:
        if (match := _DURATION.fullmatch(text)) is None:
            raise ValueError
        sign, whole, part = match.groups()
        nanoseconds = int(whole) * 10**9 + int((part or "").ljust(9, "0"))
        number, rest = divmod(nanoseconds, _NANOSECONDS[kind.unit])
        if rest:
            raise ValueError
        return -number if sign else number

    return _each(count, values, pa.int64()).cast(kind)


_NESTED = {
    ("list", "list"): _lists,
    ("struct", "struct"): _structs,
    ("map", "map"): _maps,
    ("list", "map"): _maps,
}
_CONVERSIONS: dict[tuple[str, str], Callable[[Any, Any], Any]] = {
    **{(x, x): _cast for x in ("text", "bytes", "decimal", "date", "time", "duration")},
    **{(x, x): _cast for x in ("naive", "zoned")},
    **{("text", x): _moments for x in ("date", "naive", "zoned")},
    ("text", "time"): _times_of_day,
    **{(x, y): _numbers for x in ("integer", "float") for y in ("integer", "float")},
    ("date", "naive"): _cast,
    ("naive", "date"): _cast,
    ("integer", "decimal"): partial(_each, _decimal),
    ("decimal", "integer"): partial(_each, _integer),
    ("float", "decimal"): _decimals_of_floats,
    ("decimal", "float"): _floats_of_decimals,
    ("text", "decimal"): partial(_each, _decimal),
    ("text", "float"): partial(_each, WORDS.__getitem__),
    ("text", "duration"): _durations,
    ("text", "bytes"): partial(_each, partial(b64decode, validate=True)),
    ("text", "uuid"): partial(_each, UUID),
}
_PAIRS = 'give a list of pairs, as [["a", 1]]'
_UNITLESS = "a number has no unit: give times"
_HINTS = {
    ("float", "integer"): "give integers",
    ("struct", "map"): _PAIRS,
    ("naive", "zoned"): "it has no zone: give it with one, as 12:00:00+00:00",
    ("date", "zoned"): "a day has no zone: give an instant, as 12:00:00+00:00",
    ("text", "zoned"): "write it in ISO 8601 with a zone, as 2020-01-31T12:00:00+00:00",
    ("text", "naive"): "write it in ISO 8601 without a zone, as 2020-01-31T12:00:00",
    ("zoned", "naive"): "the column has no zone: give times without one",
    ("zoned", "date"): "an instant is on two days, by its zone: give dates",
    **{
        (number, of): _UNITLESS
        for number in ("integer", "float", "decimal")
        for of in ("naive", "zoned", "date", "time", "duration")
    },
}

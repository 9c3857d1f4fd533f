"""Comparisons of two operands: exact, or refused where the types do not fit."""

import operator as python
from typing import Any, NoReturn

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from fewbits.errors import ArgumentError
from fewbits.filters._grid import COMPARE, compare_grid, grid
from fewbits.filters._literals import ISO, moment
from fewbits.filters._values import NUMBERS, TRUTHS, Value, truth

FLIPPED = {"=": "=", "<>": "<>", "<": ">", "<=": ">=", ">": "<", ">=": "<="}
PYTHON = {
    "=": python.eq,
    "<>": python.ne,
    "<": python.lt,
    "<=": python.le,
    ">": python.gt,
    ">=": python.ge,
}
MOMENTS = ("date", "timestamp", "zoned")
NULL = truth(pa.scalar(None, pa.bool_()))
DECIMAL = 76  # most digits of Arrow's decimals


def compare(operator: str, left: Value, right: Value) -> Value:
    """Return ``left operator right`` for each row."""
    if left.kind == "null" or right.kind == "null":
        return NULL
    if left.kind == "other" or right.kind == "other":
        _mismatch(left, right, "its type cannot be compared")
    if left.is_literal and not right.is_literal:
        return compare(FLIPPED[operator], right, left)
    if left.is_literal:
        return _literals(operator, left, right)
    if "bit" in (left.kind, right.kind):
        return _bits(operator, left, right)
    if right.is_literal:
        return _column_with_literal(operator, left, right)
    return _columns(operator, left, right)


def _mismatch(left: Value, right: Value, need: str) -> NoReturn:
    raise ArgumentError(f"{left.shown} cannot be compared with {right.shown}: {need}")


def _literals(operator: str, left: Value, right: Value) -> Value:
    moments = left.kind in MOMENTS[:2] and right.kind in MOMENTS[:2]
    if left.kind != right.kind and not moments:
        _mismatch(left, right, "they are of two types")
    return truth(pa.scalar(bool(PYTHON[operator](left.data, right.data))))


def _bits(operator: str, left: Value, right: Value) -> Value:
    bit, other = (left, right) if left.kind == "bit" else (right, left)
    if operator not in ("=", "<>"):
        _mismatch(left, right, "a bit can be = or <> 0 or 1")
    if other.kind == "bit":
        return truth(COMPARE[operator](bit.data, other.data))
    if other.kind != "number" or other.data not in (0, 1):
        _mismatch(bit, other, "a bit is 0 or 1")
    is_on = (other.data == 1) == (operator == "=")
    return truth(bit.data if is_on else pc.invert(bit.data))


def _column_with_literal(operator: str, column: Value, literal: Value) -> Value:
    literal = fitting(column, literal)
    if column.kind == "float":
        data, value = rounded(column, literal)
        return truth(COMPARE[operator](data, value))
    if column.kind == "string":
        scalar = pa.scalar(literal.data, column.data.type)
        return truth(COMPARE[operator](column.data, scalar))
    return truth(compare_grid(operator, grid(column), literal.data))


def fitting(column: Value, literal: Value) -> Value:
    """Return a literal of the kind that the column can be compared with."""
    kind = column.kind
    if kind in NUMBERS:
        if literal.kind != "number":
            _mismatch(column, literal, "write a number, without quotes")
    elif kind == "string":
        if literal.kind != "string":
            _mismatch(column, literal, "write text in single quotes")
    elif kind in MOMENTS:
        return _moment(column, literal)
    elif kind in TRUTHS:
        _mismatch(column, literal, "write TRUE or FALSE")
    return literal


def _moment(column: Value, literal: Value) -> Value:
    found = literal
    if literal.kind == "string" and (written := moment(literal.data)) is not None:
        found = Value(written.kind, written.value, literal.text, is_literal=True)
    if found.kind not in MOMENTS:
        _mismatch(column, literal, f"write {ISO}")
    if column.kind == "zoned" and found.kind != "zoned":
        _mismatch(column, literal, "write the time zone, as '... 12:00:00+00:00'")
    if column.kind != "zoned" and found.kind == "zoned":
        _mismatch(column, literal, "the column has no time zone")
    if column.kind == "date" and literal.kind == "string" and found.kind != "date":
        _mismatch(column, literal, "write a date, as '2020-01-31'")
    return found


def rounded(column: Value, literal: Value) -> tuple[Any, Any]:
    """Return a column of floats, and a number rounded to its type."""
    data, of = column.data, column.data.type
    try:
        with np.errstate(over="ignore"):
            value = of.to_pandas_dtype()(float(literal.data))
    except OverflowError:
        value = np.inf
    if np.isinf(value):
        _mismatch(
            column, literal, f"it is out of the range of numbers of {of.bit_width} bits"
        )
    if pa.types.is_float16(of):
        data, of = data.cast(pa.float32()), pa.float32()
    return data, pa.scalar(float(value), of)


def _columns(operator: str, left: Value, right: Value) -> Value:
    if left.kind in NUMBERS and right.kind in NUMBERS:
        pair = _numbers(left, right)
    elif left.kind == right.kind == "string":
        pair = _cast(left, right, pa.large_string())
    elif left.kind in MOMENTS and right.kind in MOMENTS:
        pair = _moments(left, right)
    elif left.kind == right.kind == "boolean":
        if operator not in ("=", "<>"):
            _mismatch(left, right, "TRUE and FALSE can be = or <>")
        pair = left.data, right.data
    else:
        _mismatch(left, right, "they are of two types")
    return truth(COMPARE[operator](*pair))


def _cast(left: Value, right: Value, to: pa.DataType) -> tuple[Any, Any]:
    return left.data.cast(to), right.data.cast(to)


def _numbers(left: Value, right: Value) -> tuple[Any, Any]:
    """Return two columns as one type that holds both, or refuse them."""
    if "float" in (left.kind, right.kind):
        return as_float(left.data), as_float(right.data)
    if left.kind == right.kind == "integer":
        if not pa.types.is_uint64(left.data.type) and not pa.types.is_uint64(
            right.data.type
        ):
            return _cast(left, right, pa.int64())
        return _cast(left, right, pa.decimal128(20, 0))
    scales = [getattr(each.data.type, "scale", 0) for each in (left, right)]
    return _cast(left, right, pa.decimal256(DECIMAL, max(0, *scales)))


def as_float(data: Any) -> Any:
    """Return numbers as 64-bit floats; integers must lie within 2^53."""
    if pa.types.is_float16(data.type):
        data = data.cast(pa.float32())
    return data.cast(pa.float64())


def _moments(left: Value, right: Value) -> tuple[Any, Any]:
    zoned = [each.kind == "zoned" for each in (left, right)]
    if any(zoned) and not all(zoned):
        _mismatch(left, right, "only one has a time zone")
    finest = min(
        (_unit(each.data.type) for each in (left, right)),
        key=("ns", "us", "ms", "s").index,
    )
    return _cast(left, right, pa.timestamp(finest, "UTC" if all(zoned) else None))


def _unit(of: pa.DataType) -> str:
    if pa.types.is_timestamp(of):
        return str(of.unit)
    return "s" if pa.types.is_date32(of) else "ms"

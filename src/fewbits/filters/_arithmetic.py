"""``+ - * / %``: exact on integers and decimals, 64-bit floats otherwise."""

from decimal import Context, Decimal, Inexact
from fractions import Fraction
from typing import Any, NoReturn

import pyarrow as pa
import pyarrow.compute as pc

from fewbits.errors import ArgumentError
from fewbits.filters._compare import DECIMAL, NULL, as_float
from fewbits.filters._values import NUMBERS, Kind, Value, name_of_type

CHECKED = {
    "+": pc.add_checked,
    "-": pc.subtract_checked,
    "*": pc.multiply_checked,
}
FLOATING = {"+": pc.add, "-": pc.subtract, "*": pc.multiply, "/": pc.divide}
MAX_BITS = 4096  # of a number that literals make


def calculate(operator: str, left: Value, right: Value) -> Value:
    """Return ``left operator right``; NULL where it divides by zero."""
    for each in (left, right):
        if each.kind not in (*NUMBERS, "null"):
            raise ArgumentError(f"{operator} takes numbers, got {each.shown}")
    if left.kind == "null" or right.kind == "null":
        return NULL
    if left.is_literal and right.is_literal:
        return _literals(operator, left.data, right.data)
    if operator == "%":
        return _column("integer", _remainder(_whole(left), _whole(right)))
    if operator == "/" or _is_floating(left) or _is_floating(right):
        return _column("float", _floating(operator, left, right))
    if _is_integer(left) and _is_integer(right):
        result = CHECKED[operator](_whole(left), _whole(right))
        return _column("integer", result)
    return _column("decimal", CHECKED[operator](_decimal(left), _decimal(right)))


def negate(value: Value) -> Value:
    """Return ``-value``."""
    return calculate("-", Value("number", 0, "0", is_literal=True), value)


def _column(kind: Kind, data: Any) -> Value:
    return Value(kind, data, f"a result ({name_of_type(data.type)})")


def _literals(operator: str, left: Any, right: Any) -> Value:
    if operator in "/%" and right == 0:
        return NULL
    if operator == "%":
        if left.denominator != 1 or right.denominator != 1:
            _refuse_remainder("a number with a fraction")
        magnitude = abs(left) % abs(right)
        value = -magnitude if left < 0 else magnitude
    elif operator == "/":
        value = Fraction(left) / right
    else:
        value = {"+": left + right, "-": left - right, "*": left * right}[operator]
    if max(value.numerator.bit_length(), value.denominator.bit_length()) > MAX_BITS:
        raise ArgumentError("the numbers of the filter make one that is out of range")
    return Value("number", value, "", is_literal=True)


def _is_floating(value: Value) -> bool:
    """Return whether a value is not a decimal number of a size that Arrow can hold."""
    return value.kind == "float" or (value.is_literal and _exact(value.data) is None)


def _is_integer(value: Value) -> bool:
    if value.is_literal:
        return bool(value.data.denominator == 1 and -(2**63) <= value.data < 2**63)
    return value.kind == "integer" and not pa.types.is_uint64(value.data.type)


def _whole(value: Value) -> Any:
    """Return integers of 64 bits."""
    if value.is_literal and _is_integer(value):
        return pa.scalar(int(value.data), pa.int64())
    if value.kind != "integer":
        _refuse_remainder(value.shown)
    return value.data.cast(pa.int64())


def _refuse_remainder(text: str) -> NoReturn:
    raise ArgumentError(f"% takes integers of 64 bits, got {text}")


def _remainder(left: Any, right: Any) -> Any:
    """Return the remainder of a division, with the sign of the dividend."""
    right = _without_zeros(right, pa.scalar(0, pa.int64()))
    # The lowest number has no opposite, so it cannot be divided by -1.
    sign = pa.scalar(-1, pa.int64())
    safe = pc.if_else(pc.equal(right, sign), pa.scalar(1, pa.int64()), right)
    whole = pc.multiply(pc.divide(left, safe), safe)
    return pc.subtract(left, whole)


def _without_zeros(data: Any, zero: Any) -> Any:
    return pc.if_else(pc.equal(data, zero), pa.scalar(None, zero.type), data)


def _floating(operator: str, left: Value, right: Value) -> Any:
    first, second = _as_float(left), _as_float(right)
    if operator == "/":
        second = _without_zeros(second, pa.scalar(0.0))
    return FLOATING[operator](first, second)


def _as_float(value: Value) -> Any:
    if not value.is_literal:
        return as_float(value.data)
    try:
        return pa.scalar(float(value.data))
    except OverflowError:
        raise ArgumentError(f"{value.shown} is out of the range of floats") from None


def _exact(value: int | Fraction) -> Decimal | None:
    """Return a number as a decimal, or None where it has none of `DECIMAL` digits."""
    context = Context(prec=DECIMAL, traps=[Inexact])
    try:
        return context.divide(Decimal(value.numerator), Decimal(value.denominator))
    except Inexact:
        return None


def _decimal(value: Value) -> Any:
    if value.is_literal:
        exact = _exact(value.data)
        return pa.scalar(exact)
    if pa.types.is_decimal(value.data.type):
        return value.data
    return value.data.cast(pa.decimal128(20, 0))

"""The operator IN: rows that hold one of a list of literals."""

from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from fewbits.errors import ArgumentError
from fewbits.filters._atoms import Members
from fewbits.filters._compare import NULL, compare, fitting, rounded
from fewbits.filters._grid import constant, grid
from fewbits.filters._values import TRUTHS, Value, literal_value, truth


def is_in(left: Value, members: Members) -> Value:
    """Return ``left IN (members)``: NULL where it is not found and NULL is a member."""
    listed = [literal_value(each) for each in members.literals]
    known = [each for each in listed if each.kind != "null"]
    if left.kind == "null":
        return NULL
    if left.kind == "other":
        raise ArgumentError(f"{left.shown} cannot be searched for in a list")
    if left.is_literal or left.kind in TRUTHS:
        found = _one_by_one(left, known)
    else:
        found = _among(left, known)
    if len(known) == len(listed):
        return truth(found)
    return truth(pc.or_kleene(found, pa.scalar(None, pa.bool_())))


def _one_by_one(left: Value, known: list[Value]) -> Any:
    """Return whether a literal, or a truth, is equal to one of the values."""
    found: Any = pa.scalar(False)
    for each in known:
        found = pc.or_kleene(found, compare("=", left, each).data)
    return found


def _among(column: Value, known: list[Value]) -> Any:
    fitted = [fitting(column, each) for each in known]
    if column.kind == "float":
        return _among_floats(column, fitted)
    if column.kind == "string":
        return _lookup(column.data, [each.data for each in fitted])
    cells = grid(column)
    places = [cells.place(each.data) for each in fitted]
    held = {number for number, exact in places if exact and cells.holds(number)}
    return _lookup(cells.data, [cells.stored(number) for number in held])


def _among_floats(column: Value, fitted: list[Value]) -> Any:
    pairs = [rounded(column, each) for each in fitted]
    data = pairs[0][0] if pairs else column.data
    # Arrow distinguishes -0.0 from 0.0 in a list, but not when it compares them.
    values = {value.as_py() for _, value in pairs}
    return _lookup(data, [*values, -0.0] if 0.0 in values else list(values))


def _lookup(data: Any, values: list[Any]) -> Any:
    if not values:
        return constant(data, False)
    # Narrow decimals have no look-up in Arrow.
    if pa.types.is_decimal(data.type) and not pa.types.is_decimal256(data.type):
        data = data.cast(pa.decimal128(max(data.type.precision, 1), data.type.scale))
    found = pc.is_in(data, value_set=pa.array(values, data.type))
    unknown = pa.scalar(None, pa.bool_())
    return pc.if_else(pc.is_null(data), unknown, found) if data.null_count else found

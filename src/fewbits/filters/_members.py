"""Lists: rows that hold one of some literals, or whose list holds a literal."""

from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from pyarrow import types

from fewbits.errors import ArgumentError
from fewbits.filters._atoms import Members
from fewbits.filters._compare import NULL, compare, fitting, rounded
from fewbits.filters._grid import constant, grid
from fewbits.filters._values import TRUTHS, Value, column_value, literal_value, truth


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


def contains(lists: Value, member: Value) -> Value:
    """Return whether the list of each row has a member; NULL where there is no list."""
    if "null" in (lists.kind, member.kind):
        return NULL
    if not _is_list(lists.data.type):
        raise ArgumentError(f"{lists.shown} is not a list")
    data = lists.data
    data = data.combine_chunks() if isinstance(data, pa.ChunkedArray) else data
    each = column_value(pc.list_flatten(data), "")
    equal = compare("=", each._replace(text=f"a member of {lists.text}"), member).data
    found = np.zeros(len(data), np.bool_)
    if isinstance(equal, pa.Array | pa.ChunkedArray):  # not lists of NULL alone
        found[pc.list_parent_indices(data).filter(equal)] = True
    unknown = pa.scalar(None, pa.bool_())
    return truth(pc.if_else(pc.is_valid(data), pa.array(found), unknown))


def _is_list(of: pa.DataType) -> bool:
    kinds = (types.is_list, types.is_large_list, types.is_fixed_size_list)
    return any(is_one(of) for is_one in kinds)


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

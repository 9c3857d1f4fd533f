"""Exact comparison of a column with a literal.

Integers, decimals, dates and timestamps are whole multiples of a step: 1, 10^-scale, a
day, a microsecond. A literal that lies between two steps, or beyond the type, is
compared by the step below it, so nothing is rounded and nothing is cast to a float.
"""

from dataclasses import dataclass
from decimal import Context, Decimal
from fractions import Fraction
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from fewbits.filters._literals import DAY, SECOND
from fewbits.filters._values import Value

COMPARE = {
    "=": pc.equal,
    "<>": pc.not_equal,
    "<": pc.less,
    "<=": pc.less_equal,
    ">": pc.greater,
    ">=": pc.greater_equal,
}
_UNITS = {"s": SECOND, "ms": 10**6, "us": 1000, "ns": 1}
_EXACT = Context(prec=1000)


@dataclass(frozen=True)
class Grid:
    """A column as whole numbers of a step."""

    data: Any
    step: int | Fraction  # in units of the literal: 1, 10^-scale, or nanoseconds
    lowest: int
    highest: int

    def place(self, value: Any) -> tuple[int, bool]:
        """Return the number of steps at or below a literal, and whether it is exact."""
        below, rest = divmod(value, self.step)
        return int(below), not rest

    def holds(self, number: int) -> bool:
        """Return whether the type of the column can hold a number of steps."""
        return self.lowest <= number <= self.highest

    def stored(self, number: int) -> Any:
        """Return a number of steps as the column holds it."""
        if not pa.types.is_decimal(self.data.type):
            return number
        return Decimal(number).scaleb(-self.data.type.scale, _EXACT)


def grid(column: Value) -> Grid:
    """Return a column of integers, decimals, dates or timestamps as a grid."""
    data, of = column.data, column.data.type
    if column.kind == "decimal":
        most = 10**of.precision - 1
        return Grid(data, Fraction(10) ** -of.scale, -most, most)
    if column.kind == "integer":
        return Grid(data, 1, *_bounds(of))
    if pa.types.is_timestamp(of):
        step = _UNITS[of.unit]
    else:
        step = DAY if pa.types.is_date32(of) else _UNITS["ms"]
    whole = pa.int32() if pa.types.is_date32(of) else pa.int64()
    return Grid(data.cast(whole), step, *_bounds(whole))


def _bounds(of: pa.DataType) -> tuple[int, int]:
    if pa.types.is_unsigned_integer(of):
        return 0, 2**of.bit_width - 1
    return -(2 ** (of.bit_width - 1)), 2 ** (of.bit_width - 1) - 1


def compare_grid(operator: str, grid: Grid, value: Any) -> Any:
    """Return ``column operator value`` for each row."""
    number, exact = grid.place(value)
    if not exact:
        if operator in ("=", "<>"):
            return constant(grid.data, operator == "<>")
        operator = "<=" if operator in ("<", "<=") else ">"
    if not grid.holds(number):
        below = number < grid.lowest
        true = (">", ">=") if below else ("<", "<=")
        return constant(grid.data, operator in ("<>", *true))
    scalar = pa.scalar(grid.stored(number), grid.data.type)
    return COMPARE[operator](grid.data, scalar)


def constant(data: Any, value: bool) -> Any:
    """Return `value` for each row that is not null."""
    unknown, known = pa.scalar(None, pa.bool_()), pa.scalar(value)
    return pc.if_else(pc.is_null(data), unknown, known)

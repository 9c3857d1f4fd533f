"""Filters: conditions on the columns of a table and on the bits of its codes.

A condition is parsed into steps, and the steps are evaluated on a stack of values: a
column of the table, a literal, or a truth for each row. Nothing is rounded and nothing
turns into another type: what cannot be compared exactly is refused.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from decimal import Context, Decimal, Inexact
from fractions import Fraction
from operator import add, eq, ge, gt, le, lt, mul, ne, sub
from typing import Any, NamedTuple, NoReturn

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray
from pyarrow import types

from fewbits._checks import nearest
from fewbits._typing import CodeArray
from fewbits.codes import as_codes
from fewbits.collection._filters_parse import (
    DAY,
    ISO,
    SECOND,
    Literal,
    Name,
    like_patterns,
    moment,
    parse,
    shorten,
)
from fewbits.errors import ArgumentError

__all__ = ["like_patterns", "matching_rows", "name_of_type"]


def matching_rows(
    condition: Any, table: pa.Table, codes: CodeArray, n_bits: int
) -> NDArray[np.bool_]:
    """Return the rows for which a condition is true.

    The result is the `allowed` of an index's searches.

    A condition in SQL knows ``= <> < <= > >=``, ``AND OR NOT``, ``IN (...)``,
    ``BETWEEN``, ``IS NULL``, ``IS DISTINCT FROM``, ``LIKE`` and ``ILIKE`` (with
    ``ESCAPE``), ``+ - * / %``, ``lower upper year month day`` of a column,
    ``list_contains(tags, 'x')``, parentheses, strings, numbers, ``TRUE FALSE NULL``,
    ``DATE '2020-01-31'``, ``TIMESTAMP '2020-01-31 12:00:00'``, columns, fields of
    structs (``place.city``) and ``bit(12)``. It is parsed, never run as Python.
    Everything else is refused.

    - NULL is as in SQL: a comparison with it is neither true nor false, and only rows
      for which the whole condition is true are found.
    - Integers, decimals, dates and times are compared exactly. A number beside a
      column of floats is rounded to the type of the column, so ``price = 0.1`` finds
      0.1 in 32 bits, too. NaN is equal to nothing and neither less nor greater.
    - ``+ - * %`` of integers and decimals are exact, or refused on overflow; ``/``
      always yields a float, and dividing by zero yields NULL.
    - A bare name is a column's exact name, or the only one that differs from it in
      case. A name in double quotes or backticks is exact.
    - A string beside a column of dates or timestamps must be one in ISO 8601; beside a
      column with a time zone it must have an offset, such as ``'2020-01-31
      12:00:00+01:00'``, and without one it must not. No other type turns into another.

    Parameters
    ----------
    condition : str or pyarrow.compute.Expression
        The part of an SQL query after WHERE, or an expression that is true, false or
        null for each row.
    table : pyarrow.Table
        One row for each code.
    codes : ndarray of shape (n, n_bytes), dtype uint8
        Codes for ``bit(12)``. Bit 0 is the most significant bit of the first byte.
    n_bits : int
        Length of the codes.

    Returns
    -------
    ndarray of shape (n,), dtype bool

    Raises
    ------
    ArgumentError
        When the condition cannot be read, or names what the table does not have, or
        compares what cannot be compared, or its numbers overflow.

    Examples
    --------
    >>> import pyarrow as pa
    >>> from fewbits.codes import pack
    >>> table = pa.table({"category": ["x", "x", None], "year": [2019, 2021, 2022]})
    >>> codes = pack([[1, 0, 1], [1, 1, 1], [0, 0, 1]])
    >>> matching_rows("category = 'x' AND year >= 2020", table, codes, 3)
    array([False,  True, False])
    >>> matching_rows("category IS NULL OR NOT bit(1) = 1", table, codes, 3)
    array([ True, False,  True])
    """
    codes = as_codes(codes, n_bits=n_bits)
    if not isinstance(table, pa.Table):
        raise ArgumentError(f"a filter needs a pyarrow.Table, got {type(table)}")
    if len(table) != len(codes):
        raise ArgumentError(f"{len(table)} rows cannot belong to {len(codes)} codes")
    try:
        if isinstance(condition, str):
            truth = _evaluate(condition, table, codes, n_bits)
        elif isinstance(condition, pc.Expression):
            truth = _evaluate_expression(condition, table)
        else:
            raise ArgumentError(
                "a filter must be a string such as \"year >= 2020 AND category = 'x'\""
                f" or a pyarrow.compute.Expression, got {type(condition).__name__};"
                " masks and ids are given as allowed="
            )
    except pa.ArrowException as error:
        lines = str(error).splitlines() or [type(error).__name__]
        raise ArgumentError(f"the filter cannot be computed: {lines[0]}") from error
    if isinstance(truth, pa.Scalar):
        return np.full(len(table), truth.as_py() is True)
    truth = truth.fill_null(False)
    if isinstance(truth, pa.ChunkedArray):
        return np.asarray(truth.to_numpy(), np.bool_)
    return np.asarray(truth.to_numpy(zero_copy_only=False), np.bool_)


def _evaluate_expression(expression: pc.Expression, table: pa.Table) -> Any:
    """Return the truth of `expression` for each row, in the order of the table."""
    from pyarrow import dataset  # imports file systems, which take their time

    source = dataset.dataset(table)
    truths = source.to_table(columns={"truth": expression}, use_threads=False)
    truth = truths.column("truth")
    if truth.type != pa.bool_():
        raise ArgumentError(
            "a filter must be true or false for each row, the expression is"
            f" {name_of_type(truth.type)}"
        )
    return truth


def _evaluate(text: str, table: pa.Table, codes: CodeArray, n_bits: int) -> Any:
    """Return the truth of a condition: an Arrow array, or one scalar for all rows."""
    columns: dict[Name, _Value] = {}  # decoded once
    stack: list[_Value] = []
    for operator, argument in parse(text):
        right = stack.pop() if operator not in ("column", "value", "bit") else _NULL
        match operator:
            case "column":
                if argument not in columns:
                    columns[argument] = _column(argument, table)
                value = columns[argument]
            case "value":
                value = _literal(argument)
            case "bit":
                value = _bit(argument, codes, n_bits)
            case "is":
                value = _is(right, argument)
            case "in":
                value = _in(right, argument)
            case "like" | "ilike":
                value = _like(operator, right, argument)
            case "lower" | "upper":
                value = _of_text(operator, right)
            case "year" | "month" | "day":
                value = _of_date(operator, right)
            case "not":
                value = _truth(pc.invert(_as_truth(right, "NOT")))
            case "and":
                value = _and(stack.pop(), right)
            case "or":
                left = _as_truth(stack.pop(), "OR")
                value = _truth(pc.or_kleene(left, _as_truth(right, "OR")))
            case "between":
                low, left = stack.pop(), stack.pop()
                value = _and(_compare(">=", left, low), _compare("<=", left, right))
            case "distinct":
                value = _distinct(stack.pop(), right)
            case "same":
                value = _truth(pc.invert(_distinct(stack.pop(), right).data))
            case "contains":
                value = _contains(stack.pop(), right)
            case "negate":
                zero = _Value("number", 0, "0", is_literal=True)
                value = _calculate("-", zero, right)
            case "+" | "-" | "*" | "/" | "%":
                value = _calculate(operator, stack.pop(), right)
            case _:
                value = _compare(operator, stack.pop(), right)
        stack.append(value)
    return _as_truth(stack.pop(), "a filter")


# --- Values -------------------------------------------------------------------------

_NUMBERS = ("integer", "decimal", "float", "number")
_MOMENTS = ("date", "timestamp", "zoned")
_TRUTHS = ("boolean", "bit", "null")
_KINDS: tuple[tuple[str, str, Callable[[pa.DataType], bool]], ...] = (
    ("boolean", "true/false", types.is_boolean),
    ("integer", "integer", types.is_integer),
    ("float", "number", types.is_floating),
    ("decimal", "decimal", types.is_decimal),
    ("date", "date", types.is_date),
    ("timestamp", "timestamp", lambda of: types.is_timestamp(of) and of.tz is None),
    ("zoned", "timestamp with time zone", types.is_timestamp),
    ("null", "nothing but NULL", types.is_null),
    ("string", "text", types.is_string),
    ("string", "text", types.is_large_string),
    ("string", "text", types.is_string_view),
    ("other", "struct", types.is_struct),
    ("other", "map", types.is_map),
    ("other", "list", types.is_nested),
    ("other", "time of day", types.is_time),
    ("other", "duration", types.is_duration),
    ("other", "bytes", lambda of: "binary" in str(of)),
    ("other", "other values", lambda of: True),
)


def _kind_and_name(of: pa.DataType) -> tuple[str, str]:
    return next((kind, name) for kind, name, is_one in _KINDS if is_one(of))


def name_of_type(of: pa.DataType) -> str:
    """Return what a column holds, in the words of a filter.

    Examples
    --------
    >>> name_of_type(pa.large_string()), name_of_type(pa.list_(pa.int8()))
    ('text', 'list')
    """
    if types.is_dictionary(of) or types.is_run_end_encoded(of):
        return name_of_type(of.value_type)
    return _kind_and_name(of)[1]


class _Value(NamedTuple):
    """An operand: an Arrow array or scalar, or what a literal is worth.

    ``"number"`` is the kind of literals; columns are integer, decimal or float. Its
    text is the literal as written, or what a message calls a column.
    """

    kind: str
    data: Any
    text: str
    is_literal: bool = False

    @property
    def shown(self) -> str:
        """What a message calls the value."""
        if not self.is_literal or self.kind == "null":
            return self.text
        if self.kind == "number":
            return f"the number {self.text[:60]}" if self.text else "a number"
        nouns = {"string": "text", "date": "date"}
        return f"the {nouns.get(self.kind, 'timestamp')} {shorten(self.text)}"


def _literal(literal: Literal) -> _Value:
    if literal.kind in ("null", "boolean"):
        return _truth(pa.scalar(literal.value, pa.bool_()), literal.text.upper())
    return _Value(literal.kind, literal.value, literal.text, is_literal=True)


def _truth(data: Any, text: str = "a condition") -> _Value:
    """Return what is true, false or null; NULL for all rows is of no other kind."""
    if isinstance(data, pa.Scalar) and not data.is_valid:
        return _Value("null", data, "NULL", is_literal=True)
    return _Value("boolean", data, text)


_UNKNOWN = pa.scalar(None, pa.bool_())
_NULL = _truth(_UNKNOWN)


def _as_truth(value: _Value, taker: str) -> Any:
    """Return the data of what is true, false or null."""
    if value.kind in _TRUTHS:
        return value.data
    raise ArgumentError(
        f"{taker} takes conditions, got {value.shown}: compare it, as in year >= 2020"
        " or category = 'x'"
    )


def _constant(data: Any, value: bool) -> Any:
    """Return `value` for each row that is not null."""
    return pc.if_else(pc.is_null(data), _UNKNOWN, pa.scalar(value))


# --- Columns and bits ---------------------------------------------------------------


def _bit(bit: int, codes: CodeArray, n_bits: int) -> _Value:
    """Return one bit of each code; only the byte that holds it is read."""
    if bit >= n_bits:
        raise ArgumentError(
            f"bit({bit}) does not exist: codes have bits 0 to {n_bits - 1}"
        )
    byte, place = divmod(bit, 8)
    on = (codes[:, byte] & np.uint8(0x80 >> place)) != 0
    return _Value("bit", pa.array(on), f"bit({bit})")


def _column(name: Name, table: pa.Table) -> _Value:
    """Return a column, or a field within one."""
    names = table.column_names
    if len(name.parts) > 1 and name.text in names:
        if _places(name.parts[0], name.quotes[0], names):
            raise ArgumentError(
                f"{shorten(name.text)} may be a column or a field: rename one"
            )
        name = Name((name.text,), ("`",))
    data: Any = table.column(_place(name, 0, names, "column"))
    for depth in range(1, len(name.parts)):
        if not types.is_struct(data.type):
            whole = ".".join(name.parts[:depth])
            raise ArgumentError(
                f"column {shorten(whole)} ({name_of_type(data.type)}) has no field"
                f" {shorten(name.parts[depth])}"
            )
        fields = [field.name for field in data.type]
        data = pc.struct_field(data, _place(name, depth, fields, "field"))
    return _decoded(data, f"column {shorten(name.text)} ({name_of_type(data.type)})")


def _places(part: str, quote: str, names: list[str]) -> list[int]:
    """Return the places of the names that are meant: exact ones before all others."""
    exact = [place for place, name in enumerate(names) if name == part]
    if exact or quote:
        return exact
    folded = part.casefold()
    return [place for place, name in enumerate(names) if name.casefold() == folded]


def _place(name: Name, depth: int, names: list[str], noun: str) -> int:
    """Return the place of the one name that is meant."""
    part, quote = name.parts[depth], name.quotes[depth]
    places = _places(part, quote, names)
    if len(places) == 1:
        return places[0]
    if places:
        choices = ", ".join(shorten(names[place]) for place in places)
        raise ArgumentError(f"{noun} {shorten(part)} may be any of {choices}")
    hint = nearest(part, names)
    if not hint and (alike := _places(part, "", names)):
        hint = f" (did you mean {shorten(names[alike[0]])}?)"
    if name.may_be_text or (not hint and quote == '"'):
        text = name.text
        text = text if len(text) <= 40 and text.isprintable() else "..."
        text = text.replace("'", "''")
        hint = f" (a string stands in single quotes: '{text}')"
    choices = ", ".join(map(shorten, names[:20])) or "none"
    more = f" and {len(names) - 20} more" if len(names) > 20 else ""
    raise ArgumentError(
        f"there is no {noun} {shorten(part)}{hint}; the {noun}s are {choices}{more}"
    )


def _decoded(data: Any, text: str) -> _Value:
    """Return a column as an operand, decoded where its type is one of storage."""
    if types.is_dictionary(data.type):
        data = data.cast(data.type.value_type)
    elif types.is_run_end_encoded(data.type):
        data = pc.run_end_decode(data)
    kind = _kind_and_name(data.type)[0]
    if kind == "null":
        return _Value("null", _UNKNOWN, text)
    if kind == "string" and data.type not in (pa.string(), pa.large_string()):
        data = data.cast(pa.large_string())
    return _Value(kind, data, text)


# --- Comparisons --------------------------------------------------------------------

_ARROW: dict[str, Callable[..., Any]] = {
    "=": pc.equal,
    "<>": pc.not_equal,
    "<": pc.less,
    "<=": pc.less_equal,
    ">": pc.greater,
    ">=": pc.greater_equal,
}
_PYTHON = dict(zip(_ARROW, (eq, ne, lt, le, gt, ge), strict=True))
_FLIPPED = dict(zip(_ARROW, ("=", "<>", ">", ">=", "<", "<="), strict=True))
_DIGITS = 76  # the most of Arrow's decimals
_EXACT = Context(prec=1000)


def _compare(operator: str, left: _Value, right: _Value) -> _Value:
    """Return ``left operator right`` for each row."""
    if left.kind == "null" or right.kind == "null":
        return _NULL
    if left.kind == "other" or right.kind == "other":
        _mismatch(left, right, "its type cannot be compared")
    if left.is_literal and not right.is_literal:
        operator, left, right = _FLIPPED[operator], right, left
    if left.is_literal:
        if left.kind != right.kind and {left.kind, right.kind} != {"date", "timestamp"}:
            _mismatch(left, right, "they are of two types")
        return _truth(pa.scalar(bool(_PYTHON[operator](left.data, right.data))))
    if "bit" in (left.kind, right.kind):
        return _compare_bits(operator, left, right)
    if not right.is_literal:
        return _truth(_ARROW[operator](*_alike(operator, left, right)))
    literal = _fitting(left, right)
    if left.kind == "float":
        return _truth(_ARROW[operator](*_rounded(left, literal)))
    if left.kind == "string":
        return _truth(
            _ARROW[operator](left.data, pa.scalar(right.data, left.data.type))
        )
    return _truth(_grid(left).compare(operator, literal.data))


def _mismatch(left: _Value, right: _Value, need: str) -> NoReturn:
    raise ArgumentError(f"{left.shown} cannot be compared with {right.shown}: {need}")


def _compare_bits(operator: str, left: _Value, right: _Value) -> _Value:
    if operator not in ("=", "<>"):
        _mismatch(left, right, "a bit can be = or <> 0 or 1")
    if right.kind == "bit":
        left, right = right, left
    if right.kind == "bit":
        return _truth(_ARROW[operator](left.data, right.data))
    if right.kind != "number" or right.data not in (0, 1):
        _mismatch(left, right, "a bit is 0 or 1")
    return _truth(_ARROW[operator](left.data, pa.scalar(right.data == 1)))


def _fitting(column: _Value, literal: _Value) -> _Value:
    """Return a literal as one that the column can be compared with."""
    if column.kind in _NUMBERS and literal.kind != "number":
        _mismatch(column, literal, "write a number, without quotes")
    if column.kind == "string" and literal.kind != "string":
        _mismatch(column, literal, "write text in single quotes")
    if column.kind in _TRUTHS:
        _mismatch(column, literal, "write TRUE or FALSE")
    if column.kind not in _MOMENTS:
        return literal
    instant = literal
    if literal.kind == "string" and (time := moment(literal.data)) is not None:
        instant = _literal(time)
    if instant.kind not in _MOMENTS:
        _mismatch(column, literal, f"write {ISO}")
    if column.kind == "zoned" and instant.kind != "zoned":
        _mismatch(column, literal, "write the time zone, as '... 12:00:00+00:00'")
    if column.kind != "zoned" and instant.kind == "zoned":
        _mismatch(column, literal, "the column has no time zone")
    if column.kind == "date" and literal.kind == "string" and instant.kind != "date":
        _mismatch(column, literal, "write a date, as '2020-01-31'")
    return instant


def _rounded(column: _Value, literal: _Value) -> tuple[Any, Any]:
    """Return a column of floats, and a number rounded to its type."""
    data, of = column.data, column.data.type
    try:
        with np.errstate(over="ignore"):
            value = of.to_pandas_dtype()(float(literal.data))
    except OverflowError:
        value = np.inf
    if np.isinf(value):
        need = f"it is out of the range of numbers of {of.bit_width} bits"
        _mismatch(column, literal, need)
    if types.is_float16(of):
        data, of = data.cast(pa.float32()), pa.float32()
    return data, pa.scalar(float(value), of)


class _Grid(NamedTuple):
    """A column as whole multiples of a step: 1, 10^-scale, a day, a microsecond.

    A literal that lies between two steps, or beyond the type, is compared by the step
    below it, so nothing is rounded and nothing is cast to a float.
    """

    data: Any
    step: int | Fraction  # in units of the literal: 1, or nanoseconds
    lowest: int
    highest: int

    def place(self, value: Any) -> tuple[int, bool]:
        """Return the number of steps at or below a literal, and whether it is exact."""
        below, rest = divmod(value, self.step)
        return int(below), not rest

    def holds(self, number: int) -> bool:
        return self.lowest <= number <= self.highest

    def stored(self, number: int) -> Any:
        """Return a number of steps as the column holds it."""
        if not types.is_decimal(self.data.type):
            return number
        return Decimal(number).scaleb(-self.data.type.scale, _EXACT)

    def compare(self, operator: str, value: Any) -> Any:
        """Return ``column operator value`` for each row."""
        number, is_exact = self.place(value)
        if not is_exact:
            if operator in ("=", "<>"):
                return _constant(self.data, operator == "<>")
            operator = "<=" if operator in ("<", "<=") else ">"
        if not self.holds(number):
            true = (">", ">=") if number < self.lowest else ("<", "<=")
            return _constant(self.data, operator in ("<>", *true))
        scalar = pa.scalar(self.stored(number), self.data.type)
        return _ARROW[operator](self.data, scalar)


def _grid(column: _Value) -> _Grid:
    """Return a column of integers, decimals, dates or timestamps as a grid."""
    data, of = column.data, column.data.type
    step: int | Fraction = 1
    if types.is_decimal(of):
        most = 10**of.precision - 1
        return _Grid(data, Fraction(10) ** -of.scale, -most, most)
    if column.kind != "integer":
        units = {"s": SECOND, "ms": 10**6, "us": 1000, "ns": 1}
        step = DAY if types.is_date32(of) else units[_unit(of)]
        of = pa.int32() if types.is_date32(of) else pa.int64()
        data = data.cast(of)
    if types.is_unsigned_integer(of):
        return _Grid(data, step, 0, 2**of.bit_width - 1)
    half = 2 ** (of.bit_width - 1)
    return _Grid(data, step, -half, half - 1)


def _unit(of: pa.DataType) -> str:
    if types.is_timestamp(of):
        return str(of.unit)
    return "s" if types.is_date32(of) else "ms"


def _alike(operator: str, left: _Value, right: _Value) -> tuple[Any, Any]:
    """Return two columns as one type that holds both, or refuse them."""
    of: pa.DataType
    pair = left.data.type, right.data.type
    kinds = left.kind, right.kind
    if all(kind in _NUMBERS for kind in kinds):
        if "float" in kinds:
            return _float(left.data), _float(right.data)
        if kinds == ("integer", "integer"):
            of = pa.decimal128(20, 0) if pa.uint64() in pair else pa.int64()
        else:
            scales = [getattr(kind, "scale", 0) for kind in pair]
            of = pa.decimal256(_DIGITS, max(0, *scales))
    elif kinds == ("string", "string"):
        of = pa.large_string()
    elif all(kind in _MOMENTS for kind in kinds):
        if kinds.count("zoned") == 1:
            _mismatch(left, right, "only one has a time zone")
        finest = min(map(_unit, pair), key=("ns", "us", "ms", "s").index)
        of = pa.timestamp(finest, "UTC" if "zoned" in kinds else None)
    elif kinds == ("boolean", "boolean"):
        if operator not in ("=", "<>"):
            _mismatch(left, right, "TRUE and FALSE can be = or <>")
        return left.data, right.data
    else:
        _mismatch(left, right, "they are of two types")
    return left.data.cast(of), right.data.cast(of)


def _float(data: Any) -> Any:
    """Return numbers as 64-bit floats; integers must lie within 2^53."""
    if types.is_decimal(data.type):  # Arrow's own cast rounds twice
        data = data.cast(pa.string())
    if types.is_float16(data.type):
        data = data.cast(pa.float32())
    return data.cast(pa.float64())


# --- Truths -------------------------------------------------------------------------


def _and(left: _Value, right: _Value) -> _Value:
    return _truth(pc.and_kleene(_as_truth(left, "AND"), _as_truth(right, "AND")))


def _is(value: _Value, constant: Literal) -> _Value:
    """Return IS NULL, IS TRUE or IS FALSE, none of which is ever NULL."""
    if constant.kind == "null":
        return _truth(_is_null(value))
    data = _as_truth(value, "IS TRUE and IS FALSE")
    return _truth(pc.fill_null(pc.equal(data, pa.scalar(constant.value)), False))


def _is_null(value: _Value) -> Any:
    if value.is_literal and value.kind != "null":
        return pa.scalar(False)
    return pc.is_null(value.data)


def _distinct(left: _Value, right: _Value) -> _Value:
    """Return IS DISTINCT FROM, to which NULL is a value that equals itself."""
    gaps = _is_null(left), _is_null(right)
    differ = pc.fill_null(_compare("<>", left, right).data, False)
    return _truth(pc.if_else(pc.or_(*gaps), pc.xor(*gaps), differ))


# --- Lists --------------------------------------------------------------------------


def _in(left: _Value, members: tuple[Literal, ...]) -> _Value:
    """Return ``left IN (members)``: NULL where it is not found and NULL is a member."""
    literals = [_literal(member) for member in members if member.kind != "null"]
    if left.kind == "null":
        return _NULL
    if left.kind == "other":
        raise ArgumentError(f"{left.shown} cannot be searched for in a list")
    is_in: Any = pa.scalar(False)
    if left.is_literal or left.kind in _TRUTHS:
        for literal in literals:
            is_in = pc.or_kleene(is_in, _compare("=", left, literal).data)
    else:
        is_in = _among(left, [_fitting(left, literal) for literal in literals])
    if len(literals) == len(members):
        return _truth(is_in)
    return _truth(pc.or_kleene(is_in, _UNKNOWN))


def _among(column: _Value, literals: list[_Value]) -> Any:
    """Return whether each row holds one of the literals, looked up all at once."""
    data = column.data
    values: list[Any] = [literal.data for literal in literals]
    if column.kind == "float":
        for literal in literals:
            data, _ = _rounded(column, literal)
        values = list({_rounded(column, value)[1].as_py() for value in literals})
        if 0.0 in values:  # Arrow's look-up tells it from -0.0, its comparison does not
            values.append(-0.0)
    elif column.kind != "string":
        grid = _grid(column)
        data = grid.data
        places = [grid.place(value) for value in values]
        numbers = {number for number, is_exact in places if is_exact}
        values = [grid.stored(number) for number in numbers if grid.holds(number)]
    if not values:
        return _constant(data, False)
    # Narrow decimals have no look-up in Arrow.
    if types.is_decimal(data.type) and not types.is_decimal256(data.type):
        data = data.cast(pa.decimal128(max(data.type.precision, 1), data.type.scale))
    is_in = pc.is_in(data, value_set=pa.array(values, data.type))
    return pc.if_else(pc.is_null(data), _UNKNOWN, is_in) if data.null_count else is_in


def _contains(lists: _Value, member: _Value) -> _Value:
    """Return whether the list of each row has a member; NULL where there is no list."""
    if "null" in (lists.kind, member.kind):
        return _NULL
    data, of = lists.data, lists.data.type
    if not (
        types.is_list(of) or types.is_large_list(of) or types.is_fixed_size_list(of)
    ):
        raise ArgumentError(f"{lists.shown} is not a list")
    if isinstance(data, pa.ChunkedArray):
        data = data.combine_chunks()
    members = _decoded(pc.list_flatten(data), f"a member of {lists.text}")
    is_equal = _compare("=", members, member).data
    contains = np.zeros(len(data), np.bool_)
    if isinstance(is_equal, pa.Array | pa.ChunkedArray):  # not lists of NULL alone
        contains[pc.list_parent_indices(data).filter(is_equal)] = True
    return _truth(pc.if_else(pc.is_valid(data), pa.array(contains), _UNKNOWN))


# --- Texts and dates ----------------------------------------------------------------


def _like(operator: str, value: _Value, pattern: tuple[tuple[str, str], ...]) -> _Value:
    """Return whether texts have the form of a pattern."""
    if value.kind == "null":
        return _NULL
    if value.kind != "string":
        raise ArgumentError(f"LIKE takes text, got {value.shown}")
    strings = pa.scalar(value.data) if value.is_literal else value.data
    if operator == "ilike":
        strings = pc.utf8_lower(strings)
        pattern = tuple(
            (kind, pc.utf8_lower(pa.scalar(text)).as_py()) for kind, text in pattern
        )
    kinds = "".join(kind[0] for kind, _ in pattern)
    text = next((text for kind, text in pattern if kind == "text"), "")
    if kinds in ("", "t"):
        return _truth(pc.equal(strings, pa.scalar(text, strings.type)))
    if kinds == "t%":
        return _truth(pc.starts_with(strings, pattern=text))
    if kinds == "%t":
        return _truth(pc.ends_with(strings, pattern=text))
    if kinds == "%t%":
        return _truth(pc.match_substring(strings, pattern=text))
    regex = r"(?s)\A"  # in the syntax of RE2
    for kind, text in pattern:
        escaped = re.sub(r"[^\w ]", lambda sign: rf"\x{{{ord(sign[0]):x}}}", text)
        regex += {"%": ".*", "_": "."}.get(kind, escaped)
    return _truth(pc.match_substring_regex(strings, pattern=regex + r"\z"))


def _of_text(function: str, value: _Value) -> _Value:
    if value.kind == "null":
        return value
    if value.kind != "string":
        raise ArgumentError(f"{function} takes text, got {value.shown}")
    compute = pc.utf8_lower if function == "lower" else pc.utf8_upper
    return _Value("string", compute(value.data), f"{function}({value.text})")


def _of_date(function: str, value: _Value) -> _Value:
    if value.kind == "null":
        return value
    if value.kind not in ("date", "timestamp"):
        raise ArgumentError(
            f"{function} takes a date, or a time without a zone, got {value.shown}"
        )
    compute = {"year": pc.year, "month": pc.month, "day": pc.day}[function]
    numbers = compute(value.data).cast(pa.int64())
    return _Value("integer", numbers, f"{function}({value.text})")


# --- Arithmetic ---------------------------------------------------------------------

_CHECKED = {"+": pc.add_checked, "-": pc.subtract_checked, "*": pc.multiply_checked}
_FLOATING = {"+": pc.add, "-": pc.subtract, "*": pc.multiply, "/": pc.divide}
_MAX_BITS = 4096  # of a number that literals make


def _calculate(operator: str, left: _Value, right: _Value) -> _Value:
    """Return ``left operator right``; NULL where it divides by zero.

    It is exact on integers and decimals, or overflows, and of 64-bit floats otherwise.
    """
    for value in (left, right):
        if value.kind not in (*_NUMBERS, "null"):
            raise ArgumentError(f"{operator} takes numbers, got {value.shown}")
    if left.kind == "null" or right.kind == "null":
        return _NULL
    if left.is_literal and right.is_literal:
        return _calculate_literals(operator, left.data, right.data)
    kind: str = "decimal"
    if operator == "%":
        kind, data = "integer", _remainder(_whole(left), _whole(right))
    elif operator == "/" or _is_inexact(left) or _is_inexact(right):
        first, second = _floats(left), _floats(right)
        if operator == "/":
            second = _without_zeros(second, pa.scalar(0.0))
        kind, data = "float", _FLOATING[operator](first, second)
    elif _is_whole(left) and _is_whole(right):
        kind, data = "integer", _CHECKED[operator](_whole(left), _whole(right))
    else:
        data = _CHECKED[operator](_decimals(left), _decimals(right))
    return _Value(kind, data, f"a result ({name_of_type(data.type)})")


def _calculate_literals(operator: str, left: Any, right: Any) -> _Value:
    if operator in "/%" and right == 0:
        return _NULL
    if operator == "%":
        if left.denominator != 1 or right.denominator != 1:
            _refuse_remainder("a number with a fraction")
        value = abs(left) % abs(right) * (-1 if left < 0 else 1)
    elif operator == "/":
        value = Fraction(left) / right
    else:
        value = {"+": add, "-": sub, "*": mul}[operator](left, right)
    if max(value.numerator.bit_length(), value.denominator.bit_length()) > _MAX_BITS:
        raise ArgumentError("the numbers of the filter make one that is out of range")
    return _Value("number", value, "", is_literal=True)


def _is_whole(value: _Value) -> bool:
    """Return whether integers of 64 bits hold a value."""
    if value.is_literal:
        return bool(value.data.denominator == 1 and -(2**63) <= value.data < 2**63)
    return value.kind == "integer" and not types.is_uint64(value.data.type)


def _whole(value: _Value) -> Any:
    if value.is_literal and _is_whole(value):
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
    is_minus = pc.equal(right, pa.scalar(-1, pa.int64()))
    safe = pc.if_else(is_minus, pa.scalar(1, pa.int64()), right)
    return pc.subtract(left, pc.multiply(pc.divide(left, safe), safe))


def _without_zeros(data: Any, zero: Any) -> Any:
    return pc.if_else(pc.equal(data, zero), pa.scalar(None, zero.type), data)


def _is_inexact(value: _Value) -> bool:
    """Return whether a value is not a decimal number of a size that Arrow can hold."""
    return value.kind == "float" or (value.is_literal and _decimal(value.data) is None)


def _floats(value: _Value) -> Any:
    if not value.is_literal:
        return _float(value.data)
    try:
        return pa.scalar(float(value.data))
    except OverflowError:
        raise ArgumentError(f"{value.shown} is out of the range of floats") from None


def _decimals(value: _Value) -> Any:
    """Return decimals of no more digits than they need: Arrow adds up precisions."""
    if value.is_literal:
        return pa.scalar(_decimal(value.data))
    data = value.data
    if not types.is_decimal(data.type):
        data = data.cast(pa.decimal128(20, 0))
    ends = pc.min_max(data).as_py().values()
    scale = data.type.scale
    digits = [
        len(str(abs(int(x.scaleb(scale, _EXACT))))) for x in ends if x is not None
    ]
    return data.cast(pa.decimal256(max(digits, default=1), scale))


def _decimal(value: int | Fraction) -> Decimal | None:
    """Return a number as a decimal, or None where it has more digits than Arrow's."""
    context = Context(prec=_DIGITS, traps=[Inexact])
    try:
        return context.divide(Decimal(value.numerator), Decimal(value.denominator))
    except Inexact:
        return None

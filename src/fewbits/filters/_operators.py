"""Each operator of a condition, on the values of its operands."""

from collections.abc import Callable
from functools import partial
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
from sqlglot import exp

from fewbits.errors import ArgumentError
from fewbits.filters._arithmetic import calculate, negate
from fewbits.filters._atoms import Bit, Call, Contains, Literal, Members, Name, Pattern
from fewbits.filters._calls import call
from fewbits.filters._compare import NULL, compare
from fewbits.filters._members import contains, is_in
from fewbits.filters._patterns import like
from fewbits.filters._rows import Rows
from fewbits.filters._values import Value, as_truth, literal_value, truth

NEGATED = "negate"
BEHIND: dict[Any, Any] = {exp.In: Members, exp.Like: Pattern, exp.ILike: Pattern}
PAIR = ("this", "expression")
# The operands of each, by the names that sqlglot gives them.
OPERATORS: dict[Any, tuple[str, ...]] = {
    **dict.fromkeys((exp.EQ, exp.NEQ, exp.LT, exp.LTE, exp.GT, exp.GTE), PAIR),
    **dict.fromkeys((exp.Add, exp.Sub, exp.Mul, exp.Div, exp.Mod), PAIR),
    **dict.fromkeys((exp.And, exp.Or, exp.Is, exp.Like, exp.ILike), PAIR),
    **dict.fromkeys((exp.NullSafeEQ, exp.NullSafeNEQ), PAIR),
    **dict.fromkeys((exp.Not, exp.Neg), ("this",)),
    exp.Between: ("this", "low", "high"),
    exp.In: ("this", "expressions"),
}


def leaf(leaf: Any, rows: Rows) -> Any:
    """Return what an atom, or NULL, TRUE or FALSE, stands for."""
    match leaf:
        case Name():
            return rows.column(leaf)
        case Bit():
            return rows.bit(leaf)
        case Contains(name, member):
            return contains(rows.column(name), literal_value(member))
        case Call(function, name):
            return call(function, rows.column(name))
        case Literal():
            return literal_value(leaf)
        case exp.Null():
            return NULL
        case exp.Boolean():
            return truth(pa.scalar(bool(leaf.this)), str(leaf.this).upper())
    return leaf


def apply(node: Any, operands: list[Any]) -> Value:
    """Return the value of a node whose operands are known."""
    if type(node) is exp.Is and type(node.expression) not in (exp.Null, exp.Boolean):
        raise ArgumentError("IS takes NULL, TRUE or FALSE, or NOT and one of them")
    wanted = [Value, BEHIND.get(type(node), Value), Value]
    if not all(map(isinstance, operands, wanted)):
        raise ArgumentError(
            "a list belongs behind IN, and a pattern behind LIKE; neither is part of"
            " anything else"
        )
    value = FUNCTIONS[type(node)](*operands)
    return _not(value) if node.args.get(NEGATED) else value


def _and(left: Value, right: Value) -> Value:
    return truth(pc.and_kleene(as_truth(left, "AND"), as_truth(right, "AND")))


def _or(left: Value, right: Value) -> Value:
    return truth(pc.or_kleene(as_truth(left, "OR"), as_truth(right, "OR")))


def _not(value: Value) -> Value:
    return truth(pc.invert(as_truth(value, "NOT")))


def _between(value: Value, low: Value, high: Value) -> Value:
    return _and(compare(">=", value, low), compare("<=", value, high))


def _is(value: Value, wanted: Value) -> Value:
    """Return IS NULL, IS TRUE or IS FALSE, none of which is ever NULL."""
    if wanted.kind == "null":
        if value.is_literal and value.kind != "null":
            return truth(pa.scalar(False))
        return truth(pc.is_null(value.data))
    given = as_truth(value, "IS TRUE and IS FALSE")
    return truth(pc.fill_null(pc.equal(given, wanted.data), False))


def _distinct(left: Value, right: Value) -> Value:
    """Return IS DISTINCT FROM, to which NULL is a value that equals itself."""
    gaps = [_is(each, NULL).data for each in (left, right)]
    known = pc.fill_null(compare("<>", left, right).data, False)
    return truth(pc.if_else(pc.or_(*gaps), pc.xor(*gaps), known))


def _same(left: Value, right: Value) -> Value:
    return _not(_distinct(left, right))


def _like(value: Value, pattern: Pattern, *, ignore_case: bool) -> Value:
    if value.kind == "null":
        return NULL
    if value.kind != "string":
        raise ArgumentError(f"LIKE takes text, got {value.shown}")
    strings = pa.scalar(value.data) if value.is_literal else value.data
    return truth(like(strings, pattern, ignore_case))


FUNCTIONS: dict[Any, Callable[..., Value]] = {
    exp.EQ: partial(compare, "="),
    exp.NEQ: partial(compare, "<>"),
    exp.LT: partial(compare, "<"),
    exp.LTE: partial(compare, "<="),
    exp.GT: partial(compare, ">"),
    exp.GTE: partial(compare, ">="),
    exp.Add: partial(calculate, "+"),
    exp.Sub: partial(calculate, "-"),
    exp.Mul: partial(calculate, "*"),
    exp.Div: partial(calculate, "/"),
    exp.Mod: partial(calculate, "%"),
    exp.Neg: negate,
    exp.And: _and,
    exp.Or: _or,
    exp.Not: _not,
    exp.Between: _between,
    exp.In: is_in,
    exp.Is: _is,
    exp.NullSafeEQ: _same,
    exp.NullSafeNEQ: _distinct,
    exp.Like: partial(_like, ignore_case=False),
    exp.ILike: partial(_like, ignore_case=True),
}

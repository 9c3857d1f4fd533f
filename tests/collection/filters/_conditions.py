"""Random conditions, each in three forms: ours, DuckDB's, and a function in Python.

`draw(rng)` returns a condition about the rows of `TABLE`. Its function takes a row and
returns True, False or None by the plain rules of SQL: numbers are fractions, times are
whole nanoseconds, texts are compared by code points, NaN is equal to nothing.
"""

import datetime as dt
import operator
import random
import re
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

from fewbits.codes import pack

N_BITS = 11
N_ROWS = 24
SECOND = 10**9
INTEGERS = [-7, -2, -1, 0, 1, 2, 3, 5, 2**31, 2**53, 2**53 + 1, -(2**53) - 1]
INTEGERS += [2**63 - 1, -(2**63)]
# No infinity: DuckDB orders the NaN of inf / inf, which IEEE does not.
FLOATS = [-1e300, -2.5, -1.0, -0.0, 0.0, 0.1, 0.3, 1.0, 2.5, 3.0, 1e15, 5e-324]
TEXTS = ["", "a", "A", "ab", "a%", "a_b", "a\nb", "b", "Ä", "ä", "日本", "it's", "\\"]
DECIMALS = [*map(Decimal, ("-99.99", "-1.50", "0.00", "0.10", "1.50", "2.25"))]
WIDE = [*map(Decimal, ("-1e40", "0", "1e-12", "1", f"{10**48 - 1}"))]
DAYS = [dt.date(1899, 12, 31), dt.date(1970, 1, 1), dt.date(2020, 2, 29)]
DAYS += [dt.date(1, 1, 1), dt.date(9999, 12, 31)]
TIMES = [dt.datetime(1969, 12, 31, 23, 59, 59, 999_999), dt.datetime(2020, 2, 29, 12)]
LISTS = [[], [1], [1, 2], [None], [None, 3], [0, 1, 0]]
PLACES = [{"city": "a", "n": 1}, {"city": None, "n": 2}, {"city": "b", "n": None}]


class Operand(NamedTuple):
    """A value, or a condition; `duckdb` is None where DuckDB has no such type."""

    ours: str
    duckdb: str | None
    value: Callable[[dict[str, Any]], Any]
    may_be_nan: bool = False


def _table() -> tuple[pa.Table, np.ndarray]:
    rng = np.random.default_rng(7)

    def column(values, of, nulls=5):
        chosen = [values[i] for i in rng.integers(len(values), size=N_ROWS)]
        for i in rng.choice(N_ROWS, nulls, replace=False):
            chosen[i] = None
        return pa.array(chosen, of)

    naturals = [0, 1, 2, 3, 2**53 + 1, 2**63, 2**64 - 1]
    halves = [np.float16(each) for each in (-2.5, 0.0, 0.1, 1, 65504, np.nan)]
    nanoseconds = [-(2**63), -1, 0, 1, 1_582_977_600 * SECOND, 2**63 - 1]
    runs = pa.RunEndEncodedArray.from_arrays([9, 13, 24], pa.array(["a", None, "Ä"]))
    table = {
        "i": column(INTEGERS, pa.int64()),
        "j": column([-3, -1, 0, 1, 2, 3, 100], pa.int32()),
        "w": column([-128, 127, 0, 1], pa.int8()),
        "u": column(naturals, pa.uint64()),
        "f": column(FLOATS, pa.float64()),
        "g": column([*FLOATS, np.nan, np.nan, np.nan], pa.float64()),
        "single": column([0.1, -2.5, 0.0, np.nan, 3.4e38], pa.float32()),
        "half": column(halves, pa.float16()),
        "d": column(DECIMALS, pa.decimal128(6, 2)),
        "wide": column(WIDE, pa.decimal256(60, 12)),
        "s": column(TEXTS, pa.string()),
        "k": column(TEXTS, pa.string()).dictionary_encode(),
        "v": column(TEXTS, pa.large_string()),
        "p": column([True, False], pa.bool_()),
        "q": column([True, False], pa.bool_(), nulls=0),
        "day": column(DAYS, pa.date32()),
        "t": column(TIMES, pa.timestamp("us")),
        "z": column(TIMES, pa.timestamp("us", "Europe/Berlin")),
        "nano": column(nanoseconds, pa.timestamp("ns")),
        "tags": column(LISTS, pa.list_(pa.int16())),
        "place": column(PLACES, pa.struct({"city": pa.string(), "n": pa.int64()})),
        "runs": runs,
    }
    return pa.table(table), pack(rng.integers(0, 2, (N_ROWS, N_BITS)))


TABLE, CODES = _table()
#: Not known to DuckDB, or rounded by it.
OWN_COLUMNS = ("single", "half", "wide", "nano", "runs")


def rows() -> list[dict[str, Any]]:
    """Return each row as values of Python: fractions, nanoseconds, floats, texts."""
    columns = {}
    for name in TABLE.column_names:
        data = TABLE[name].combine_chunks()
        if name in ("t", "z", "nano"):
            data = data.cast(pa.timestamp("ns")).cast(pa.int64())
        elif name == "runs":
            data = pa.compute.run_end_decode(data)
        columns[name] = [_plain(value, name) for value in data.to_pylist()]
    columns |= {
        f"bit_{bit}": (CODES[:, bit // 8] >> (7 - bit % 8) & 1 == 1).tolist()
        for bit in range(N_BITS)
    }
    return [
        dict(zip(columns, row, strict=True))
        for row in zip(*columns.values(), strict=True)
    ]


def _plain(value: Any, name: str) -> Any:
    if isinstance(value, Decimal):
        return Fraction(value)
    if isinstance(value, dt.date):
        return (value - dt.date(1970, 1, 1)).days * 86_400 * SECOND
    narrow = {"single": np.float32, "half": np.float16}.get(name)
    return narrow(value) if narrow and value is not None else value


# --- Operands -----------------------------------------------------------------------


def column(name: str) -> Operand:
    duckdb = None if name in OWN_COLUMNS else name
    may_be_nan = name in ("g", "single", "half")
    return Operand(name, duckdb, lambda row: row[name], may_be_nan)


def field(name: str) -> Operand:
    def value(row):
        return row["place"] and row["place"][name]

    return Operand(f"place.{name}", f"place.{name}", value)


def literal(text: str, value: Any, duckdb: str = "") -> Operand:
    return Operand(text, duckdb or text, lambda row: value)


def number(text: str) -> Operand:
    return literal(text, Fraction(text))


def text(value: str) -> Operand:
    return literal("'" + value.replace("'", "''") + "'", value)


def moment(written: str, word: str = "", zone: str = "") -> Operand:
    instant = dt.datetime.fromisoformat(written)
    offset = dt.timedelta(hours=int(zone or 0))
    since = instant - dt.datetime(1970, 1, 1) - offset
    value = since // dt.timedelta(microseconds=1) * 1000
    kind = "TIMESTAMPTZ" if zone else "DATE" if len(written) == 10 else "TIMESTAMP"
    quoted = f"'{written}{zone}'"
    return literal(f"{word} {quoted}".strip(), value, f"{word or kind} {quoted}")


NULL = literal("NULL", None)
WHOLE = [number(str(each)) for each in (*range(-9, 10), 2**53, 2**53 + 1, 2**64 - 1)]
SMALL = WHOLE[:19]
POINTED = [
    *map(number, ["0.1", "-1.5", "2.25", "2.255", ".3", "1.", "99.99", "-100.01"])
]
LONG = [number(str(each)) for each in (10**30, -(2**63), 2**63, -(2**63) - 1)]
TINY = [*map(number, ("1e-12", "1e-13", "-1e40", "1e48", "0.1", "65504", "65505"))]
QUOTED = [text(each) for each in TEXTS]
DATES = ["1970-01-01", "2020-02-29", "1899-12-31", "2020-03-01", "0001-01-01"]
CLOCKS = ["1969-12-31 23:59:59.999999", "2020-02-29T12:00:00", "2020-02-29 12:00"]


def arithmetic(rng: random.Random, depth: int = 2) -> Operand:
    """Return sums and products of small integers, so nothing overflows."""
    if not depth or rng.random() < 0.3:
        return column("j") if rng.random() < 0.6 else rng.choice(SMALL)
    sign = rng.choice("+-*%")
    left, right = arithmetic(rng, depth - 1), arithmetic(rng, depth - 1)
    return calculated(sign, left, right)


def calculated(sign: str, left: Operand, right: Operand) -> Operand:
    def value(row):
        a, b = left.value(row), right.value(row)
        if a is None or b is None or (sign in "%/" and b == 0):
            return None
        if sign == "%":
            return abs(a) % abs(b) * (-1 if a < 0 else 1)
        if isinstance(a, float) or isinstance(b, float):
            a, b = float(a), float(b)
        signs = {"+": operator.add, "-": operator.sub, "*": operator.mul}
        return signs.get(sign, lambda a, b: float(a) / float(b))(a, b)

    duckdb = f"({left.duckdb} {sign} {right.duckdb})"
    return Operand(f"({left.ours} {sign} {right.ours})", duckdb, value)


def function(name: str, operand: Operand, of: Callable[[Any], Any]) -> Operand:
    def value(row):
        argument = operand.value(row)
        return None if argument is None else of(argument)

    return Operand(f"{name}({operand.ours})", f"{name}({operand.duckdb})", value)


def year(nanoseconds: int) -> int:
    return (
        dt.datetime(1970, 1, 1) + dt.timedelta(days=nanoseconds // SECOND // 86_400)
    ).year


# --- Conditions ---------------------------------------------------------------------

COMPARE = {
    "=": operator.eq,
    "<>": operator.ne,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}
PATTERNS = [
    "%",
    "",
    "a%",
    "%b",
    "%a%",
    "_",
    "a_b",
    "__",
    "A%",
    "%ä",
    "a%b",
    "_%",
    "%.%",
]


def truth(sign: str, a: Any, b: Any) -> bool | None:
    """Compare two values; a number beside a float of few bits is rounded to it."""
    if a is None or b is None:
        return None
    for first, second in ((a, b), (b, a)):
        if isinstance(first, np.floating) and isinstance(second, Fraction):
            rounded = type(first)(float(second))
            a, b = (a, rounded) if first is a else (rounded, b)
        elif isinstance(first, float) and isinstance(second, Fraction):
            a, b = (a, float(b)) if first is a else (float(a), b)
    return bool(COMPARE[sign](a, b))


def compared(sign: str, left: Operand, right: Operand) -> Operand:
    duckdb = None
    if left.duckdb and right.duckdb:
        duckdb = f"{left.duckdb} {sign} {right.duckdb}"
        # To DuckDB NaN is the greatest number and equals itself.
        nans = [f"isnan({each.duckdb})" for each in (left, right) if each.may_be_nan]
        if nans:
            answer = "true" if sign in ("<>", "!=") else "false"
            nulls = f"{left.duckdb} IS NULL OR {right.duckdb} IS NULL"
            duckdb = (
                f"(CASE WHEN {nulls} THEN NULL WHEN {' OR '.join(nans)} THEN {answer}"
                f" ELSE {duckdb} END)"
            )
    return Operand(
        f"{left.ours} {sign} {right.ours}",
        duckdb,
        lambda row: truth(sign, left.value(row), right.value(row)),
    )


def not_(condition: Operand, ours: str, duckdb: str | None) -> Operand:
    def value(row):
        answer = condition.value(row)
        return None if answer is None else not answer

    return Operand(ours, duckdb, value)


def and_(*conditions: Operand, word: str = "AND") -> Operand:
    decided = word == "OR"

    def value(row):
        answers = [condition.value(row) for condition in conditions]
        if decided in answers:
            return decided
        return None if None in answers else not decided

    known = all(each.duckdb for each in conditions)
    return Operand(
        f" {word} ".join(each.ours for each in conditions),
        f" {word} ".join(str(each.duckdb) for each in conditions) if known else None,
        value,
    )


def among(operand: Operand, members: list[Operand]) -> Operand:
    either = and_(*(compared("=", operand, each) for each in members), word="OR")
    listed = ", ".join(each.ours for each in members)
    duckdb = None if either.duckdb is None else f"({either.duckdb})"
    if duckdb and not operand.may_be_nan:
        duckdb = f"{operand.duckdb} IN ({', '.join(str(m.duckdb) for m in members)})"
    return Operand(f"{operand.ours} IN ({listed})", duckdb, either.value)


def between(operand: Operand, low: Operand, high: Operand) -> Operand:
    both = and_(compared(">=", operand, low), compared("<=", operand, high))
    duckdb = both.duckdb and f"({both.duckdb})"
    if duckdb and not (operand.may_be_nan or low.may_be_nan or high.may_be_nan):
        duckdb = f"{operand.duckdb} BETWEEN {low.duckdb} AND {high.duckdb}"
    ours = f"{operand.ours} BETWEEN {low.ours} AND {high.ours}"
    return Operand(ours, duckdb, both.value)


def is_(operand: Operand, constant: Any, negated: bool = False) -> Operand:
    words = f"IS {'NOT ' if negated else ''}{'NULL' if constant is None else constant}"
    return Operand(
        f"{operand.ours} {words}",
        operand.duckdb and f"{operand.duckdb} {words}",
        lambda row: (operand.value(row) is constant) != negated,
    )


def distinct(left: Operand, right: Operand) -> Operand:
    def value(row):
        a, b = left.value(row), right.value(row)
        differ = truth("<>", a, b)
        return (a is None) != (b is None) if differ is None else differ

    words = "IS DISTINCT FROM"
    duckdb = None
    if left.duckdb and right.duckdb and not (left.may_be_nan or right.may_be_nan):
        duckdb = f"{left.duckdb} {words} {right.duckdb}"
    return Operand(f"{left.ours} {words} {right.ours}", duckdb, value)


def like(operand: Operand, pattern: str, word: str = "LIKE") -> Operand:
    wild = {"%": ".*", "_": "."}
    regex = "".join(wild.get(each, re.escape(each)) for each in pattern)
    ours = "'" + pattern.replace("'", "''") + "'"
    if pattern == "a!%%":
        regex, ours = "a%.*", ours + " ESCAPE '!'"
    flags = re.DOTALL | (re.IGNORECASE if word == "ILIKE" else 0)

    def value(row):
        string = operand.value(row)
        return None if string is None else bool(re.fullmatch(regex, string, flags))

    duckdb = operand.duckdb and f"{operand.duckdb} {word} {ours}"
    return Operand(f"{operand.ours} {word} {ours}", duckdb, value)


def contains(member: int) -> Operand:
    def value(row):
        return None if row["tags"] is None else member in row["tags"]

    sql = f"list_contains(tags, {member})"
    return Operand(sql, sql, value)


def bit(rng: random.Random) -> Operand:
    n = rng.randrange(N_BITS)
    on = Operand(f"bit({n})", f"bit_{n}", lambda row: row[f"bit_{n}"])
    if rng.random() < 0.3:
        return on
    sign, digit = rng.choice(("=", "<>")), rng.choice((0, 1))
    return Operand(
        f"bit({n}) {sign} {digit}",
        f"bit_{n} {sign} {digit == 1}".lower(),
        lambda row: row[f"bit_{n}"] == ((digit == 1) == (sign == "=")),
    )


def _operands(rng: random.Random) -> tuple[list[Operand], list[Operand]]:
    """Return operands of one type, and literals that fit it."""
    i, j, u, w, f, d, day, t = map(column, ("i", "j", "u", "w", "f", "d", "day", "t"))
    one, two, four = SMALL[10], SMALL[11], SMALL[13]
    days = [moment(each) for each in DATES]
    typed = [moment(each, "DATE") for each in DATES]
    stamps = [moment(each, "TIMESTAMP") for each in (*DATES, *CLOCKS)]
    families: list[tuple[list[Operand], list[Operand]]] = [
        ([i, u], [*WHOLE, *LONG[1:]]),
        ([i, w, j, field("n")], [*WHOLE, *POINTED]),
        ([j, arithmetic(rng)], [*SMALL, *POINTED]),
        ([d, calculated("+", d, one), calculated("*", d, two)], [*POINTED, *SMALL]),
        ([d, calculated("-", d, j)], [*POINTED, *SMALL]),
        ([f, calculated("+", f, one), calculated("/", f, two)], SMALL),
        ([calculated("/", j, four)], SMALL),
        ([f, column("g")], [*SMALL, *map(number, ("0.1", ".3", "2.5", "1e15"))]),
        ([column("single")], [*SMALL, number("0.1")]),
        ([column("half")], [*SMALL, *TINY[4:6]]),
        ([column("wide")], [*TINY, *SMALL, *LONG]),
        ([*map(column, "skv"), field("city")], QUOTED),
        ([function("lower", column("s"), str.lower)], QUOTED),
        ([column("runs"), function("upper", column("v"), str.upper)], QUOTED),
        ([day], [*days, *typed]),
        ([t], [*stamps, *(moment(each) for each in CLOCKS)]),
        ([t, day], [*stamps[1:3], *typed]),
        ([column("nano")], stamps),
        ([column("z")], [moment(each, zone="+01") for each in (*CLOCKS,)]),
        ([function("year", day, year), function("year", t, year)], SMALL),
    ]
    return rng.choice(families)


def draw(rng: random.Random, depth: int = 3) -> Operand:
    """Return a condition made of others, or of operands."""
    share = rng.random()
    if depth and share < 0.45:
        first, second = draw(rng, depth - 1), draw(rng, depth - 1)
        if share < 0.15:
            return _grouped(and_(first, second))
        if share < 0.3:
            return _grouped(and_(first, second, word="OR"))
        group = _grouped(first)
        if share < 0.4:
            duckdb = group.duckdb and f"NOT {group.duckdb}"
            return not_(first, f"NOT {group.ours}", duckdb)
        return is_(group, rng.choice((None, True, False)), rng.random() < 0.5)
    if share < 0.55:
        return _grouped(_truth(rng))
    operands, literals = _operands(rng)
    operand = rng.choice(operands)
    either = [*operands, *literals, NULL]
    match rng.randrange(7):
        case 0 | 1 | 2:
            pair = [operand, rng.choice(either)]
            rng.shuffle(pair)
            return compared(rng.choice([*COMPARE]), *pair)
        case 3:
            return is_(operand, None, rng.random() < 0.5)
        case 4:
            return distinct(operand, rng.choice(either))
        case 5:
            members = rng.choices([*literals, NULL], k=rng.randrange(1, 5))
            condition, word = among(operand, members), "IN"
        case _:
            low, high = rng.choice(either), rng.choice(either)
            condition, word = between(operand, low, high), "BETWEEN"
    if rng.random() < 0.6:
        return condition
    ours = condition.ours.replace(f" {word} ", f" NOT {word} ", 1)
    return not_(condition, ours, condition.duckdb and f"NOT ({condition.duckdb})")


def _truth(rng: random.Random) -> Operand:
    p, q = column("p"), column("q")
    texts = rng.choice([*map(column, "skv")])
    pattern = rng.choice([*PATTERNS, "a!%%"])
    return rng.choice(
        [
            bit(rng),
            contains(rng.randrange(-1, 4)),
            like(texts, pattern),
            like(texts, pattern, "ILIKE"),
            p,
            not_(p, "NOT p", "NOT p"),
            compared(rng.choice(("=", "<>")), p, q),
            compared("=", p, literal("TRUE", True)),
            is_(p, rng.choice((True, False)), rng.random() < 0.5),
            distinct(p, q),
            NULL,
        ]
    )


def _grouped(condition: Operand) -> Operand:
    duckdb = condition.duckdb and f"({condition.duckdb})"
    return Operand(f"({condition.ours})", duckdb, condition.value)

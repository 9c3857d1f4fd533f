"""Each type of column is compared exactly; the right value is Python's."""

import datetime as dt
import operator
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.collection.filters._ask import ask, refusal

COMPARE = {
    "=": operator.eq,
    "<>": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}
OPERATORS = st.sampled_from(sorted(COMPARE))
WIDTHS = {
    kind: (int(np.iinfo(kind).min), int(np.iinfo(kind).max))
    for kind in (f"{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64))
}


def expected(sign, values, literal):
    """Return the answer by Python, whose numbers are exact."""
    return [each is not None and COMPARE[sign](each, literal) for each in values]


def check_grid(data, of, sign, values, literal, written):
    """Compare a column with a literal, on either side, alone and in a list."""
    column = pa.array(data, of)
    right = expected(sign, values, literal)
    assert ask(f"c {sign} {written}", c=column) == right
    turned = sign.translate(str.maketrans("<>", "><")) if sign != "<>" else sign
    assert ask(f"{written} {turned} c", c=column) == right
    assert ask(f"NOT c {sign} {written}", c=column) == [
        each is not None and not true for each, true in zip(values, right, strict=True)
    ]
    equal = expected("=", values, literal)
    assert ask(f"c IN ({written})", c=column) == equal
    assert ask(f"c BETWEEN {written} AND {written}", c=column) == equal


@given(data=st.data(), kind=st.sampled_from(sorted(WIDTHS)), sign=OPERATORS)
def test_integers_are_compared_exactly(data, kind, sign):
    low, high = WIDTHS[kind]
    edges = [
        low,
        low + 1,
        high - 1,
        high,
        *(each for each in (2**53, 2**53 + 1) if each < high),
    ]
    values = data.draw(
        st.lists(
            st.sampled_from(edges) | st.integers(low, high) | st.none(), max_size=6
        )
    )
    near = st.sampled_from([*edges, low - 1, high + 1, 0, 10**30, -(10**30)])
    literal = Fraction(data.draw(near)) + data.draw(
        st.sampled_from([0, Fraction(1, 2)])
    )
    written = f"{literal.numerator}" if literal.denominator == 1 else _pointed(literal)
    check_grid(values, getattr(pa, kind)(), sign, values, literal, written)


def _pointed(literal):
    """Write an odd number of halves."""
    sign = "-" if literal < 0 else ""
    return f"{sign}{abs(literal.numerator) // 2}.5"


DECIMALS = [(5, 2, pa.decimal128), (38, 10, pa.decimal128), (60, 0, pa.decimal256)]


@given(data=st.data(), shape=st.sampled_from(DECIMALS), sign=OPERATORS)
def test_decimals_are_compared_exactly(data, shape, sign):
    precision, scale, of = shape
    most = 10**precision - 1
    whole = st.sampled_from([0, 1, -1, most, -most]) | st.integers(-most, most)
    unscaled = data.draw(st.lists(whole | st.none(), max_size=6))
    values = [each if each is None else Fraction(each, 10**scale) for each in unscaled]
    stored = [
        each if each is None else Decimal(f"{each}e-{scale}") for each in unscaled
    ]
    number = data.draw(whole | st.sampled_from([most + 1, -most - 1, 10 * most]))
    literal = Fraction(number, 10**scale) + data.draw(
        st.sampled_from([0, Fraction(1, 10**12)])
    )
    thousandth = int(literal * 10**12)
    check_grid(stored, of(precision, scale), sign, values, literal, f"{thousandth}e-12")


MOMENTS = st.datetimes(dt.datetime(1700, 1, 1), dt.datetime(2250, 1, 1))
UNITS = st.sampled_from(["s", "ms", "us", "ns"])


def _nanoseconds(moment):
    return (moment - dt.datetime(1970, 1, 1)) // dt.timedelta(microseconds=1) * 1000


@given(data=st.data(), unit=UNITS, sign=OPERATORS, moment=MOMENTS)
def test_timestamps_are_compared_exactly(data, unit, sign, moment):
    step = {"s": 10**9, "ms": 10**6, "us": 10**3, "ns": 1}[unit]
    literal = _nanoseconds(moment)
    near = st.sampled_from([-1, 0, 1]).map(lambda shift: literal // step + shift)
    counts = data.draw(st.lists(near | st.none(), max_size=6))
    values = [each if each is None else each * step for each in counts]
    for word in ("", "TIMESTAMP "):
        written = f"{word}'{moment.isoformat(' ')}'"
        if word or counts:
            check_grid(counts, pa.timestamp(unit), sign, values, literal, written)
    hour = dt.timezone(dt.timedelta(hours=data.draw(st.integers(-14, 14))))
    zoned = moment.replace(tzinfo=dt.UTC).astimezone(hour).isoformat()
    column = pa.timestamp(unit, "America/New_York")
    check_grid(counts, column, sign, values, literal, f"'{zoned}'")


@given(data=st.data(), sign=OPERATORS, day=st.dates(), wide=st.booleans())
def test_dates_are_compared_exactly(data, sign, day, wide):
    near = st.sampled_from([day, dt.date(1970, 1, 1), dt.date(2020, 2, 29)])
    values = data.draw(st.lists(near | st.none(), max_size=6))
    of = pa.date64() if wide else pa.date32()
    for written in (f"'{day}'", f"DATE '{day}'", f"TIMESTAMP '{day} 00:00:00'"):
        check_grid(values, of, sign, values, day, written)
    noon = [each and dt.datetime.combine(each, dt.time()) for each in values]
    literal = dt.datetime.combine(day, dt.time(12))
    check_grid(values, of, sign, noon, literal, f"TIMESTAMP '{day} 12:00'")


@given(
    values=st.lists(st.floats(width=16) | st.none(), max_size=6),
    literal=st.integers(-300, 300),
    sign=OPERATORS,
    kind=st.sampled_from(["float16", "float32", "float64"]),
)
def test_floats_are_compared_at_their_own_width(values, literal, sign, kind):
    written = f"{literal / 100}"
    given = [None if each is None else np.dtype(kind).type(each) for each in values]
    number = np.dtype(kind).type(written)
    column = pa.array(given, getattr(pa, kind)())
    assert ask(f"c {sign} {written}", c=column) == expected(sign, given, number)
    assert ask(f"c IN ({written}, 7)", c=column) == [
        each is not None and each in (number, 7) for each in given
    ]


@pytest.mark.parametrize("kind", ["float16", "float32", "float64"])
def test_a_tenth_is_a_tenth_at_each_width(kind):
    column = pa.array(np.array([0.1, 0.2], kind))
    assert ask("c = 0.1", c=column) == [True, False]
    assert ask("c IN (0.1)", c=column) == [True, False]


def test_zeros_are_equal_and_nan_is_nothing():
    numbers = [0.0, -0.0, float("nan"), None]
    assert ask("c = 0", c=numbers) == [True, True, False, False]
    assert ask("c IN (0)", c=numbers) == [True, True, False, False]
    assert ask("c IN (-0.0)", c=numbers) == [True, True, False, False]
    assert ask("c = c", c=numbers) == [True, True, False, False]
    assert ask("c <> 0", c=numbers) == [False, False, True, False]
    assert ask("c > 0 OR c <= 0", c=numbers) == [True, True, False, False]


STRINGS = ["x", "", None, "Ä", "x\0", "a%b\n"]


@pytest.mark.parametrize(
    "column",
    [
        pa.array(STRINGS, pa.large_string()),
        pa.array(STRINGS, pa.string_view()),
        pa.array(STRINGS).dictionary_encode(),
        pa.array(STRINGS, pa.large_string()).dictionary_encode(),
        pa.chunked_array([pa.array(STRINGS[:2]), pa.array(STRINGS[2:])]),
        pa.chunked_array(
            [pa.array(part).dictionary_encode() for part in (STRINGS[:3], STRINGS[3:])]
        ),
        pa.RunEndEncodedArray.from_arrays(list(range(1, 7)), pa.array(STRINGS)),
    ],
    ids=lambda column: str(column.type)[:20],
)
@pytest.mark.parametrize(
    "condition",
    [
        "c = 'x'",
        "c <> 'x'",
        "c > 'a'",
        "c IN ('x', '', 'y')",
        "c NOT IN ('x')",
        "c IS NULL",
        "c LIKE '_'",
        "c ILIKE 'ä'",
        "c = plain",
    ],
)
def test_strings_are_the_same_however_stored(column, condition):
    plain = pa.array(STRINGS)
    right = ask(condition, c=plain, plain=plain)
    assert ask(condition, c=column, plain=plain) == right
    assert any(right)


def test_columns_of_two_types_are_compared_exactly():
    wide = pa.array([2**64 - 1, 2**63, 0], pa.uint64())
    signed = pa.array([-1, 2**63 - 1, 0], pa.int64())
    assert ask("u > i", u=wide, i=signed) == [True, True, False]
    exact = pa.array([Decimal("-1.00"), Decimal("0.01"), None], pa.decimal128(9, 2))
    assert ask("d = i", d=exact, i=signed) == [True, False, False]
    assert ask("i >= d", d=exact, i=signed) == [True, True, False]
    days = pa.array([0, 1, None], pa.date32())
    times = pa.array([0, 1, 2], pa.timestamp("ns"))
    assert ask("t > day", t=times, day=days) == [False, False, False]
    assert ask("t = day", t=times, day=days) == [True, False, False]
    here = pa.array([0, 3600, 0], pa.timestamp("s", "Europe/Berlin"))
    there = pa.array([0, 1, None], pa.timestamp("ms", "Asia/Tokyo"))
    assert ask("here > there", here=here, there=there) == [False, True, False]


def test_floats_beside_large_integers_are_refused():
    line = refusal("i = f", i=[2**53 + 1], f=[1.0])
    assert "9007199254740993" in line


@pytest.mark.parametrize(
    ("condition", "column", "need"),
    [
        ("c = '2019'", [2019], "a number, without quotes"),
        ("'2019' < c", [2019.5], "a number, without quotes"),
        ("c IN (1, '2')", [2019], "a number, without quotes"),
        ("c = 2019", ["2019"], "write text in single quotes"),
        ("c BETWEEN 1 AND 2", ["2019"], "write text in single quotes"),
        ("c = 1", [True], "write TRUE or FALSE"),
        ("c = 'true'", [True], "write TRUE or FALSE"),
        ("c = TRUE", [1], "two types"),
        ("c = 20200131", [dt.date(2020, 1, 31)], "'2020-01-31'"),
        ("c = '31.01.2020'", [dt.date(2020, 1, 31)], "'2020-01-31'"),
        ("c = '2020-02-30'", [dt.date(2020, 1, 31)], "'2020-01-31'"),
        ("c = '2020-01-31 12:00:00'", [dt.date(2020, 1, 31)], "a date"),
        ("c = '2020-01-31+01:00'", [dt.datetime(2020, 1, 31)], "'2020-01-31"),
        ("c = '2020-01-31 00:00:00Z'", [dt.datetime(2020, 1, 31)], "no time zone"),
        ("c = 1", [[1]], "type cannot be compared"),
        ("c = 'a'", [b"a"], "type cannot be compared"),
        ("c = 1", [{"a": 1}], "type cannot be compared"),
        ("c IN ('a')", [b"a"], "cannot be searched for"),
        (
            "c = 1e39",
            pa.array([1.0], pa.float32()),
            "out of the range of numbers of 32 bits",
        ),
        ("c LIKE '1%'", [1], "LIKE takes text"),
        ("c + 1 = 2", ["1"], "+ takes numbers"),
        ("c", [1], "takes conditions"),
        ("NOT c", ["x"], "takes conditions"),
        ("TRUE AND c", [1.5], "takes conditions"),
        ("c IS TRUE", [1], "takes conditions"),
        ("c % 2 = 0", [1.5], "% takes integers"),
        ("c < TRUE", [True], "= or <>"),
    ],
)
def test_a_type_that_does_not_fit_is_refused(condition, column, need):
    line = refusal(condition, c=column)
    assert need in line
    assert "NULL" in condition or "c" in line


def test_times_with_a_zone_need_one():
    column = pa.array([0], pa.timestamp("s", "UTC"))
    for written in ("'1970-01-01'", "'1970-01-01 00:00:00'", "DATE '1970-01-01'"):
        assert "write the time zone" in refusal(f"c = {written}", c=column)
    assert ask("c = '1970-01-01 00:00:00Z'", c=column) == [True]
    assert "time zone" in refusal("c = d", c=column, d=[dt.date(1970, 1, 1)])


def test_any_type_may_be_null():
    columns = ([[1], None], [b"a", None], [{"a": None}, None])
    for column in columns:
        assert ask("c IS NULL", c=column) == [False, True]
        assert ask("c IS NOT NULL", c=column) == [True, False]
    assert ask("c IS NULL", c=pa.nulls(2)) == [True, True]
    assert ask("c = 1 OR c <> 1 OR c IN (1)", c=pa.nulls(2)) == [False, False]


WIDE = {
    "total": pa.array(
        [Decimal("12345678901234567890123456789012345678"), Decimal(-1), None],
        pa.decimal128(38, 0),
    ),
    "price": pa.array(
        [Decimal("1234567890123456789012345678901234.5678"), Decimal("-0.0001"), None],
        pa.decimal128(38, 4),
    ),
    "n": [1, 2, 3],
}


@pytest.mark.parametrize(
    ("condition", "rows"),
    [
        ("total = 12345678901234567890123456789012345678", [True, False, False]),
        ("total = 12345678901234567890123456789012345677", [False] * 3),
        ("total IN (-1, 12345678901234567890123456789012345677)", [False, True, False]),
        ("total + 1 = 12345678901234567890123456789012345679", [True, False, False]),
        ("total - total = 0", [True, True, False]),
        ("-total = -12345678901234567890123456789012345678", [True, False, False]),
        ("total * 10 = 123456789012345678901234567890123456780", [True, False, False]),
        ("total + n > 0", [True, True, False]),
        (
            "price + price = 2469135780246913578024691357802469.1356",
            [True, False, False],
        ),
        ("price > total", [False, True, False]),
        ("price < 1234567890123456789012345678901234.56781", [True, True, False]),
    ],
)
def test_decimals_of_38_digits_are_exact(condition, rows):
    assert ask(condition, **WIDE) == rows


def test_decimals_beside_floats_are_the_nearest_floats():
    numbers = [Decimal(n).scaleb(-s) for n in range(1, 400, 7) for s in range(1, 6)]
    columns = {
        "d": pa.array(numbers, pa.decimal128(20, 6)),
        "f": [float(number) for number in numbers],
    }
    assert all(ask("d = f", **columns))
    assert all(ask("d / 1 = f", **columns))

"""What is not a condition is refused in one line, which says what is supported."""

import datetime as dt
from decimal import Decimal

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fewbits.collection.filters import matching_rows
from fewbits.errors import ArgumentError, CodeError
from tests.collection.filters._ask import ask, refusal

UNSUPPORTED = {
    "trim(category) = 'x'": "'trim('",
    "COUNT(*) > 1": "'COUNT('",
    '"bit"(1) = 1': "'bit('",
    "SELECT 1": "SELECT",
    "year IN (SELECT year FROM t)": "'SELECT'",
    "EXISTS (SELECT 1)": "'EXISTS('",
    "(SELECT 1) = 1": "SELECT",
    "CASE WHEN year = 1 THEN TRUE END": "CASE",
    "CAST(year AS text) = '1'": "'CAST('",
    "year::text = '1'": "'::'",
    "category COLLATE nocase = 'x'": "COLLATE",
    "category = 'x' ORDER BY year": "ORDER",
    "category = 'x' LIMIT 1": "LIMIT",
    "year = 2019 UNION SELECT 1": "UNION",
    "category REGEXP 'x'": "REGEXP",
    "category GLOB 'x*'": "GLOB",
    "category SIMILAR TO 'x'": "SIMILAR",
    "year > INTERVAL '1' DAY": "INTERVAL",
    "year BETWEEN SYMMETRIC 2 AND 1": "SYMMETRIC",
    "year = 2019; DROP TABLE items": "';'",
    "year = 2019;": "';'",
    "category = 'x' || 'y'": "'||'",
    "year = 2019 -- or": "comments",
    "year /* or */ = 2019": "comments",
    "/* nothing */": "comments",
    "year = ?": "'?'",
    "year = :year": "':'",
    "year = @year": "'@'",
    "year = {{ year }}": "'{'",
    "year & 1 = 1": "'&'",
    "year ^ 2 = 1": "'^'",
    "year <=> 2019": "'<=>'",
    "category[0] = 'x'": "'['",
    "x'ff' = category": "\"'ff'\"",
    "year = 0x7e3": "'x7e3'",
    "year = 2_019": "'_019'",
    "year 2019": "'2019'",
    "year = 2019 year = 2020": "'year'",
    "year = 'a' 'b'": "\"'b'\"",
    "year IS DISTINCT 3": "DISTINCT",
    "*": "'*'",
    "year = *": "'*'",
    "year IS + NULL": "IS takes",
    "year - NOT NULL = 1": "parentheses",
    "year, category": "','",
    "year = 'x": "not closed",
    'year = "x': "not closed",
    "year = `x": "not closed",
    "year = 1 /* x": "not closed",
    "(year = 1": "not closed",
    "year = 1)": "without its '('",
    "()": "nothing in them",
    "": "empty",
    " \n\t": "empty",
    "year = (1, 2)": "','",
    "year =": "'='",
    "AND": "cannot be read",
    "IS": "cannot be read",
    "year IS 3": "IS",
    "year IS category": "IS",
    "year IN 2019": "list in parentheses",
    "year IN ()": "found ')'",
    "year IN (category)": "found 'category'",
    "year IN (1 2)": "found '2'",
    "year IN (1": "ends too early",
    "year IN (-'1')": "found '1'",
    "category LIKE year": "pattern in quotes",
    "category LIKE 'a' ESCAPE": "one character",
    "category LIKE 'a' ESCAPE '!!'": "one character",
    "category LIKE 'a!' ESCAPE '!'": "must stand before",
    "category LIKE 'a!b' ESCAPE '!'": "must stand before",
    "category LIKE 'a' - 1": "parentheses where one comparison",
    "year > 2018 < 2020": "parentheses where one comparison",
    "2018 < year < 2020": "parentheses where one comparison",
    "year = 1 IS NULL": "parentheses where one comparison",
    "category = NOT TRUE": "parentheses where one comparison",
    "year BETWEEN 2018 2020": "'2020'",
    "year BETWEEN (2018) (2020)": "cannot be read",
    "year BETWEEN 2018 year AND TRUE": "'year'",
    "year BETWEEN 2018 OR 2020": "lacks its AND",
    "TRUE BETWEEN FALSE TRUE": "'TRUE'",
    "year IN (1) (2)": "cannot be read",
    "year IN (1) NULL": "'NULL'",
    "year NOT IS NULL": "IS NOT",
    "year = 1e500": "out of range",
    "year = 1e99999999999999999999": "out of range",
    "year = " + "9" * 500: "out of range",
    "DATE '2020-02-30' = DATE '2020-01-01'": "'2020-01-31'",
    "DATE '2020-01-01 12:00' = DATE '2020-01-01'": "'2020-01-31'",
    "TIMESTAMP 'now' = DATE '2020-01-01'": "'2020-01-31 12:00:00'",
    "year = 1\0": "cannot be read",
    "\ud800 = 1": "not Unicode",
    "year ≥ 2019": "cannot be read",
    "__import__('os').system('true')": "'__import__('",
    "year.__class__ = 1": "no field '__class__'",
    "year = 2019 or 1=1--": "comments",
    "category = '' OR ''='": "not closed",
    "bit(8)": "bits 0 to 7",
    "bit(-1)": "the number of one bit",
    "bit(1.0)": "the number of one bit",
    "bit(99999999999999999999)": "the number of one bit",
    "bit()": "the number of one bit",
    "bit(1": "the number of one bit",
    "bit(1, 2)": "the number of one bit",
    "bit(1) = 2": "a bit is 0 or 1",
    "bit(1) = TRUE": "a bit is 0 or 1",
    "bit(1) = '1'": "a bit is 0 or 1",
    "bit(1) > 0": "= or <>",
    "bit(1) + 1 = 2": "takes numbers",
}


@pytest.mark.parametrize("condition", UNSUPPORTED, ids=lambda text: ascii(text)[:40])
def test_names_what_is_not_supported(condition):
    assert UNSUPPORTED[condition] in refusal(condition)


def test_says_what_is_supported():
    assert "a filter knows = <> < <= > >=" in refusal("trim(category) = 'x'")


WORDS = ["year", "category", "'x'", "1", "=", "<", "AND", "NOT", "IN", "(", ")", "IS"]
WORDS += ["NULL", "LIKE", "-", ",", ".", "BETWEEN", "'%'", "`", "DATE", "bit(", "%"]


@given(
    st.text(max_size=20) | st.lists(st.sampled_from(WORDS), max_size=9).map(" ".join)
)
def test_anything_is_read_or_refused_in_one_line(condition):
    table = pa.table({"year": [2019, None], "category": ["x", None]})
    try:
        matching_rows(condition, table, np.zeros((2, 1), np.uint8), 8)
    except ArgumentError as error:
        assert len(str(error).splitlines()) == 1  # noqa: PT017


@pytest.mark.parametrize(
    "condition", [None, 3, b"year = 1", ["year = 1"], {0: 1}, True]
)
def test_a_condition_is_text_or_an_expression(condition):
    assert type(condition).__name__ in refusal(condition)


def test_rows_and_codes_belong_together():
    table = pa.table({"year": [2019, 2020]})
    with pytest.raises(ArgumentError, match="2 rows cannot belong to 3 codes"):
        matching_rows("year = 1", table, np.zeros((3, 1), np.uint8), 8)
    with pytest.raises(CodeError):
        matching_rows("year = 1", table, np.zeros((2, 2), np.uint8), 8)
    with pytest.raises(ArgumentError, match=r"needs a pyarrow\.Table"):
        matching_rows("year = 1", {"year": [1]}, np.zeros((1, 1), np.uint8), 8)


def test_large_conditions():
    years = {"year": [5, 30_000, None]}
    assert ask("(" * 10_000 + "year = 5" + ")" * 10_000, **years) == [
        True,
        False,
        False,
    ]
    ors = " OR ".join(f"year = {number}" for number in range(3_000))
    assert ask(ors, **years) == [True, False, False]
    nots = "NOT (" * 2_001 + "year = 5" + ")" * 2_001
    assert ask(nots, **years) == [False, True, False]
    sums = "year" + " + 1" * 2_000 + " = 2005"
    assert ask(sums, **years) == [True, False, False]
    listed = ", ".join(map(str, range(20_000)))
    assert ask(f"year NOT IN ({listed})", **years) == [False, True, False]


@pytest.mark.parametrize(
    "condition",
    [
        "NOT " * 10_000 + "TRUE",
        "- " * 10_000 + "1 = 1",
        "(" * 10_000,
        "year = " * 5_000 + "1",
        "year = NOT " * 5_000 + "TRUE",
        "year" + " IS NULL" * 5_000,
        "year" + ".a" * 5_000 + " = 1",
    ],
    ids=lambda text: text[:12],
)
def test_what_is_too_deep_is_refused(condition):
    assert len(refusal(condition)) < 400


DAY = dt.date(2020, 1, 31)
HELD = {
    "integer": [pa.array([1], kind) for kind in (pa.int8(), pa.int64(), pa.uint16())],
    "number": [pa.array([1.5], kind) for kind in (pa.float32(), pa.float64())],
    "decimal": [pa.array([Decimal("1.50")], pa.decimal128(10, 2))],
    "text": [
        *(pa.array(["x"], kind) for kind in (pa.string(), pa.large_string())),
        pa.array(["x"]).dictionary_encode(),
        pa.RunEndEncodedArray.from_arrays(pa.array([1]), pa.array(["x"])),
    ],
    "true/false": [pa.array([True])],
    "date": [pa.array([DAY]), pa.array([DAY], pa.date64())],
    "timestamp": [pa.array([0], pa.timestamp("ms"))],
    "timestamp with time zone": [pa.array([0], pa.timestamp("us", "UTC"))],
    "time of day": [pa.array([dt.time(1)]), pa.array([0], pa.time32("s"))],
    "duration": [pa.array([0], pa.duration("s"))],
    "list": [pa.array([[1]]), pa.array([[1]], pa.list_(pa.int8(), 1))],
    "struct": [pa.array([{"a": 1}])],
    "map": [pa.array([[("k", 1)]], pa.map_(pa.string(), pa.int32()))],
    "bytes": [pa.array([b"x"], kind) for kind in (pa.binary(), pa.binary(1))],
}
WRONG = {"the text 'no'": "'no'", "the number 2.5": "2.5"}  # a text fits no other type
COLUMNS = [(told, column) for told, columns in HELD.items() for column in columns]


@pytest.mark.parametrize(("told", "column"), COLUMNS, ids=lambda each: str(each)[:9])
def test_a_refusal_names_the_column_what_it_holds_and_what_was_compared(told, column):
    numbers = ("integer", "number", "decimal")
    wrong = "the number 2.5" if told == "text" else "the text 'no'"
    line = refusal(f"price = {WRONG[wrong]}", price=column)
    assert line.startswith(f"column 'price' ({told}) cannot be compared with {wrong}: ")
    if told not in numbers:
        assert f"+ takes numbers, got column 'price' ({told})" in refusal(
            "price + 1 = 2", price=column
        )
    if told != "text":
        assert f"LIKE takes text, got column 'price' ({told})" in refusal(
            "price LIKE '1%'", price=column
        )
    if told != "true/false":
        assert f"takes conditions, got column 'price' ({told}): " in refusal(
            "NOT price", price=column
        )


def test_results_and_fields_are_told_in_the_same_words():
    assert "a result (integer) cannot be compared with the text 'x'" in refusal(
        "year + 1 = 'x'"
    )
    assert "column 'year' (integer) has no field 'a'" in refusal("year.a = 1")
    with pytest.raises(ArgumentError, match="the expression is integer"):
        ask(pc.field("year") + 1, year=[2019])

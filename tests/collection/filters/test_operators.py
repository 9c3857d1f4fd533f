"""Arithmetic, NULL, patterns, functions of a column and lists."""

import datetime
import re
from decimal import Decimal

import duckdb
import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fewbits.collection.filters import matching_rows
from fewbits.errors import ArgumentError
from tests.collection.filters._ask import ask, ask_table, refusal


@pytest.mark.parametrize(
    "condition",
    [
        "c + 1 = 9007199254740994",
        "c * 2 = 18014398509481986",
        "c - 0.5 = 9007199254740992.5",
        "-c = -9007199254740993",
        "c % 10 = 3",
        "c * 0.1 = 900719925474099.3",
        "0.1 + 0.2 = 0.3",
        "2 * 3 + 4 * 5 = 26",
        "7 / 2 = 3.5",
        "1 / 3 * 3 = 1",
        "(c - 9007199254740992) / 4 = .25",
        "c - 1 - 1 - 1 = 9007199254740990",
    ],
)
def test_arithmetic_is_exact(condition):
    assert ask(condition, c=[2**53 + 1]) == [True]


def test_arithmetic_of_decimals_is_exact():
    prices = pa.array([Decimal("0.10"), Decimal("19.99"), None], pa.decimal128(9, 2))
    assert ask("c + 0.2 = 0.3", c=prices) == [True, False, False]
    assert ask("c * 3 = 59.97", c=prices) == [False, True, False]
    assert ask("c * c = 399.6001", c=prices) == [False, True, False]


@given(number=st.integers(-9, 9), other=st.integers(-9, 9).filter(bool))
def test_the_remainder_has_the_sign_of_what_is_divided(number, other):
    rest = abs(number) % abs(other) * (-1 if number < 0 else 1)
    assert ask(f"c % {other} = {rest}", c=[number]) == [True]
    assert ask(f"{number} % d = {rest}", d=[other]) == [True]
    assert ask(f"{number} % {other} = {rest}", d=[0]) == [True]


def test_lowest_number_has_a_remainder():
    assert ask("c % -1 = 0", c=[-(2**63)]) == [True]


@pytest.mark.parametrize("quotient", ["c / 0", "c / d", "c % d", "c % 0", "1 / 0"])
def test_dividing_by_zero_is_null(quotient):
    assert ask(f"({quotient}) IS NULL", c=[1], d=[0]) == [True]
    assert ask(f"{quotient} = 1 OR {quotient} <> 1", c=[1], d=[0]) == [False]


@pytest.mark.parametrize(
    "condition",
    [
        "c + 1 > 0",
        "c * c > 0",
        "-1 - c - 2 < 0",
        "c / 3 > 0",
        "c * 1e300 > 0",
        "c + f > 0",
        "1e300 * 1e300 * 1e300 * 1e300 * 1e300 > c",
    ],
)
def test_what_overflows_is_refused(condition):
    assert refusal(condition, c=[2**63 - 1], f=[1.5])


def test_precedence_that_differs_between_databases_is_refused():
    for condition in ("7 % 4 * 2 = 6", "1 + 7 % 4 = 4", "8 * 7 % 4 = 0"):
        assert "parentheses around %" in refusal(condition)
    assert ask("(7 % 4) * 2 = 6 AND 1 + (7 % 4) = 4", c=[0]) == [True]


def test_null_is_not_true():
    columns = {"c": [1, 2, None]}
    assert ask("c = NULL", **columns) == [False] * 3
    assert ask("c <> NULL", **columns) == [False] * 3
    assert ask("NULL", **columns) == [False] * 3
    assert ask("NOT c = 1", **columns) == [False, True, False]
    assert ask("c NOT IN (1, NULL)", **columns) == [False] * 3
    assert ask("c IN (1, NULL)", **columns) == [True, False, False]
    assert ask("(c = 1) IS NULL", **columns) == [False, False, True]
    assert ask("c = 1 OR TRUE", **columns) == [True] * 3


def _regex(pattern):
    wild = {"%": ".*", "_": "."}
    return "".join(wild.get(each, re.escape(each)) for each in pattern)


@given(
    pattern=st.text("ab%_\\.\n'é[", max_size=6),
    texts=st.lists(
        st.text("abé.\\\n'[", max_size=5) | st.none(), min_size=1, max_size=6
    ),
)
def test_patterns_mean_what_they_do_in_sql(pattern, texts):
    quoted = pattern.replace("'", "''")
    right = [
        text is not None and re.fullmatch(_regex(pattern), text, re.DOTALL) is not None
        for text in texts
    ]
    column = pa.array(texts, pa.string())
    assert ask(f"c LIKE '{quoted}'", c=column) == right
    assert ask(f"c ILIKE '{quoted.upper()}'", c=column) == right
    assert ask(f"c NOT LIKE '{quoted}'", c=column) == [
        text is not None and not true for text, true in zip(texts, right, strict=True)
    ]


def test_escapes():
    column = ["50%", "50x", "5_%", "!%"]
    assert ask("c LIKE '50!%' ESCAPE '!'", c=column) == [True, False, False, False]
    assert ask("c LIKE '%!%' ESCAPE '!'", c=column) == [True, False, True, True]
    assert ask("c LIKE '!!!%' ESCAPE '!'", c=column) == [False, False, False, True]
    assert ask("c LIKE '5__%' ESCAPE '_'", c=column) == [False, False, True, False]
    assert ask(r"c NOT LIKE '50\%' ESCAPE '\'", c=column) == [False, True, True, True]


DAYS = [datetime.date(2019, 12, 31), datetime.date(2020, 2, 29), None, None]
PEOPLE = pa.table(
    {
        "name": ["Ärger", "ÄRGER", None, "b"],
        "other": ["Ärger", None, None, "c"],
        "day": pa.array(DAYS, pa.date32()),
        "moment": pa.array([0, 86_400 * 10**9 * 365, None, -1], pa.timestamp("ns")),
        "x": [1.5, None, None, 2.0],
        "flag": [True, False, None, None],
        "year": [1, 2, 3, 4],
    }
)
CALLS = (
    "lower(name) = 'ärger'",
    "upper(name) like 'ÄR%'",
    "LOWER(name) in ('b', 'ärger') and not year = 1",
    "lower(name) = lower(other)",
    "year(day) = 2020 and month(day) between 2 and 3",
    "day(day) % 2 = 1",
    "year(moment) > 1970 or year(moment) is null",
    "name is distinct from other",
    "name is not distinct from other",
    "name is distinct from 'b'",
    "x is not distinct from null",
    "x is distinct from 1.5 or year = 1",
    "not (flag is distinct from true)",
    "(x > 1) is distinct from (year > 1)",
)


@pytest.mark.parametrize("condition", CALLS)
def test_functions_find_what_duckdb_finds(condition):
    connection = duckdb.connect()
    connection.register("items", PEOPLE)
    query = f"select ({condition}) is true from items"
    expected = connection.execute(query).fetchall()
    rows = matching_rows(condition, PEOPLE, np.zeros((4, 1), np.uint8), 8)
    assert rows.tolist() == [row[0] for row in expected]


@pytest.mark.parametrize(
    ("condition", "said"),
    [
        ("lower(year) = 'a'", "lower takes text"),
        ("year(name) = 2", "year takes a date"),
        ("lower(name, 2) = 'a'", "lower takes a column"),
        ("lower('A') = 'a'", "lower takes a column"),
        ("name is distinct other", "cannot be read|not supported"),
        ("distinct from name", "cannot be read|not supported"),
    ],
)
def test_other_uses_of_functions_are_refused(condition, said):
    with pytest.raises(ArgumentError, match=said):
        matching_rows(condition, PEOPLE, np.zeros((4, 1), np.uint8), 8)


TAGS = [["a", "b"], [], None, ["b", None], [None], ["a"]]
TYPES = [pa.list_(pa.string()), pa.large_list(pa.large_string())]


@pytest.mark.parametrize("type", TYPES, ids=str)
def test_lists_of_texts(type):
    tags = pa.array(TAGS, type)
    assert ask("list_contains(tags, 'a')", tags=tags) == [1, 0, 0, 0, 0, 1]
    # Whether there is an 'a' is unknown where there is no list.
    assert ask("not array_has(tags, 'a')", tags=tags) == [0, 1, 0, 1, 1, 0]
    some = "array_contains(tags, 'a') or array_contains(tags, 'b')"
    assert ask(f"({some}) and year > 2", tags=tags, year=[*range(6)]) == [
        *(0, 0, 0, 1, 0, 1)
    ]


@given(
    lists=st.lists(
        st.none() | st.lists(st.none() | st.integers(-2, 2), max_size=3), max_size=9
    ),
    start=st.integers(0, 3),
    member=st.integers(-3, 3),
)
def test_lists_of_numbers(lists, start, member):
    table = pa.table({"tags": pa.array(lists, pa.list_(pa.int16()))}).slice(start)
    condition = f"list_contains(tags, {member})"
    query = f"select coalesce({condition}, false) from given"
    expected = duckdb.from_arrow(table).query("given", query).fetchall()
    assert ask_table(condition, table) == [each for (each,) in expected]


def test_lists_of_one_size_and_of_categories():
    pairs = pa.array([[1, 2], None, [3, 1]], pa.list_(pa.int64(), 2))
    assert ask("list_contains(tags, 1.0)", tags=pairs) == [1, 0, 1]
    words = pa.array(["a", "b", "a"]).dictionary_encode()
    tags = pa.ListArray.from_arrays([0, 2, 3], words)
    assert ask("list_contains(tags, 'b')", tags=tags) == [1, 0]


def test_mistakes_about_lists():
    tags = {"tags": pa.array(TAGS), "year": [*range(6)]}
    assert "is not a list" in refusal("list_contains(year, 3)", **tags)
    assert "a member of column 'tags' (list) cannot be compared with the number" in (
        refusal("list_contains(tags, 3)", **tags)
    )
    for wrong in ("(tags)", "('a', tags)", "(tags, year)", "(tags, 'a', 'b')", "()"):
        line = refusal(f"list_contains{wrong}", **tags)
        assert "takes a column and a value, such as list_contains(tags, 'x')" in line

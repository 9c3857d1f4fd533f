"""Columns of lists, such as tags: the rows are those that DuckDB finds."""

import duckdb
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.filters._ask import ask, ask_table, refusal

TAGS = [["a", "b"], [], None, ["b", None], [None], ["a"]]
TYPES = [pa.list_(pa.string()), pa.large_list(pa.large_string())]


@pytest.mark.parametrize("type", TYPES, ids=str)
def test_texts(type):
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
def test_numbers(lists, start, member):
    table = pa.table({"tags": pa.array(lists, pa.list_(pa.int16()))}).slice(start)
    asked = f"list_contains(tags, {member})"
    query = f"select coalesce({asked}, false) from given"
    found = duckdb.from_arrow(table).query("given", query).fetchall()
    assert ask_table(asked, table) == [each for (each,) in found]


def test_lists_of_one_size_and_of_categories():
    pairs = pa.array([[1, 2], None, [3, 1]], pa.list_(pa.int64(), 2))
    assert ask("list_contains(tags, 1.0)", tags=pairs) == [1, 0, 1]
    words = pa.array(["a", "b", "a"]).dictionary_encode()
    tags = pa.ListArray.from_arrays([0, 2, 3], words)
    assert ask("list_contains(tags, 'b')", tags=tags) == [1, 0]


def test_mistakes():
    tags = {"tags": pa.array(TAGS), "year": [*range(6)]}
    assert "is not a list" in refusal("list_contains(year, 3)", **tags)
    assert "a member of column 'tags' (list) cannot be compared with the number" in (
        refusal("list_contains(tags, 3)", **tags)
    )
    for wrong in ("(tags)", "('a', tags)", "(tags, year)", "(tags, 'a', 'b')", "()"):
        line = refusal(f"list_contains{wrong}", **tags)
        assert "takes a column and a value, such as list_contains(tags, 'x')" in line

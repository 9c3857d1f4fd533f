"""Which column a name means."""

import pyarrow as pa
import pytest

from tests.collection.filters._ask import ask, ask_table, refusal

PLACE = [{"City": "A", "geo": {"lat": 1}}, None, {"City": "B", "geo": None}]


@pytest.mark.parametrize(
    "name", ["my column", "a.b", 'say "x"', "日本", "1st", "", "it's", "a`b", "x\ny"]
)
def test_any_name_may_be_quoted(name):
    columns = {name: [1, 2], "other": [2, 1]}
    double, back = name.replace('"', '""'), name.replace("`", "``")
    assert ask(f'"{double}" = 1', **columns) == [True, False]
    assert ask(f"`{back}` = 1", **columns) == [True, False]


@pytest.mark.parametrize(
    "name",
    [
        *("date", "timestamp", "order", "group", "select", "case", "index", "comment"),
        *("show", "describe", "drop", "text", "int", "bit", "interval", "current_date"),
        *("user", "values", "left", "map", "all", "any", "end", "cast", "set", "with"),
        *("collate", "exists", "like_count", "notnull", "from", "type", "Größe", "_1"),
        *("row", "filter", "format", "if", "kill", "div", "xor", "time", "year", "x$"),
    ],
)
def test_a_bare_name_may_be_a_keyword(name):
    assert ask(f"{name} = 1", **{name: [1, 2]}) == [True, False]
    assert ask(f"1 < {name} AND NOT {name} IS NULL", **{name: [1, 2]}) == [False, True]


def test_case_matters_only_where_names_differ_in_it():
    assert ask("YEAR = 1", year=[1]) == [True]
    assert ask("year = 1", year=[1], YEAR=[2], Year=[3]) == [True]
    assert "any of 'Year', 'YEAR'" in refusal("year = 1", Year=[3], YEAR=[2])
    assert "did you mean 'year'" in refusal('"YEAR" = 1', year=[1])
    assert "did you mean 'Größe'" in refusal("`GRÖSSE` = 1", Größe=[1])


def test_fields_of_structs():
    assert ask("place.City = 'A'", place=PLACE) == [True, False, False]
    assert ask("PLACE.city <> 'A'", place=PLACE) == [False, False, True]
    assert ask('"place"."geo"."lat" = 1', place=PLACE) == [True, False, False]
    assert ask("place.geo.lat IS NULL", place=PLACE) == [False, True, True]
    assert ask("place IS NULL", place=PLACE) == [False, True, False]
    assert "no field 'cty'; the fields are 'City', 'geo'" in refusal(
        "place.cty = 1", place=PLACE
    )
    assert "has no field 'a'" in refusal("year.a = 1", year=[1])


def test_a_dot_in_a_name():
    assert ask("a.b = 1", **{"a.b": [1]}) == [True]
    assert "may be a column or a field" in refusal("a.b = 1", **{"a.b": [1], "a": [{}]})
    assert ask("`a.b` = 1", **{"a.b": [1], "a": [2]}) == [True]


def test_unknown_names():
    line = refusal("categry = 'x'")
    assert "no column 'categry' (did you mean 'category'?)" in line
    assert line.endswith("'year', 'category'")
    quoted = ['category = "x"', "category = x", "2 > x", "category BETWEEN x AND 'y'"]
    for condition in quoted:
        assert "a string stands in single quotes: 'x'" in refusal(condition)
    assert "'b' (a string stands in single quotes)" in refusal("category = a b")
    many = {f"column_{number}": [1] for number in range(300)}
    assert len(refusal("quite_other = 1", **many)) < 600


def test_two_columns_of_one_name():
    table = pa.table([[1], [2], [3]], names=["a", "a", "b"])
    assert ask_table("b = 3", table) == [True]
    with pytest.raises(ValueError, match="any of 'a', 'a'"):
        ask_table("a = 1", table)

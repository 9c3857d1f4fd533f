"""Functions of a column and IS DISTINCT FROM find what DuckDB finds."""

import datetime

import duckdb
import numpy as np
import pyarrow as pa
import pytest

from fewbits.errors import ArgumentError
from fewbits.filters import matching_rows

DAYS = [datetime.date(2019, 12, 31), datetime.date(2020, 2, 29), None, None]
TABLE = pa.table(
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
CODES = np.zeros((4, 1), np.uint8)
CONDITIONS = (
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


@pytest.mark.parametrize("condition", CONDITIONS)
def test_finds_what_duckdb_finds(condition):
    connection = duckdb.connect()
    connection.register("items", TABLE)
    query = f"select ({condition}) is true from items"
    expected = connection.execute(query).fetchall()
    found = matching_rows(condition, TABLE, CODES, 8)
    assert found.tolist() == [row[0] for row in expected]


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
def test_other_uses_are_refused(condition, said):
    with pytest.raises(ArgumentError, match=said):
        matching_rows(condition, TABLE, CODES, 8)

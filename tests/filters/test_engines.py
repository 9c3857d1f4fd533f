"""The rows are those that DuckDB and SQLite find."""

from hypothesis import given, settings

from fewbits.filters import matching_rows
from tests.filters._conditions import COMMON, OWN, combined
from tests.filters._oracle import N_BITS, duckdb_rows, rows, sqlite_rows


def found(condition):
    table, codes = rows()
    return matching_rows(condition, table, codes, N_BITS).tolist()


@given(condition=combined(COMMON))
@settings(max_examples=100)
def test_finds_what_sqlite_finds(condition):
    assert found(condition) == sqlite_rows(condition)


@given(condition=combined(COMMON | OWN))
@settings(max_examples=200)
def test_finds_what_duckdb_finds(condition):
    assert found(condition) == duckdb_rows(condition)

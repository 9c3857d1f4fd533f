"""The same rows in DuckDB, which says for which a condition is true."""

from contextlib import suppress
from functools import cache

import duckdb
import pyarrow as pa

from fewbits.codes import unpack
from tests.collection.filters._conditions import CODES, N_BITS, OWN_COLUMNS, TABLE


@cache
def _connection() -> duckdb.DuckDBPyConnection:
    table, bits = TABLE.drop_columns(list(OWN_COLUMNS)), unpack(CODES, N_BITS)
    for bit in range(N_BITS):
        table = table.append_column(f"bit_{bit}", pa.array(bits[:, bit] == 1))
    connection = duckdb.connect()
    for setting in ("ieee_floating_point_ops", "error_on_division_by_zero"):
        with suppress(duckdb.Error):  # releases differ in which they know
            connection.execute(f"SET {setting} = false")
    connection.register("source", table)
    connection.execute("CREATE TABLE items AS SELECT * FROM source")
    return connection


def duckdb_rows(condition: str) -> list[bool]:
    """Return for which rows DuckDB finds a condition true."""
    query = f"SELECT coalesce(({condition}), false) FROM items ORDER BY rowid"
    return [row[0] for row in _connection().execute(query).fetchall()]

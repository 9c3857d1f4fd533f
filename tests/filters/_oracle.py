"""The same rows in DuckDB and SQLite, which say for which a condition is true."""

import datetime as dt
import re
import sqlite3
from contextlib import suppress
from decimal import Decimal
from functools import cache

import duckdb
import numpy as np
import pyarrow as pa

from fewbits.codes import pack, unpack

N_BITS = 11
N_ROWS = 24
INTEGERS = [-7, -2, -1, 0, 1, 2, 3, 5, 2**31, 2**53, 2**53 + 1, -(2**53) - 1, 2**63 - 1]
# No infinity: DuckDB orders the NaN of inf / inf, which IEEE does not.
FLOATS = [-1e300, -2.5, -1.0, -0.0, 0.0, 0.1, 0.3, 1.0, 2.5, 3.0, 1e15]
STRINGS = ["", "a", "A", "ab", "a%", "a_b", "a\nb", "b", "Ä", "ä", "日本", "it's", "\\"]
DECIMALS = [
    Decimal(each) for each in ("-99.99", "-1.50", "0.00", "0.10", "1.50", "2.25")
]
DATES = [dt.date(1899, 12, 31), dt.date(1970, 1, 1), dt.date(2020, 2, 29)]
TIMES = [dt.datetime(1969, 12, 31, 23, 59, 59, 999_999), dt.datetime(2020, 2, 29, 12)]


@cache
def rows() -> tuple[pa.Table, np.ndarray]:
    """Return a table of each kind of column with NULLs, and codes."""
    rng = np.random.default_rng(7)

    def column(values, of, nulls=5):
        chosen = [values[each] for each in rng.integers(len(values), size=N_ROWS)]
        for each in rng.choice(N_ROWS, nulls, replace=False):
            chosen[each] = None
        return pa.array(chosen, of)

    naturals = [0, 1, 2, 3, 2**53 + 1, 2**63, 2**64 - 1]
    table = pa.table(
        {
            "i": column(INTEGERS, pa.int64()),
            "j": column([-3, -1, 0, 1, 2, 3, 100], pa.int32()),
            "u": column(naturals, pa.uint64()),
            "f": column(FLOATS, pa.float64()),
            "s": column(STRINGS, pa.string()),
            "k": column(STRINGS, pa.string()).dictionary_encode(),
            "v": column(STRINGS, pa.large_string()),
            "d": column(DECIMALS, pa.decimal128(6, 2)),
            "p": column([True, False], pa.bool_()),
            "q": column([True, False], pa.bool_(), nulls=0),
            "day": column(DATES, pa.date32()),
            "t": column(TIMES, pa.timestamp("us")),
        }
    )
    return table, pack(rng.integers(0, 2, (N_ROWS, N_BITS)))


@cache
def _duckdb() -> duckdb.DuckDBPyConnection:
    table, codes = rows()
    bits = unpack(codes, N_BITS)
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
    condition = re.sub(r"\bbit\((\d+)\)", r"bit_\1", condition)
    query = f"SELECT coalesce(({condition}), false) FROM items ORDER BY rowid"
    return [row[0] for row in _duckdb().execute(query).fetchall()]


@cache
def _sqlite() -> sqlite3.Connection:
    table, codes = rows()
    names = ["i", "j", "f", "s", "k", "v", "p", "q"]
    bits = unpack(codes, N_BITS).T.tolist()
    connection = sqlite3.connect(":memory:")
    connection.execute("PRAGMA case_sensitive_like = ON")
    kinds = dict.fromkeys(names, "INTEGER") | {"f": "REAL", "s": "TEXT", "k": "TEXT"}
    kinds |= {"v": "TEXT"} | {f"bit_{bit}": "INTEGER" for bit in range(N_BITS)}
    columns = ", ".join(f"{name} {kind}" for name, kind in kinds.items())
    connection.execute(f"CREATE TABLE items ({columns})")
    values = [table[name].to_pylist() for name in names] + bits
    marks = ", ".join("?" * len(values))
    connection.executemany(
        f"INSERT INTO items VALUES ({marks})", zip(*values, strict=True)
    )
    return connection


def sqlite_rows(condition: str) -> list[bool]:
    """Return for which rows SQLite finds a condition true."""
    condition = re.sub(r"\bbit\((\d+)\)", r"bit_\1", condition)
    query = f"SELECT coalesce(({condition}), 0) <> 0 FROM items ORDER BY rowid"
    return [row[0] == 1 for row in _sqlite().execute(query)]

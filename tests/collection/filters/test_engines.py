"""The rows are those that DuckDB finds, and those that Python's own rules find."""

import os
import random

from fewbits.collection.filters import matching_rows
from tests.collection.filters._conditions import CODES, N_BITS, TABLE, draw, rows
from tests.collection.filters._duckdb import duckdb_rows

N_CONDITIONS = 40_000 if os.environ.get("FEWBITS_NIGHTLY") == "1" else 500


def test_random_conditions():
    rng, source = random.Random(0), rows()
    in_duckdb = 0
    for _ in range(N_CONDITIONS):
        condition = draw(rng)
        result = matching_rows(condition.ours, TABLE, CODES, N_BITS).tolist()
        expected = [condition.value(row) is True for row in source]
        assert result == expected, condition.ours
        if condition.duckdb is not None:
            assert result == duckdb_rows(condition.duckdb), condition.ours
            in_duckdb += 1
    assert in_duckdb > 0.6 * N_CONDITIONS

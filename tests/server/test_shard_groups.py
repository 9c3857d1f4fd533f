"""Groups of the hits of several shards."""

import numpy as np
import pyarrow as pa

from fewbits.server._shard_tables import merged_table
from fewbits.server._shards import _best_of_groups

VALUES = [0.0, -0.0, np.nan, -np.nan, 1.0, None, None]


def test_equal_numbers_are_one_group():
    n = len(VALUES)
    table = pa.table(
        {"_query": [0] * n, "_distance": range(n), "f": pa.array(VALUES, pa.float64())}
    )
    found = merged_table([table[:2], table[2:]], 9, "f")
    assert found["_distance"].to_pylist() == [0, 2, 4, 5]
    hits = [{"columns": {"f": value}, "place": i} for i, value in enumerate(VALUES)]
    assert [hit["place"] for hit in _best_of_groups(hits, "f")] == [0, 2, 4, 5]

"""Hits of several shards in one table."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from fewbits.errors import one_line
from fewbits.server._errors import ApiError


def merged_table(tables: Sequence[Any], k: int, group_by: str | None) -> Any:
    """Return the `k` nearest hits of each query.

    Parameters
    ----------
    tables : sequence of pyarrow.Table
        As `hits_table` makes them, in the order of the shards.
    k : int
    group_by : str or None
        A column of which each value may be found once.

    Returns
    -------
    pyarrow.Table
    """
    import pyarrow as pa

    try:
        table = pa.concat_tables(tables, promote_options="default")
    except pa.ArrowException as error:
        raise ApiError(
            502, "shards_differ", f"shards have different columns: {one_line(error)}"
        ) from None
    query, distance = table["_query"].to_numpy(), table["_distance"].to_numpy()
    # Stable, so that equal distances stay in the order of shards, then of their rows.
    order = np.lexsort((distance, query))
    table = table.take(pa.array(order))
    if group_by is not None:
        table = table.filter(pa.array(_first_of_groups(table, group_by), pa.bool_()))
    query = table["_query"].to_numpy()
    place = np.arange(len(query)) - np.searchsorted(query, query)
    return table.filter(pa.array(place < k))


def group_key(value: Any) -> str:
    """Return what is equal for values of one group, such as 0.0 and -0.0, or NaN."""
    return repr(value + 0.0 if isinstance(value, float) else value)


def _first_of_groups(table: Any, name: str) -> list[bool]:
    seen: set[tuple[int, str]] = set()
    first = []
    pairs = zip(table["_query"].to_pylist(), table[name].to_pylist(), strict=True)
    for query, value in pairs:
        key = query, group_key(value)
        first.append(key not in seen)
        seen.add(key)
    return first

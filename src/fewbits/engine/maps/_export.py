"""Items of a map as a table: places, neighbours and the user's columns."""

from typing import Any

import numpy as np

from fewbits._typing import IdArray
from fewbits.bundle import Bundle
from fewbits.engine.maps._collection_map import CollectionMap
from fewbits.errors import ArgumentError

#: Comparisons of codes that an export may take: some seconds.
_MOST = 5_000_000_000


def map_table(
    bundle: Bundle, found: CollectionMap, rows: IdArray, *, n_neighbours: int = 10
) -> Any:
    """Return items of the map as a table.

    Parameters
    ----------
    bundle : Bundle
    found : CollectionMap
        Of its collection.
    rows : ndarray of shape (n,), dtype int64
        Places of the items in the collection.
    n_neighbours : int, default=10
        Nearest items of the whole collection to list for each; 0 for none.

    Returns
    -------
    pyarrow.Table
        ``_id``, ``_x`` and ``_y``, null of items that are not on the map,
        ``_neighbours``, a list of ids for each, ``_distances``, those in bits, and the
        user's columns.

    Raises
    ------
    ArgumentError
        When there is no such row, or neighbours of so many would take too long.
    """
    import pyarrow as pa

    items = bundle.collection
    rows = np.asarray(rows, np.int64)
    if rows.size and not (rows.min() >= 0 and rows.max() < len(items)):
        raise ArgumentError(f"rows are from 0 to {len(items) - 1}")
    points = found.points_of(rows)
    table = pa.table({"_id": pa.array(items.ids_at(rows).tolist(), items.id_type)})
    for i, name in enumerate(("_x", "_y")):
        values = found.places[points.clip(0), i]
        table = table.append_column(name, pa.array(values, mask=points < 0))
    if n_neighbours:
        for name, column in _neighbours(bundle, rows, n_neighbours).items():
            table = table.append_column(name, column)
    kept = items.table_at(rows)
    for name in items.columns:
        table = table.append_column(kept.schema.field(name), kept[name])
    return table


def _neighbours(bundle: Bundle, rows: IdArray, k: int) -> dict[str, Any]:
    import pyarrow as pa

    items = bundle.collection
    if len(rows) * len(items) > _MOST:
        raise ArgumentError(
            f"neighbours of {len(rows):,} among {len(items):,} items take too long: "
            f"choose at most {_MOST // len(items):,} items, or leave them out "
            "(neighbours=0)"
        )
    k = min(k, len(items) - 1)
    near = bundle.search_rows_by_code(items.codes_at(rows), k + 1)
    others = near.rows != rows[:, None]
    others[others.all(axis=1), -1] = False  # its own row is beyond ties
    ids = items.ids_at(near.rows[others]).tolist()
    ends = pa.array(np.arange(len(rows) + 1) * k, pa.int32())
    return {
        "_neighbours": pa.ListArray.from_arrays(ends, pa.array(ids, items.id_type)),
        "_distances": pa.ListArray.from_arrays(
            ends, pa.array(near.distances[others].astype(np.int32))
        ),
    }

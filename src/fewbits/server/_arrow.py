"""Answers as Arrow tables."""

from typing import Any

import numpy as np

from fewbits._typing import IdArray
from fewbits.bundle import Bundle


def hits_table(
    bundle: Bundle, query: IdArray, rows: IdArray, columns: Any, **measured: Any
) -> Any:
    """Return one line for each hit: ``_query``, ``_id``, measures, the user's columns.

    Parameters
    ----------
    bundle : Bundle
    query, rows : ndarray of shape (n_hits,)
        Number of the query, and row of the collection.
    columns : sequence of str or None
        Of the user's; None for all.
    **measured : ndarray of shape (n_hits,)
    """
    import pyarrow as pa

    items = bundle.collection
    ids = pa.array(items.ids_at(rows).tolist(), items.id_type)
    own = {"_query": pa.array(query.astype(np.int32)), "_id": ids}
    own |= {f"_{name}": pa.array(values) for name, values in measured.items()}
    table = pa.table(own)
    names = items.checked_columns(columns)
    if names:
        kept = items.table_at(rows, names)
        for name in names:
            table = table.append_column(kept.schema.field(name), kept[name])
    return table


def items_table(bundle: Bundle, rows: IdArray) -> Any:
    """Return ``_id``, ``_code`` and the user's columns of some rows."""
    import pyarrow as pa

    items = bundle.collection
    ids = pa.array(items.ids_at(rows).tolist(), items.id_type)
    codes = pa.array([code.tobytes() for code in items.codes_at(rows)], pa.binary())
    table, kept = pa.table({"_id": ids, "_code": codes}), items.table_at(rows)
    for name in items.columns:
        table = table.append_column(kept.schema.field(name), kept[name])
    return table

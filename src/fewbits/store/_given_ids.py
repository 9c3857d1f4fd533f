"""Ids as a writer is given them: of the type that the store has, each once."""

from typing import Any

import numpy as np

from fewbits._arrow import repeated
from fewbits.errors import ArgumentError
from fewbits.store._ids import are_dense, keys_of


def as_ids(ids: Any, kind: Any) -> Any:
    """Return ids as one Arrow array of the type that a store has.

    Raises
    ------
    ArgumentError
        When they are of another kind.
    """
    import pyarrow as pa

    from fewbits._arrow import as_column, is_column, is_integer, is_text

    if not is_column(ids):
        array = np.asarray(ids)
        ids = array.tolist() if array.dtype.kind in "OUT" or not len(array) else array
    column = as_column(ids)
    fits = is_integer(column.type) if kind == pa.int64() else is_text(column.type)
    if len(column) and not fits:
        named = "whole numbers" if kind == pa.int64() else "texts"
        raise ArgumentError(
            f"the ids of this collection are {named}, got {column.type}"
        )
    if column.null_count:
        raise ArgumentError("an id is missing")
    try:
        column = column.cast(kind)
    except pa.ArrowException:
        raise ArgumentError("ids must lie between 0 and 2**63 - 1") from None
    return column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column


def checked_ids(ids: Any) -> Any:
    """Return ids, none of which is negative."""
    if ids.type == "int64" and len(ids):
        lowest = int(ids.to_numpy().min())
        if lowest < 0:
            raise ArgumentError(f"ids must lie between 0 and 2**63 - 1, got {lowest}")
    return ids


def check_once(ids: Any) -> None:
    """Raise when an id is there twice."""
    import pyarrow as pa

    keys = keys_of(ids)
    if are_dense(keys):
        return
    ordered = np.sort(keys)
    twice = ordered[1:][ordered[1:] == ordered[:-1]]
    if not len(twice):
        return
    # Texts with one key may differ.
    found = repeated(ids.filter(pa.array(np.isin(keys, twice))))
    if found is not None:
        raise ArgumentError(f"id {found[0]!r} is given {found[1]} times")

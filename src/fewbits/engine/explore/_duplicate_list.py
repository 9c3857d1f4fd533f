"""All groups of duplicates as a list: which item of each group to keep."""

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fewbits._typing import IdArray
from fewbits.bundle import Bundle
from fewbits.engine.explore._duplicate_groups import (
    DuplicateGroupsRequest,
    largest_first,
)

_LINES = 10_000  # of a table


def duplicate_list(
    bundle: Bundle, request: DuplicateGroupsRequest, keep: Any = ()
) -> Iterator[Any]:
    """Return an iterator over tables with a line for each duplicate.

    Parameters
    ----------
    bundle : Bundle
        With a collection.
    request : DuplicateGroupsRequest
        Its `max_groups` is not looked at: all groups are listed, the largest first.
    keep : array-like of int or str, default=()
        Ids of items to keep. In groups without one the first item is kept.

    Yields
    ------
    pyarrow.Table
        ``_id``, ``_group`` from 1 on, ``_decision`` ("keep" or "remove"),
        ``_distance``, the bits in which the code differs from that of the item of the
        group to keep, and the user's columns.

    Raises
    ------
    ArgumentError
        As `fewbits.bundle.Bundle.duplicate_groups`, or when there is no such item.

    Examples
    --------
    >>> import numpy as np
    >>> from fewbits.bundle import Bundle
    >>> from fewbits.encoders import LinearEncoder
    >>> bundle = Bundle(LinearEncoder(np.eye(2), np.zeros(2)))
    >>> bundle = bundle.with_items([[1, 1], [1, -1], [2, 2]])
    >>> (table,) = duplicate_list(bundle, DuplicateGroupsRequest(0), keep=[2])
    >>> table["_id"].to_pylist(), table["_decision"].to_pylist()
    ([0, 2], ['remove', 'keep'])
    """
    kept = bundle.collection.rows(keep) if len(keep) else np.empty(0, np.int64)
    found = request.groups(bundle)
    groups = [found[number] for number in largest_first(found)]
    return _tables(bundle, groups, kept)


def _tables(bundle: Bundle, groups: list[IdArray], kept: IdArray) -> Iterator[Any]:
    ends = np.cumsum([0, *map(len, groups)])
    start = 0
    while start < len(groups):
        end = int(np.searchsorted(ends, ends[start] + _LINES))
        end = min(max(end, start + 1), len(groups))
        yield _table(bundle, groups[start:end], start, kept)
        start = end
    if not groups:
        yield _table(bundle, [], 0, kept)


def _table(
    bundle: Bundle, groups: Sequence[IdArray], number: int, kept: IdArray
) -> Any:
    import pyarrow as pa

    items = bundle.collection
    sizes = np.array([len(each) for each in groups], np.int64)
    rows = np.concatenate([np.empty(0, np.int64), *groups])
    starts = np.cumsum(sizes) - sizes
    is_kept = _is_kept(rows, starts, kept)
    origins = np.repeat(rows[is_kept], sizes)
    differing = np.bitwise_count(items.codes_at(rows) ^ items.codes_at(origins))
    decisions = np.where(is_kept, "keep", "remove")
    table = pa.table(
        {
            "_id": pa.array(items.ids_at(rows).tolist(), items.id_type),
            "_group": np.repeat(np.arange(len(groups)) + number + 1, sizes),
            "_decision": pa.array(decisions.tolist(), pa.string()),
            "_distance": differing.sum(axis=1, dtype=np.int64),
        }
    )
    own = items.table_at(rows)
    for name in items.columns:
        table = table.append_column(own.schema.field(name), own[name])
    return table


def _is_kept(rows: IdArray, starts: IdArray, kept: IdArray) -> NDArray[np.bool_]:
    """Return a mask with one item of each group: the first of those chosen, or of all.

    Rows of a group follow each other from its start on.
    """
    found = np.zeros(len(rows), bool)
    if not len(rows):
        return found
    places = np.arange(len(rows))
    chosen = np.where(np.isin(rows, kept), places, len(rows))
    first = np.minimum.reduceat(chosen, starts)
    found[np.where(first < len(rows), first, starts)] = True
    return found

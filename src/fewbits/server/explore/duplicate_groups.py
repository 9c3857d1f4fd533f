"""Groups of near duplicates: the largest of them, and all as a list."""

from collections.abc import Iterator
from typing import Any

import numpy as np

from fewbits._typing import IdArray
from fewbits.codes import pair_distances
from fewbits.collection import Collection, DuplicateGroups, tools
from fewbits.server.explore._items import records
from fewbits.store import ID

_LINES = 10_000  # of a table


def largest_groups(
    collection: Collection,
    groups: DuplicateGroups,
    *,
    max_groups: int = 50,
    max_items: int | None = None,
) -> dict[str, Any]:
    """Count groups of near duplicates, and show the largest.

    Returns
    -------
    dict
        ``n_groups``, ``n_items`` and ``n_pairs`` of all groups; of those that are shown
        the ``sizes``, and as ``groups`` their first items in the order of the
        collection: ``id``, ``distance``, the bits in which its code differs from that
        of the first, and ``columns``.
    """
    largest = _largest_first(groups)[:max_groups]
    answers = []
    for members in largest:
        members = members[:max_items]
        codes = np.ascontiguousarray(collection.codes[members])
        first = np.repeat(codes[:1], len(codes), axis=0)
        items = records(collection, members)
        for item, distance in zip(items, pair_distances(codes, first), strict=True):
            item["distance"] = int(distance)
        answers.append(items)
    return {
        "n_groups": len(groups),
        "n_items": len(groups.ids),
        "n_pairs": groups.n_pairs,
        "groups": answers,
        "sizes": [len(members) for members in largest],
    }


def _largest_first(groups: DuplicateGroups) -> list[IdArray]:
    """Return the positions of the items of each group, the largest group first."""
    members = np.split(groups.positions, groups.offsets[1:-1]) if len(groups) else []
    order = np.argsort(-np.diff(groups.offsets), kind="stable").tolist()
    return [members[number] for number in order]


def duplicate_list(
    collection: Collection, groups: DuplicateGroups, keep: Any = ()
) -> Iterator[Any]:
    """Return an iterator over tables with a line for each duplicate, to clean up by.

    Of ``_id``, ``_group`` from 1 on, the largest first, ``_decision`` ("keep" or
    "remove"), ``_distance``, the bits in which the code differs from that of the item
    of the group to keep, and the user's columns. In groups without an item that is to
    `keep`, the first one is.
    """
    # Before the first table is asked for, so that an unknown id is refused.
    to_keep = (
        tools.positions_of(collection, keep) if len(keep) else np.empty(0, np.int64)
    )
    parts = _largest_first(groups)
    ends = np.cumsum([0, *map(len, parts)])

    def tables() -> Iterator[Any]:
        start = 0
        while start < len(parts) or start == 0:
            end = int(np.searchsorted(ends, ends[start] + _LINES))
            end = min(max(end, start + 1), len(parts))
            yield _table(collection, parts[start:end], start, to_keep)
            start = max(end, 1)

    return tables()


def _table(
    collection: Collection, groups: list[IdArray], number: int, to_keep: IdArray
) -> Any:
    import pyarrow as pa

    sizes = np.array([len(members) for members in groups], np.int64)
    positions = np.concatenate([np.empty(0, np.int64), *groups])
    is_kept = np.zeros(len(positions), np.bool_)
    if len(positions):  # the first of those chosen, or of all
        starts = np.cumsum(sizes) - sizes
        places, n = np.arange(len(positions)), len(positions)
        candidates = np.where(np.isin(positions, to_keep), places, n)
        first = np.minimum.reduceat(candidates, starts)
        is_kept[np.where(first < n, first, starts)] = True
    codes = collection.codes
    origins = np.repeat(positions[is_kept], sizes)
    differing = np.bitwise_count(codes[positions] ^ codes[origins])
    items = tools.take(collection, positions)
    table = pa.table(
        {
            ID: items[collection.id_name],
            "_group": np.repeat(np.arange(len(groups)) + number + 1, sizes),
            "_decision": pa.array(np.where(is_kept, "keep", "remove"), pa.string()),
            "_distance": differing.sum(axis=1, dtype=np.int64),
        }
    )
    for name in collection.columns:
        table = table.append_column(items.schema.field(name), items[name])
    return table

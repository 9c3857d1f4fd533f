"""Which items of a collection are given as examples."""

import os
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from fewbits.bundle._attributes import RAW_COLUMNS

if TYPE_CHECKING:
    from fewbits.bundle._bundle import Bundle


def same_items(bundle: "Bundle", given: Sequence[Any]) -> list[int]:
    """Return the ids of the items of a collection that are the same as raw ones.

    Parameters
    ----------
    bundle : Bundle
    given : sequence of str or Path
        Texts that a column ``text`` is searched for, or images for a column ``path``;
        for vectors, and where there is no such column, the answer is empty.
    """
    items = bundle.collection
    raw = RAW_COLUMNS.get(bundle.item_kind)
    if not given or raw not in items.columns:
        return []
    as_written = os.path.abspath if raw == "path" else str
    wanted = {as_written(item) for item in given}
    known = items.column(str(raw)).tolist()
    ids = items.ids.tolist()
    return [i for i, item in zip(ids, known, strict=True) if as_written(item) in wanted]

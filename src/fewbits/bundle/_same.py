"""Which items of a collection are given as examples."""

import os
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from fewbits.bundle._attributes import RAW_COLUMNS

if TYPE_CHECKING:
    from fewbits.bundle._bundle import Bundle
    from fewbits.bundle._items import Items


def same_items(bundle: "Bundle", given: Sequence[Any]) -> list[int]:
    """Return the ids of the items of a collection that are the same as raw ones.

    Parameters
    ----------
    bundle : Bundle
    given : sequence of str, Path or vectors
        Texts that a column ``text`` is searched for, or images for a column ``path``;
        vectors for those that are kept. Where these are not, the answer is empty.
    """
    items = bundle.collection
    if bundle.item_kind == "vectors":
        return _same_vectors(items, given)
    raw = RAW_COLUMNS.get(bundle.item_kind)
    if not given or raw not in items.columns:
        return []
    as_written = os.path.abspath if raw == "path" else str
    wanted = {as_written(item) for item in given}
    known = items.column(str(raw)).tolist()
    ids = items.ids.tolist()
    return [i for i, item in zip(ids, known, strict=True) if as_written(item) in wanted]


def _same_vectors(items: "Items", given: Sequence[Any]) -> list[int]:
    """Return the ids of the items that were the same before they were rounded."""
    if items.vectors is None or not len(given):
        return []
    dtype = items.vectors.dtype
    wanted = {np.asarray(vector).astype(dtype).tobytes() for vector in given}
    pairs = zip(items.ids.tolist(), items.vectors, strict=True)
    return [i for i, vector in pairs if vector.tobytes() in wanted]

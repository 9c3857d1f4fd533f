"""Which items of a collection are given as examples."""

import os
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from fewbits._typing import CodeArray, IdArray
from fewbits.bundle._attributes import RAW_COLUMNS

if TYPE_CHECKING:
    from fewbits.bundle._bundle import Bundle


def same_rows(bundle: "Bundle", given: Sequence[Any], codes: CodeArray) -> IdArray:
    """Return the rows of a collection whose items are the same as raw ones.

    Parameters
    ----------
    bundle : Bundle
    given : sequence of str, Path or vectors
        Texts, looked for in a column ``text``, or images, in a column ``path``; vectors
        among those that are kept, as they were before they were rounded. Where these
        are not, the answer is empty.
    codes : ndarray of shape (n, n_bytes), dtype uint8
        Those of `given`: other items cannot be the same.
    """
    items, kind = bundle.collection, bundle.item_kind
    raw = RAW_COLUMNS.get(kind, "")
    known = items.vectors is not None if kind == "vectors" else raw in items.columns
    if not known or not len(codes):
        return np.empty(0, np.int64)
    rows = np.flatnonzero(np.isin(_keys(items.codes), _keys(codes)))
    if items.vectors is not None and kind == "vectors":
        dtype = items.vectors.dtype
        vectors = {np.asarray(vector).astype(dtype).tobytes() for vector in given}
        same = [items.vectors[row].tobytes() in vectors for row in rows.tolist()]
    else:
        written = os.path.abspath if raw == "path" else str
        wanted = {written(item) for item in given}
        same = [written(item) in wanted for item in items.column(raw, rows)]
    return rows[np.array(same, np.bool_)]


def _keys(codes: CodeArray) -> NDArray[np.uint64]:
    """Return the first 8 bytes of each code as a number."""
    first = np.zeros((len(codes), 8), np.uint8)
    first[:, : codes.shape[1]] = codes[:, :8]
    return first.view(np.uint64)[:, 0]

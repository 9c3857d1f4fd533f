"""Search for the items of a collection that are given as examples."""

import os
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fewbits._typing import CodeArray, IdArray
from fewbits.bundle._collection import CollectionMixin
from fewbits.index import Int8Vectors


def same_rows(
    bundle: CollectionMixin, given: Sequence[Any], codes: CodeArray
) -> IdArray:
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
    raw = bundle.raw_column
    known = items.vectors is not None if kind == "vectors" else raw in items.columns
    if not known or not len(codes):
        return np.empty(0, np.int64)
    rows = np.flatnonzero(np.isin(_keys(items.codes), _keys(codes)))
    if kind == "vectors":
        same = _same_vectors(bundle, given, rows)
    else:
        written = os.path.abspath if kind == "images" else str
        wanted = {written(item) for item in given}
        same = [written(item) in wanted for item in items.column(str(raw), rows)]
    return rows[np.array(same, np.bool_)]


def _same_vectors(
    bundle: CollectionMixin, given: Sequence[Any], rows: IdArray
) -> list[bool]:
    """Return for each row whether one of the vectors is kept as it is."""
    items = bundle.collection
    kept = items.some_vectors(rows)
    assert kept is not None
    if items.vector_form == "int8":
        asked = Int8Vectors.from_vectors(np.asarray(given)).to_float()
    else:
        asked = np.asarray(given).astype(kept.dtype)
    # Of zeros there are two, which differ in their bytes only: + 0 makes them one.
    vectors = {(row + 0).tobytes() for row in asked}
    return [(row + 0).tobytes() in vectors for row in kept]


def _keys(codes: CodeArray) -> NDArray[np.uint64]:
    """Return the first 8 bytes of each code as a number."""
    first = np.zeros((len(codes), 8), np.uint8)
    first[:, : codes.shape[1]] = codes[:, :8]
    return first.view(np.uint64)[:, 0]

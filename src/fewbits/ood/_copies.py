"""Rows that are copies of others, which are left out together."""

from typing import Any

import numpy as np

from fewbits._typing import IdArray


def identical_rows(X: Any) -> IdArray:
    """Return the number of the group of each row: equal ones, in float32, share it.

    Groups are numbered in the order of their first rows.
    """
    rows = np.ascontiguousarray(X, dtype=np.float32) + np.float32(0)  # -0 equals 0
    known: dict[bytes, int] = {}
    numbers = [known.setdefault(row.tobytes(), len(known)) for row in rows]
    return np.array(numbers, np.int64)


def copies(X: Any, groups: IdArray | None) -> IdArray:
    """Return the number of the group of each row, of given ones and identical rows.

    Groups that hold the same row are one.
    """
    same = identical_rows(X)
    if groups is None:
        return same
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    n = int(same.max()) + 1
    ends = same, n + groups
    size = n + int(groups.max()) + 1
    graph = coo_array((np.ones(len(same), np.int8), ends), shape=(size, size))
    numbers = connected_components(graph, directed=False)[1][same]
    return np.unique(numbers, return_inverse=True)[1].astype(np.int64, copy=False)

"""The best item of each group."""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from fewbits._typing import IdArray
from fewbits.bundle._hits import FoundRows

Search = Callable[[IdArray, int], FoundRows]
Groups = Callable[[IdArray], IdArray]
_AT_FIRST = 4  # times as many items are looked at as groups are wanted


def best_of_groups(
    search: Search, groups: Groups, shape: tuple[int, int], most: int
) -> FoundRows:
    """Return the `k` nearest groups of each query, each by its nearest item.

    Parameters
    ----------
    search : callable
        Called with (queries, wanted), the numbers of some queries; returns the nearest
        rows of each, nearest first.
    groups : callable
        Called with rows; returns a number for the group of each, equal for equal ones.
    shape : (n_queries, k)
    most : int
        How many rows can be found.

    Returns
    -------
    FoundRows
        Padded by rows of -1 where there are fewer groups.
    """
    n_queries, k = shape
    rows = np.full(shape, -1, np.int64)
    distances: NDArray[np.generic] | None = None
    metric, wanted = "", min(most, _AT_FIRST * k)
    left = np.arange(n_queries)
    while distances is None or left.size:
        found = search(left, wanted)
        if distances is None:
            metric, far = found.metric, _far(found.distances.dtype)
            distances = np.full(shape, far, found.distances.dtype)
        enough = np.zeros(len(left), np.bool_)
        numbers = np.full(found.rows.shape, -1, np.int64)
        numbers[found.rows >= 0] = groups(found.rows[found.rows >= 0])
        for place, query in enumerate(left):
            first = _first_of_each(numbers[place], k)
            enough[place] = len(first) == k
            rows[query, : len(first)] = found.rows[place][first]
            distances[query, : len(first)] = found.distances[place][first]
        if wanted >= most:
            break
        left, wanted = left[~enough], min(most, 2 * wanted)
    return FoundRows(distances, rows, metric)


def _first_of_each(groups: IdArray, k: int) -> IdArray:
    """Return the places of the first of each of `k` groups, in their order.

    Nothing was found where the number of the group is -1, which is at the end.
    """
    own = groups[groups >= 0]
    return np.sort(np.unique(own, return_index=True)[1])[:k]


def _far(dtype: np.dtype[np.generic]) -> float:
    return np.inf if dtype.kind == "f" else -1

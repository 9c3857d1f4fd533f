"""The best item of each group."""

from collections.abc import Callable, Iterator

import numpy as np
from numpy.typing import NDArray

from fewbits._spans import spans
from fewbits._typing import IdArray
from fewbits.bundle._hits import FoundRows

Mask = NDArray[np.bool_] | None
Search = Callable[[IdArray, int, Mask], FoundRows]
_LOOKED_AT = (4, 16, 64)  # times as many items as groups are wanted, one after another
_HITS = 1 << 19  # that are held at a time
#: Groups are searched one by one where there are no more, and no more a query.
_MOST_ALONE, _MOST_A_QUERY = 2048, 8


class GroupSearch:
    """Finds the `k` nearest groups of each query, each by its nearest item.

    Parameters
    ----------
    search : callable
        Called with (queries, wanted, mask), the numbers of some queries; returns the
        nearest rows of each that the mask allows, nearest first.
    numbers : ndarray of shape (n_rows,)
        The group of each row, from 0 on.
    mask : ndarray of shape (n_rows,) or None
        The rows that may be found.
    shape : (n_queries, k)
    """

    def __init__(
        self,
        search: Search,
        numbers: NDArray[np.int32],
        mask: Mask,
        shape: tuple[int, int],
    ) -> None:
        self._search, self._numbers, self._mask = search, numbers, mask
        sizes = np.bincount(numbers if mask is None else numbers[mask])
        self._groups = np.flatnonzero(sizes)
        self._n_rows = max(1, int(sizes.sum()))
        # There are no more groups than those with rows that may be found.
        self._goal = min(shape[1], len(self._groups))
        self._counts = np.zeros(shape[0], np.int64)
        none = search(np.empty(0, np.int64), 1, mask)
        far = np.inf if none.distances.dtype.kind == "f" else -1
        distances = np.full(shape, far, none.distances.dtype)
        self._found = FoundRows(distances, np.full(shape, -1, np.int64), none.metric)

    def nearest(self) -> FoundRows:
        """Return the groups of a search whose first rows do not depend on `wanted`.

        Returns
        -------
        FoundRows
            Padded by rows of -1 where there are fewer groups.
        """
        left = np.flatnonzero(self._counts < self._goal)
        wanted = 0
        for times in _LOOKED_AT:
            if not left.size or wanted >= len(self._groups):
                break
            wanted = min(self._n_rows, times * self._found.rows.shape[1])
            left = self._looked_anew(left, wanted)
        if len(self._groups) <= min(_MOST_A_QUERY * len(left), _MOST_ALONE):
            self._take_each_group(left)
        else:
            self._take_other_groups(left, wanted)
        return self._found

    def ranked_again(self) -> FoundRows:
        """Return the groups of a search whose answers get better with `wanted`.

        It doubles until `k` groups are found, or all that may be.
        """
        left, k = np.flatnonzero(self._counts < self._goal), self._found.rows.shape[1]
        wanted = _LOOKED_AT[0] * k
        while left.size:
            left = self._looked_anew(left, min(self._n_rows, wanted))
            wanted *= 2
        return self._found

    def _looked_anew(self, queries: IdArray, wanted: int) -> IdArray:
        """Find groups of queries, and return those that lack some."""
        self._counts[queries] = 0
        self._look(queries, wanted, self._mask)
        return self._lacking(queries)

    def _lacking(self, queries: IdArray) -> IdArray:
        return queries[self._counts[queries] < self._goal]

    def _look(self, queries: IdArray, wanted: int, mask: Mask) -> None:
        for part in spans(len(queries), _HITS // wanted):
            found = self._search(queries[part], wanted, mask)
            numbers = np.where(found.rows < 0, -1, self._numbers[found.rows])
            query, place = np.nonzero(_first_of_each(numbers))
            own = queries[part][query]
            # Behind the groups that were found before.
            to = self._counts[own] + np.arange(len(own)) - np.searchsorted(query, query)
            kept = to < self._goal
            own, to, at = own[kept], to[kept], (query[kept], place[kept])
            self._found.rows[own, to] = found.rows[at]
            self._found.distances[own, to] = found.distances[at]
            np.add.at(self._counts, own, 1)

    def _take_each_group(self, queries: IdArray) -> None:
        """Search each group by itself, for some queries at a time."""
        for part in spans(len(queries), _HITS // max(1, len(self._groups))):
            some = queries[part]
            shape = len(some), len(self._groups)
            rows = np.empty(shape, np.int64)
            distances = np.empty(shape, self._found.distances.dtype)
            for place, group in enumerate(self._groups.tolist()):
                found = self._search(some, 1, self._allowed(self._numbers == group))
                rows[:, place] = found.rows[:, 0]
                distances[:, place] = found.distances[:, 0]
            best = np.lexsort((rows, distances))[:, : self._goal]
            self._found.rows[some, : self._goal] = np.take_along_axis(rows, best, 1)
            self._found.distances[some, : self._goal] = np.take_along_axis(
                distances, best, 1
            )

    def _take_other_groups(self, queries: IdArray, wanted: int) -> None:
        """Search without the rows of the groups that were found, again and again."""
        while queries.size:
            for alike in self._with_equal_groups(queries):
                other = np.ones(int(self._groups[-1]) + 1, np.bool_)
                first = alike[0]
                found = self._found.rows[first, : self._counts[first]]
                other[self._numbers[found]] = False
                self._look(alike, wanted, self._allowed(self._among(other)))
            queries = self._lacking(queries)

    def _among(self, groups: NDArray[np.bool_]) -> NDArray[np.bool_]:
        # Groups beyond have no row that may be found.
        return groups[np.minimum(self._numbers, len(groups) - 1)]

    def _allowed(self, rows: NDArray[np.bool_]) -> NDArray[np.bool_]:
        return rows if self._mask is None else rows & self._mask

    def _with_equal_groups(self, queries: IdArray) -> Iterator[IdArray]:
        """Yield queries that have found the same groups, together."""
        alike: dict[bytes, list[int]] = {}
        for query in queries.tolist():
            rows = self._found.rows[query, : self._counts[query]]
            groups = np.sort(self._numbers[rows])
            alike.setdefault(groups.tobytes(), []).append(query)
        return (np.array(some, np.int64) for some in alike.values())


def _first_of_each(groups: IdArray) -> NDArray[np.bool_]:
    """Return where each group of a row comes first; -1 is none."""
    order = np.argsort(groups, axis=1, kind="stable")
    ordered = np.take_along_axis(groups, order, axis=1)
    first = ordered >= 0
    first[:, 1:] &= ordered[:, 1:] != ordered[:, :-1]
    places = np.empty_like(first)
    np.put_along_axis(places, order, first, axis=1)
    return places

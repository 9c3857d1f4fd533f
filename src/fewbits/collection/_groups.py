"""The nearest item of each group: of the items with the same value in a column."""

from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from fewbits._spans import spans
from fewbits._typing import IdArray
from fewbits.collection._rows import Mask, Rows

_FEWEST, _MOST = 4, 64  # items that are ranked for a group
_HITS = 1 << 19  # that are held at a time

#: Returns distances and rows of the nearest items of some queries, which are given by
#: number, in as many columns as are asked for; a row of -1 is none.
Ranking: TypeAlias = Callable[[IdArray, int, Mask | None], tuple[NDArray[Any], IdArray]]


class GroupSearch:
    """Searches for the nearest item of each of the nearest groups.

    `groups` has the number of the group of each position.
    """

    def __init__(
        self, rows: Rows, groups: NDArray[np.int32], ranking: Ranking, is_hamming: bool
    ) -> None:
        self._rows, self._groups, self._ranking = rows, groups, ranking
        self._is_hamming = is_hamming
        self._last_group = int(groups.max(initial=0))

    def nearest(
        self, queries: IdArray, k: int, mask: Mask | None
    ) -> tuple[NDArray[Any], IdArray]:
        """Return distances and rows (n_queries, k) of the nearest groups, padded.

        The nearest items are ranked, more of them for queries that have too few groups
        among them. By Hamming distance, later items are those of other groups alone.
        """
        groups = self._groups
        group_sizes = np.bincount(groups if mask is None else groups[mask])
        n_groups, n_items = int((group_sizes > 0).sum()), int(group_sizes.sum())
        if self._is_hamming and n_groups > 1 and group_sizes.max() > n_items // 2:
            return self._by_largest(queries, k, mask, int(group_sizes.argmax()))
        answer = _Answer(len(queries), k, min(k, n_groups), self._is_hamming)
        n_ranked = min(n_items, _FEWEST * k)
        lines = answer.lines_to_fill(np.arange(len(queries)))
        while lines.size:
            answer.n_groups[lines] = 0  # of a longer shortlist, nearer items may come
            self._fill(answer, lines, queries, n_ranked, mask)
            lines = answer.lines_to_fill(lines)
            if self._is_hamming and n_ranked >= min(_MOST * k, n_groups):
                break
            n_ranked = min(n_items, n_ranked * (4 if self._is_hamming else 2))
        while lines.size:
            for alike in answer.with_equal_groups(lines):
                others = overlap(self._not_of(answer.groups_of(alike[0])), mask)
                self._fill(answer, alike, queries, n_ranked, others)
            lines = answer.lines_to_fill(lines)
        return answer.distances, answer.rows

    def _by_largest(
        self, queries: IdArray, k: int, mask: Mask | None, largest: int
    ) -> tuple[NDArray[Any], IdArray]:
        """Return what `nearest` does, where one group has most of the items.

        The nearest items are nearly all of it, so it is searched by itself.
        """
        is_largest = self._groups == largest
        others = self.nearest(queries, k, overlap(~is_largest, mask))
        first = self._ranking(queries, 1, overlap(is_largest, mask))
        distances = np.concatenate([others[0], first[0]], axis=1)
        rows = np.concatenate([others[1], first[1]], axis=1)
        far = np.where(rows < 0, np.iinfo(np.int32).max, distances)
        best = np.lexsort((rows, far))[:, :k]
        return np.take_along_axis(distances, best, 1), np.take_along_axis(rows, best, 1)

    def _fill(
        self,
        answer: "_Answer",
        lines: IdArray,
        queries: IdArray,
        n_ranked: int,
        mask: Mask | None,
    ) -> None:
        """Add the groups of the nearest items of a mask to lines of the answer."""
        for span in spans(len(lines), _HITS // n_ranked):
            block = lines[span]
            distances, rows = self._ranking(queries[block], n_ranked, mask)
            positions = self._rows.positions_of(np.maximum(rows, 0))
            groups = self._groups[np.minimum(positions, len(self._groups) - 1)]
            answer.add(block, distances, rows, np.where(rows < 0, -1, groups))

    def _not_of(self, groups: NDArray[np.int32]) -> Mask:
        is_other = np.ones(self._last_group + 1, np.bool_)
        is_other[groups] = False
        mask: Mask = is_other[self._groups]
        return mask


class _Answer:
    """Items of different groups, the nearest first, in a line for each query.

    A line has `n_groups` of them so far.
    """

    def __init__(self, n_lines: int, k: int, goal: int, is_hamming: bool) -> None:
        fill, dtype = (-1, np.int32) if is_hamming else (np.inf, np.float32)
        self.distances: NDArray[Any] = np.full((n_lines, k), fill, dtype)
        self.rows = np.full((n_lines, k), -1, np.int64)
        self._groups = np.full((n_lines, k), -1, np.int32)
        self.n_groups = np.zeros(n_lines, np.int64)
        self._goal = goal  # groups of a full line

    def add(
        self,
        lines: IdArray,
        distances: NDArray[Any],
        rows: IdArray,
        groups: NDArray[np.int32],
    ) -> None:
        """Add the first item of each group to lines, until these are full.

        Items and their groups, -1 for none, are in the order of their distances.
        """
        line, rank = np.nonzero(_first_of_each(groups))
        place = np.arange(len(line)) - np.searchsorted(line, line)
        place += self.n_groups[lines[line]]
        fits = place < self._goal
        source = line[fits], rank[fits]
        target = lines[source[0]], place[fits]
        self.distances[target], self.rows[target] = distances[source], rows[source]
        self._groups[target] = groups[source]
        np.add.at(self.n_groups, target[0], 1)

    def lines_to_fill(self, lines: IdArray) -> IdArray:
        return lines[self.n_groups[lines] < self._goal]

    def groups_of(self, line: int) -> NDArray[np.int32]:
        return self._groups[line, : self.n_groups[line]]

    def with_equal_groups(self, lines: IdArray) -> list[IdArray]:
        """Return lines in arrays of those that have the same groups."""
        alike: dict[bytes, list[int]] = {}
        for line in lines.tolist():
            alike.setdefault(np.sort(self._groups[line]).tobytes(), []).append(line)
        return [np.array(numbers) for numbers in alike.values()]


def overlap(mask: Mask, other: Mask | None) -> Mask:
    return mask if other is None else mask & other


def _first_of_each(groups: NDArray[np.int32]) -> NDArray[np.bool_]:
    """Return where each group of a line comes first; -1 is none."""
    order = np.argsort(groups, axis=1, kind="stable")
    ordered = np.take_along_axis(groups, order, axis=1)
    first = ordered >= 0
    first[:, 1:] &= ordered[:, 1:] != ordered[:, :-1]
    is_first = np.empty_like(first)
    np.put_along_axis(is_first, order, first, axis=1)
    return is_first

"""A known hierarchy over classes, from the path that leads to each."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fewbits._typing import IdArray
from fewbits.errors import ArgumentError


class KnownTree:
    """The groups of classes at each level, from the broadest on.

    Attributes
    ----------
    levels : ndarray of shape (n_levels, n_classes), dtype int64
        Number of the group of each class. A class whose path ends above a level is a
        group of its own there. A level that all classes share is left out.
    first, second, shared : ndarray of shape (n_pairs,), dtype int64
        All pairs of classes with a common group, and in how many levels they have one.
    """

    def __init__(self, paths: Sequence[Sequence[Any]], n: int) -> None:
        if len(paths) != n:
            raise ArgumentError(
                f"need a path for each of {n} classes, got {len(paths)}"
            )
        lines = [_path(path) for path in paths]
        levels = [_groups(lines, depth) for depth in range(max(map(len, lines)))]
        self.levels = np.array([level for level in levels if level.max()], np.int64)
        if not len(self.levels):
            raise ArgumentError("the known tree puts all classes into the same groups")
        self.first, self.second = _pairs(self.levels[0])
        if not len(self.first):
            raise ArgumentError("no two classes share a group of the known tree")
        self.shared = (self.levels[:, self.first] == self.levels[:, self.second]).sum(
            axis=0
        )

    def distances(self) -> NDArray[np.float64]:
        """Return the heights of the groups where two classes meet, as from `pdist`.

        A class lies at 0, a group of the last level at 1, the root above all levels.
        """
        n = self.levels.shape[1]
        heights = np.full((n, n), len(self.levels) + 1.0)
        heights[self.first, self.second] -= self.shared
        return heights[np.triu_indices(n, 1)]


def _path(path: Sequence[Any]) -> tuple[str, ...]:
    if isinstance(path, str):
        raise ArgumentError(f"a path is a tuple of names, got the text {path!r}")
    return tuple(map(str, path))


def _groups(paths: list[tuple[str, ...]], depth: int) -> IdArray:
    numbers: dict[Any, int] = {}
    keys = [
        path[: depth + 1] if len(path) > depth else i for i, path in enumerate(paths)
    ]
    return np.array([numbers.setdefault(key, len(numbers)) for key in keys])


def _pairs(groups: IdArray) -> tuple[IdArray, IdArray]:
    """Return all pairs of members of a group, the smaller number first."""
    order = np.argsort(groups, kind="stable")
    ends = np.cumsum(np.bincount(groups))[groups[order]]
    counts = ends - np.arange(len(order)) - 1  # partners that come later
    first = np.repeat(np.arange(len(order)), counts)
    second = np.arange(len(first)) - np.repeat(np.cumsum(counts) - counts, counts)
    return order[first], order[second + first + 1]

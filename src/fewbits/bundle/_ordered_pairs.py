"""All pairs in the order of their rows, however many, a block after the other."""

from collections.abc import Callable, Iterator

import numpy as np

from fewbits._typing import DistanceArray, IdArray
from fewbits.index import Pairs

_BLOCK = 1 << 22  # pairs of a block; up to twice as many are held


def ordered_pairs(
    find: Callable[[], Iterator[Pairs]], n_rows: int
) -> Iterator[tuple[DistanceArray, IdArray]]:
    """Yield distances and pairs of rows; `find` gives them in any order.

    It is called once a block, of which each has the first pairs after the one before.
    """
    after: int | None = -1
    while after is not None:
        block = _First(after)
        for distances, rows in find():
            block.take(rows[:, 0] * n_rows + rows[:, 1], distances)
        places, distances = block.ordered()
        yield distances, np.stack(np.divmod(places, n_rows), axis=1)
        after = block.end


class _First:
    """The first pairs after one of them, whatever comes; a number orders the pairs."""

    def __init__(self, after: int) -> None:
        self._after = after
        self.end: int | None = None  # the last pair, None while all are held
        self._taken: list[tuple[IdArray, DistanceArray]] = []
        self._count = 0

    def take(self, places: IdArray, distances: DistanceArray) -> None:
        chosen = places > self._after
        if self.end is not None:
            chosen &= places <= self.end
        self._taken.append((places[chosen], distances[chosen]))
        self._count += len(self._taken[-1][0])
        if self._count > 2 * _BLOCK:
            self._cut()

    def _cut(self) -> None:
        places, distances = self.ordered()
        self._taken = [(places[:_BLOCK], distances[:_BLOCK])]
        self._count, self.end = _BLOCK, int(places[_BLOCK - 1])

    def ordered(self) -> tuple[IdArray, DistanceArray]:
        empty = np.empty(0, np.int64), np.empty(0, np.int32)
        places, distances = map(np.concatenate, zip(empty, *self._taken, strict=True))
        order = np.argsort(places)
        return places[order], distances[order]

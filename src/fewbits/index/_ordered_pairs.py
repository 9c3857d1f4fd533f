"""All pairs in the order of their places, however many, a block after the other."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from fewbits._spans import spans
from fewbits._typing import CodeArray, DistanceArray, IdArray
from fewbits.index._join import Plan
from fewbits.index._pairs import Pairs, joined_pairs, plan_of, scanned_pairs

_BLOCK = 1 << 18  # pairs that come together
_HELD = 1 << 20  # that are sorted together: so many, or as many as there are codes


def ordered_pairs(
    codes: CodeArray, radius: int, mask: NDArray[np.bool_] | None
) -> Iterator[Pairs]:
    """Yield what `near_pairs` does, in order."""
    plan = plan_of(codes, radius, mask)
    if plan is None:
        return scanned_pairs(codes, radius, mask)
    return _Ordered(codes, radius, mask, plan, max(_HELD, len(codes))).pairs()


@dataclass(frozen=True)
class _Ordered:
    """Pairs that a join finds, sorted as far as they may be held.

    Where there are more, they are counted, and found anew for one range of first places
    after another, which costs about as much as sorting the codes each time.
    """

    codes: CodeArray
    radius: int
    mask: NDArray[np.bool_] | None
    plan: Plan
    most: int

    def pairs(self) -> Iterator[Pairs]:
        held, count = [], 0
        found = self._found(0, len(self.codes))
        for pairs in found:
            held.append(self._numbered(pairs))
            count += len(pairs.ids)
            if count > self.most:
                break
        else:
            yield from self._in_order(held)
            return
        counts = np.zeros(len(self.codes), np.uint32)
        for places, _ in held:
            np.add.at(counts, places // len(self.codes), 1)
        held.clear()
        for pairs in found:
            np.add.at(counts, pairs.ids[:, 0], 1)
        for start, stop in _ranges(counts, self.most):
            yield from self._in_order(map(self._numbered, self._found(start, stop)))

    def _found(self, start: int, stop: int) -> Iterator[Pairs]:
        """Yield the pairs whose first places are in a range."""
        mask = None if self.mask is None else self.mask[start:]
        for distances, places in joined_pairs(
            self.codes[start:], self.radius, mask, self.plan, stop - start
        ):
            yield Pairs(distances, places + start)

    def _numbered(self, pairs: Pairs) -> tuple[IdArray, DistanceArray]:
        """Return each pair as a number that sorts as it does, and the distances."""
        first, second = pairs.ids.T
        return first * len(self.codes) + second, pairs.distances

    def _in_order(
        self, found: Iterable[tuple[IdArray, DistanceArray]]
    ) -> Iterator[Pairs]:
        empty = np.empty(0, np.int64), np.empty(0, np.int32)
        numbers, distances = map(np.concatenate, zip(empty, *found, strict=True))
        order = np.argsort(numbers)
        for span in spans(len(order), _BLOCK):
            places = np.divmod(numbers[order[span]], len(self.codes))
            yield Pairs(distances[order[span]], np.stack(places, axis=1))


def _ranges(counts: NDArray[np.uint32], most: int) -> Iterator[tuple[int, int]]:
    """Yield ranges of places that have so many pairs at most, or are one place."""
    ends = np.cumsum(counts, dtype=np.int64)
    start, total = 0, int(ends[-1])
    before = 0
    while before < total:
        stop = int(np.searchsorted(ends, before + most, side="right"))
        stop = max(stop, start + 1)
        yield start, stop
        start, before = stop, int(ends[stop - 1])

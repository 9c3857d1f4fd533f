"""All pairs of near codes, a block after the other."""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from fewbits import _kernels
from fewbits._repr import one_line
from fewbits._typing import CodeArray, DistanceArray, IdArray
from fewbits.codes import hamming_range_search
from fewbits.index._join import best_plan

_BLOCK, _HITS = 4096, 1 << 23  # queries at a time, and the most that these can find


class Pairs(NamedTuple):
    """Pairs of codes.

    Attributes
    ----------
    distances : ndarray of shape (n_pairs,), dtype int32
        Bits that differ.
    ids : ndarray of shape (n_pairs, 2), dtype int64
        The smaller id first.
    """

    distances: DistanceArray
    ids: IdArray

    def __repr__(self) -> str:
        return one_line(self)


def near_pairs(
    codes: CodeArray, radius: int, mask: NDArray[np.bool_] | None
) -> Iterator[Pairs]:
    """Yield all pairs of allowed places within a radius, each once."""
    radius = min(radius, 8 * codes.shape[1])
    plan = best_plan(codes, radius, mask) if _kernels.COMPILED else None
    if plan is None or len(codes) >= 2**32:
        yield from _scanned(codes, radius, mask)
        return
    join = _kernels.PairJoin(
        codes,
        None if mask is None else np.packbits(mask),
        plan.parts,
        radius,
        _kernels.num_threads(),
    )
    while join.advance():
        if n := len(join):
            yield _written(join, n)


def _written(join: _kernels.PairJoin, n: int) -> Pairs:
    found = Pairs(np.empty(n, np.int32), np.empty((n, 2), np.int64))
    join.write(*found)
    return found


def _scanned(
    codes: CodeArray, radius: int, mask: NDArray[np.bool_] | None
) -> Iterator[Pairs]:
    """Compare every code with every other."""
    chosen = np.arange(len(codes)) if mask is None else np.flatnonzero(mask)
    step = max(1, min(_BLOCK, _HITS // max(1, len(chosen))))
    for start in range(0, len(chosen), step):
        block = chosen[start : start + step]
        near = hamming_range_search(codes[block], codes, radius, allowed=mask)
        first = np.repeat(block, np.diff(near.offsets))
        later = near.ids > first
        if later.any():
            pairs = np.stack([first[later], near.ids[later]], axis=1)
            yield Pairs(near.distances[later], pairs)

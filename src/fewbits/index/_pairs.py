"""All pairs of near codes, a block after the other."""

from collections.abc import Callable, Iterator
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from fewbits import _kernels
from fewbits._repr import one_line
from fewbits._spans import spans
from fewbits._typing import CodeArray, DistanceArray, IdArray
from fewbits.codes import hamming_range_search
from fewbits.index._join import Plan, best_plan

_QUERIES = 4096  # that are counted at a time
_HITS = 1 << 18  # and found, but for those of one more query


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


#: Yields the pairs of codes within a radius that a mask allows.
FindPairs: TypeAlias = Callable[
    [CodeArray, int, NDArray[np.bool_] | None], Iterator[Pairs]
]


def near_pairs(
    codes: CodeArray, radius: int, mask: NDArray[np.bool_] | None
) -> Iterator[Pairs]:
    """Yield all pairs of allowed places within a radius, each once."""
    plan = plan_of(codes, radius, mask)
    if plan is None:
        yield from scanned_pairs(codes, radius, mask)
    else:
        yield from joined_pairs(codes, radius, mask, plan, len(codes))


def plan_of(
    codes: CodeArray, radius: int, mask: NDArray[np.bool_] | None
) -> Plan | None:
    """Return what `joined_pairs` finds all pairs by, None where a scan is faster."""
    if not _kernels.COMPILED or len(codes) >= 2**32:
        return None
    return best_plan(codes, min(radius, 8 * codes.shape[1]), mask)


def joined_pairs(
    codes: CodeArray,
    radius: int,
    mask: NDArray[np.bool_] | None,
    plan: Plan,
    before: int,
) -> Iterator[Pairs]:
    """Yield the pairs whose first places are before one, in no particular order."""
    join = _kernels.PairJoin(
        codes,
        None if mask is None else np.packbits(mask),
        plan.parts,
        min(radius, 8 * codes.shape[1]),
        before,
        _kernels.num_threads(),
    )
    while join.advance():
        if n := len(join):
            yield _written(join, n)


def _written(join: _kernels.PairJoin, n: int) -> Pairs:
    found = Pairs(np.empty(n, np.int32), np.empty((n, 2), np.int64))
    join.write(*found)
    return found


def scanned_pairs(
    codes: CodeArray, radius: int, mask: NDArray[np.bool_] | None
) -> Iterator[Pairs]:
    """Compare every code with all that follow; pairs come in order."""
    chosen = np.arange(len(codes)) if mask is None else np.flatnonzero(mask)
    for span in spans(len(chosen), _QUERIES):
        block = chosen[span]
        later = codes[block[0] :], None if mask is None else mask[block[0] :]
        counts = _counts(codes[block], *later, radius)
        # Each finds itself; the pairs with later codes are no more than these.
        ends = np.cumsum(counts)
        block, ends = block[counts > 1], ends[counts > 1]
        parts = np.flatnonzero(np.diff(ends // _HITS)) + 1
        for part in np.split(block, parts):
            if part.size and len((found := _later(codes, part, radius, mask)).ids):
                yield found


def _counts(
    queries: CodeArray, codes: CodeArray, mask: NDArray[np.bool_] | None, radius: int
) -> IdArray:
    counts = np.empty(len(queries), np.int64)
    _kernels.hamming_within_count(
        np.ascontiguousarray(queries),
        codes,
        min(radius, 8 * codes.shape[1]),
        None if mask is None else np.packbits(mask),
        counts,
        _kernels.num_threads(),
    )
    return counts


def _later(
    codes: CodeArray, first: IdArray, radius: int, mask: NDArray[np.bool_] | None
) -> Pairs:
    """Return the pairs of some places with later ones, in order."""
    start = int(first[0])
    allowed = None if mask is None else mask[start:]
    near = hamming_range_search(codes[first], codes[start:], radius, allowed=allowed)
    pairs = np.stack([np.repeat(first, np.diff(near.offsets)), near.ids + start], 1)
    later = pairs[:, 1] > pairs[:, 0]
    distances, pairs = near.distances[later], pairs[later]
    order = np.argsort(pairs[:, 0] * len(codes) + pairs[:, 1], kind="stable")
    return Pairs(distances[order], pairs[order])

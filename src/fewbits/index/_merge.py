"""Answers of several segments as one."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from fewbits._typing import IdArray
from fewbits.codes import Neighbours, RangeSearchResult

_FARTHEST = np.iinfo(np.int32).max


def merged_nearest(
    found: Sequence[tuple[int, Neighbours]], n_queries: int, k: int
) -> tuple[NDArray[np.int32], IdArray]:
    """Return distances and places of the `k` nearest, ordered by (distance, place).

    Parameters
    ----------
    found : sequence of (start, Neighbours)
        What each segment found, and its first place; starts rise.
    """
    if not found:
        return np.empty((n_queries, 0), np.int32), np.empty((n_queries, 0), np.int64)
    distances, places = _shifted(*found[0])
    for start, more in found[1:]:
        others = _shifted(start, more)
        distances = np.hstack([distances, others[0]])
        places = np.hstack([places, others[1]])
        far = np.where(places < 0, _FARTHEST, distances)
        order = np.argsort(far, axis=1, kind="stable")[:, :k]
        distances = np.take_along_axis(distances, order, axis=1)
        places = np.take_along_axis(places, order, axis=1)
    return distances[:, :k], places[:, :k]


def merged_ranges(
    found: Sequence[RangeSearchResult], starts: Sequence[int]
) -> RangeSearchResult:
    """Return offsets, distances and places, ordered by (distance, place)."""
    if len(found) == 1:
        return found[0]
    sizes = [np.diff(each.offsets) for each in found]
    queries = np.concatenate([np.repeat(np.arange(len(n)), n) for n in sizes])
    distances = np.concatenate([each.distances for each in found])
    shifted = [each.ids + start for each, start in zip(found, starts, strict=False)]
    # Stable, and the places of a segment come after those of the ones before.
    order = np.lexsort((distances, queries))
    offsets = np.concatenate([[0], np.cumsum(sum(sizes))])
    return RangeSearchResult(offsets, distances[order], np.concatenate(shifted)[order])


def _shifted(start: int, found: Neighbours) -> tuple[NDArray[np.int32], IdArray]:
    places = found.ids
    return found.distances, places if not start else np.where(
        places < 0, -1, places + start
    )

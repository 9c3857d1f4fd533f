"""Exhaustive search."""

from typing import final

import numpy as np
from numpy.typing import NDArray

from fewbits._typing import CodeArray
from fewbits.codes import (
    Neighbours,
    RangeSearchResult,
    hamming_range_search,
    hamming_topk,
)
from fewbits.index._base import Index
from fewbits.index._segment import Segment


@final
class FlatIndex(Index):
    """Exact search by a scan of all codes, the reference for the other indexes.

    Answers are ordered by (distance, id), so they depend neither on the order in which
    codes were added, nor on batches or threads.

    Parameters and errors are those of `Index`.

    Examples
    --------
    >>> import numpy as np
    >>> index = FlatIndex(np.array([[0], [3], [255]], np.uint8), ids=[7, 5, 1])
    >>> index
    FlatIndex(3 codes of 1 byte)
    >>> index.search(np.array([[1]], np.uint8), k=2)
    Neighbours(distances=array([[1, 1]], dtype=int32), ids=array([[5, 7]]))
    >>> index.add(np.array([[1]], np.uint8)).search(np.array([[1]], np.uint8), k=1).ids
    array([[8]])
    """

    __slots__ = ()

    def _topk(
        self,
        segment: Segment,
        queries: CodeArray,
        k: int,
        mask: NDArray[np.bool_] | None,
    ) -> Neighbours:
        return hamming_topk(queries, segment.codes, k, allowed=mask)

    def _within(
        self,
        segment: Segment,
        queries: CodeArray,
        radius: int,
        mask: NDArray[np.bool_] | None,
    ) -> RangeSearchResult:
        return hamming_range_search(queries, segment.codes, radius, allowed=mask)

"""Range search whose hits need not fit in memory all at once."""

from collections.abc import Iterator

from numpy.typing import ArrayLike

from fewbits._typing import CodeArray
from fewbits.codes import RangeSearchResult
from fewbits.index._base import Index

_FIRST, _HITS = 16, 1 << 20  # queries at first, and hits of a block to aim at


def stream_range_search(
    index: Index,
    queries: CodeArray,
    radius: int,
    *,
    allowed: ArrayLike | None = None,
) -> Iterator[tuple[slice, RangeSearchResult]]:
    """Yield what `Index.range_search` finds, for some queries at a time.

    Parameters
    ----------
    index : Index
    queries : ndarray of shape (n_queries, n_bytes), dtype uint8
    radius : int
    allowed : array-like, default=None
        As of `Index.search`.

    Yields
    ------
    slice
        Rows of `queries`.
    RangeSearchResult
        All hits of these, about a million at a time where queries have fewer.

    Examples
    --------
    >>> import numpy as np
    >>> from fewbits.index import FlatIndex
    >>> codes = np.arange(256, dtype=np.uint8)[:, None]
    >>> blocks = stream_range_search(FlatIndex(codes), codes, radius=1)
    >>> sum(len(found.ids) for _, found in blocks)
    2304
    """
    start, size = 0, _FIRST
    while start < len(queries):
        span = slice(start, min(start + size, len(queries)))
        found = index.range_search(queries[span], radius, allowed=allowed)
        yield span, found
        each = max(1, len(found.ids) // (span.stop - span.start))
        start, size = span.stop, max(1, min(4 * size, _HITS // each))

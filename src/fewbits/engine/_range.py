"""All items within a distance of each query."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from fewbits._checks import check_count
from fewbits._repr import one_line
from fewbits._typing import CodeArray
from fewbits.bundle import Bundle, hits_of
from fewbits.codes import RangeSearchResult
from fewbits.engine._asked import asked_codes, asked_labels, check_one
from fewbits.engine._search import QueryHits


@dataclass(frozen=True, eq=False)
class RangeRequest:
    """Ask which items are at most some bits away from each query.

    Parameters
    ----------
    queries : array-like of shape (n, n_features), or sequence, default=None
        Raw items; None where `ids` or `codes` are given.
    radius : int, default=0
        Bits that may differ, 0 or more.
    filter, allowed, ids, codes, columns : default=None
        As of `SearchRequest`.
    limit : int, default=None
        Hits per query; None for all.

    Raises
    ------
    ArgumentError
        When not exactly one of `queries`, `ids` and `codes` is given.
    """

    queries: Any = None
    radius: int = 0
    filter: Any = None
    allowed: Any = None
    limit: int | None = None
    ids: Any = None
    codes: Any = None
    columns: Any = None

    def __post_init__(self) -> None:
        check_one(self)
        if self.limit is not None:
            check_count(self.limit, "limit")


@dataclass(frozen=True)
class RangeResponse:
    """The hits of each query.

    Attributes
    ----------
    results : tuple of QueryHits
        In the order of the queries; hits nearest first.
    truncated : bool
        Whether a query has more hits than the limit.
    """

    results: tuple[QueryHits, ...]
    truncated: bool

    def __repr__(self) -> str:
        return one_line(self)

    def to_dict(self) -> dict[str, Any]:
        """Return plain values."""
        return {
            "metric": "hamming",
            "truncated": self.truncated,
            "results": [each.to_dict() for each in self.results],
        }


def range_search(bundle: Bundle, request: RangeRequest) -> RangeResponse:
    """Find all items at most `radius` bits away from each query.

    Parameters
    ----------
    bundle : Bundle
        With a collection.
    request : RangeRequest

    Returns
    -------
    RangeResponse

    Raises
    ------
    ArgumentError, CodeError, FeatureError
        As `search`, or when the radius is negative.
    """
    found, codes, truncated = find_range(bundle, request)
    hits = hits_of(
        bundle.collection,
        found.ids[None],
        names=request.columns,
        distance=found.distances[None],
    )[0]
    ends = found.offsets.tolist()
    labels = asked_labels(bundle, request, codes, len(ends) - 1)
    results = [
        QueryHits(label, hits[ends[i] : ends[i + 1]]) for i, label in enumerate(labels)
    ]
    return RangeResponse(tuple(results), truncated)


def find_range(
    bundle: Bundle, request: RangeRequest
) -> tuple[RangeSearchResult, CodeArray | None, bool]:
    """Return rows within the radius, codes if these are asked about, and if cut."""
    codes = asked_codes(bundle, request)
    found = bundle.range_rows_by_code(
        bundle.encode(request.queries) if codes is None else codes,
        request.radius,
        filter=request.filter,
        allowed=request.allowed,
    )
    cut = found if request.limit is None else _limited(found, request.limit)
    return cut, codes, len(cut.ids) < len(found.ids)


def _limited(found: RangeSearchResult, limit: int) -> RangeSearchResult:
    counts = np.diff(found.offsets)
    place = np.arange(len(found.ids)) - np.repeat(found.offsets[:-1], counts)
    kept = place < limit
    offsets = np.concatenate([[0], np.cumsum(np.minimum(counts, limit))])
    return RangeSearchResult(
        offsets.astype(found.offsets.dtype), found.distances[kept], found.ids[kept]
    )

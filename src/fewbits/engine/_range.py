"""All items within a distance of each query."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from fewbits._checks import check_count, check_radius
from fewbits._repr import one_line
from fewbits._typing import CodeArray
from fewbits.bundle import Bundle, FoundRows, hits_of
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


def stream_range(bundle: Bundle, request: RangeRequest) -> Iterator[QueryHits]:
    """Yield the hits of one query after another, which need not all fit in memory.

    Parameters
    ----------
    bundle : Bundle
        With a collection.
    request : RangeRequest
        Without a limit.
    """
    codes = asked_codes(bundle, request)
    asked = bundle.encode(request.queries) if codes is None else codes
    labels = asked_labels(bundle, request, codes, len(asked))
    chosen = {"filter": request.filter, "allowed": request.allowed}
    for span, found in bundle.stream_range_rows_by_code(
        asked, request.radius, **chosen
    ):
        for label, start, stop in zip(
            labels[span], found.offsets[:-1], found.offsets[1:], strict=True
        ):
            rows, distances = found.ids[start:stop], found.distances[start:stop]
            hits = hits_of(
                bundle.collection,
                rows[None],
                names=request.columns,
                distance=distances[None],
            )
            yield QueryHits(label, hits[0])


def find_range(
    bundle: Bundle, request: RangeRequest
) -> tuple[RangeSearchResult, CodeArray | None, bool]:
    """Return rows within the radius, codes if these are asked about, and if cut."""
    codes = asked_codes(bundle, request)
    asked = bundle.encode(request.queries) if codes is None else codes
    chosen = {"filter": request.filter, "allowed": request.allowed}
    if request.limit is None:
        whole = bundle.range_rows_by_code(asked, request.radius, **chosen)
        return whole, codes, False
    radius = check_radius(request.radius)
    # Not all within the radius: these need not fit in memory.
    nearest = bundle.search_rows_by_code(asked, request.limit + 1, **chosen)
    found, truncated = _within(nearest, radius, request.limit)
    return found, codes, truncated


def _within(
    found: FoundRows, radius: int, limit: int
) -> tuple[RangeSearchResult, bool]:
    near = (found.rows >= 0) & (found.distances <= radius)
    truncated = bool(near[:, limit:].any())
    near[:, limit:] = False
    offsets = np.concatenate([[0], np.cumsum(near.sum(axis=1))])
    return RangeSearchResult(
        offsets, found.distances[near], found.rows[near]
    ), truncated

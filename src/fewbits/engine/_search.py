"""Nearest items of each query."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from fewbits._repr import one_line
from fewbits.bundle import Bundle
from fewbits.engine._labels import item_labels

Hit = dict[str, Any]


@dataclass(frozen=True, eq=False)
class SearchRequest:
    """Ask which items are nearest to each query.

    Parameters
    ----------
    queries : array-like of shape (n, n_features), or sequence
        Raw items: vectors, or whatever the backbone of the bundle takes.
    k : int, default=10
        Hits per query; fewer where fewer items can be found.
    rerank : bool, default=None
        Re-rank a shortlist; None does so where the bundle was tuned to.
    filter : str or pyarrow.compute.Expression, default=None
        A condition that hits meet, see `fewbits.bundle.Bundle.search`.
    allowed : array-like, default=None
        Ids of items that may be found, or a boolean mask over the rows.
    group_by : str, default=None
        A column: find the best item of each of `k` groups.
    """

    queries: Any
    k: int = 10
    rerank: bool | None = None
    filter: Any = None
    allowed: Any = None
    group_by: str | None = None


@dataclass(frozen=True)
class QueryHits:
    """The hits of one query.

    Attributes
    ----------
    query : str
        The text or path, or ``"query 0"`` for the first vector.
    hits : list of dict
        Nearest first, see `fewbits.bundle.Bundle.search_records`.
    out_of_distribution : bool or None
        Whether even the nearest item is beyond the novelty radius of the collection.
        None where that is not known, nothing was found, or hits are filtered or
        re-ranked and so not comparable.
    """

    query: str
    hits: list[Hit]
    out_of_distribution: bool | None = None

    def __repr__(self) -> str:
        return one_line(self)

    def to_dict(self) -> dict[str, Any]:
        """Return plain values; what is not known is left out."""
        found = {"query": self.query, "hits": self.hits}
        if self.out_of_distribution is None:
            return found
        return {**found, "out_of_distribution": self.out_of_distribution}


@dataclass(frozen=True)
class SearchResponse:
    """The hits of each query, and what their distances are.

    Attributes
    ----------
    results : tuple of QueryHits
        In the order of the queries.
    metric : {"hamming", "euclidean", "asymmetric"}
        Bits that differ; or, re-ranked, see `fewbits.bundle.Bundle.search_reranked`.
    """

    results: tuple[QueryHits, ...]
    metric: str

    def __repr__(self) -> str:
        return one_line(self)

    def to_dict(self) -> dict[str, Any]:
        """Return plain values."""
        return {
            "metric": self.metric,
            "results": [each.to_dict() for each in self.results],
        }


def search(bundle: Bundle, request: SearchRequest) -> SearchResponse:
    """Find the items that are nearest to each query.

    Parameters
    ----------
    bundle : Bundle
        With a collection.
    request : SearchRequest

    Returns
    -------
    SearchResponse

    Raises
    ------
    ArgumentError
        When `k`, `rerank`, a condition or an id is wrong.
    FeatureError
        When queries are not what the bundle takes.
    """
    found = bundle.search_rows(
        request.queries,
        request.k,
        rerank=request.rerank,
        filter=request.filter,
        allowed=request.allowed,
        group_by=request.group_by,
    )
    radius = bundle.novelty_radius
    # The radius is in bits, and holds for the nearest of all items.
    whole = request.filter is None and request.allowed is None
    if found.metric != "hamming" or not whole:
        radius = None
    records = found.records(bundle.collection)
    labels = item_labels(bundle, request.queries, len(records), "query")
    results = [
        QueryHits(label, hits, _is_far(hits, radius))
        for label, hits in zip(labels, records, strict=True)
    ]
    return SearchResponse(tuple(results), found.metric)


def _is_far(hits: Sequence[Hit], radius: int | None) -> bool | None:
    if radius is None or not hits:
        return None
    return bool(hits[0]["distance"] > radius)

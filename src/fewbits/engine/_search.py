"""Nearest items of each query."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from fewbits._repr import one_line
from fewbits._typing import CodeArray
from fewbits.bundle import Bundle, FoundRows
from fewbits.bundle.serving import StoredItems
from fewbits.engine._asked import asked_codes, asked_labels, check_one
from fewbits.engine._explain import explained
from fewbits.errors import ArgumentError

Hit = dict[str, Any]
_EXTRA = ("out_of_distribution", "code", "histogram")


@dataclass(frozen=True, eq=False)
class SearchRequest:
    """Ask which items are nearest to each query.

    Parameters
    ----------
    queries : array-like of shape (n, n_features), or sequence, default=None
        Raw items: vectors, or whatever the backbone of the bundle takes.
    k : int, default=10
        Hits per query; fewer where fewer items can be found.
    rerank : bool, default=None
        Re-rank a shortlist; None does so for raw items where the bundle was tuned to.
        Items of the collection need their vectors or texts there; codes have none.
    filter : str or pyarrow.compute.Expression, default=None
        A condition that hits meet, see `fewbits.bundle.Bundle.search`.
    allowed : array-like, default=None
        Ids of items that may be found, or a boolean mask over the rows.
    group_by : str, default=None
        A column: find the best item of each of `k` groups.
    ids : array-like of int or str, default=None
        In place of `queries`, items of the collection, whose codes are the queries.
    codes : ndarray of shape (n, n_bytes), dtype uint8, default=None
        In place of `queries`, packed codes.
    columns : sequence of str, default=None
        Columns that hits have; None for all.
    explain : bool, default=False
        Add codes, and how many items are at each distance.

    Raises
    ------
    ArgumentError
        When not exactly one of `queries`, `ids` and `codes` is given.
    """

    queries: Any = None
    k: int = 10
    rerank: bool | None = None
    filter: Any = None
    allowed: Any = None
    group_by: str | None = None
    ids: Any = None
    codes: Any = None
    columns: Sequence[str] | None = None
    explain: bool = False

    def __post_init__(self) -> None:
        check_one(self)

    def __repr__(self) -> str:
        return one_line(self)


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
    code : str or None
        Where it is to be explained: the code of the query, in hexadecimal. Hits have
        theirs, too.
    histogram : list of int or None
        How many of the items that may be found are 0, 1, 2, ... bits away.
    """

    query: str
    hits: list[Hit]
    out_of_distribution: bool | None = None
    code: str | None = None
    histogram: list[int] | None = None

    def __repr__(self) -> str:
        return one_line(self)

    def to_dict(self) -> dict[str, Any]:
        """Return plain values; what is not known is left out."""
        extra = {x: getattr(self, x) for x in _EXTRA}
        known = {name: value for name, value in extra.items() if value is not None}
        return {"query": self.query, "hits": self.hits, **known}


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
    found, codes = find_rows(bundle, request)
    radius = bundle.novelty_radius
    # The radius is in bits, and holds for the nearest of all items.
    whole = request.filter is None and request.allowed is None
    if found.metric != "hamming" or not whole:
        radius = None
    records = found.records(bundle.collection, request.columns)
    labels = asked_labels(bundle, request, codes, len(records))
    results = [
        QueryHits(label, hits, _is_far(hits, radius))
        for label, hits in zip(labels, records, strict=True)
    ]
    if request.explain:
        results = explained(bundle, request, found.rows, codes, results)
    return SearchResponse(tuple(results), found.metric)


def find_rows(
    bundle: Bundle, request: SearchRequest
) -> tuple[FoundRows, CodeArray | None]:
    """Return the rows that a request finds, and the codes if it asks about codes."""
    options: dict[str, Any] = {
        "filter": request.filter,
        "allowed": request.allowed,
        "group_by": request.group_by,
    }
    codes = asked_codes(bundle, request)
    if codes is None:
        rerank = request.rerank
        return bundle.search_rows(
            request.queries, request.k, rerank=rerank, **options
        ), None
    if request.rerank and request.ids is None:
        raise ArgumentError("re-ranking needs raw items or ids as queries, not codes")
    if request.rerank:
        asked = StoredItems(bundle.collection.rows(request.ids))
        return bundle.search_rows(
            asked, request.k, rerank=request.rerank, **options
        ), codes
    return bundle.search_rows_by_code(codes, request.k, **options), codes


def _is_far(hits: Sequence[Hit], radius: int | None) -> bool | None:
    if radius is None or not hits:
        return None
    return bool(hits[0]["distance"] > radius)

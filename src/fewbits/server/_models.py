"""Schemas of requests."""

from typing import Annotated, Any

from pydantic import Field

from fewbits.server._body import Body, Many

Id = int | str
Radius = Annotated[int, Field(ge=0)]
Positive = Annotated[int, Field(ge=1)]
Seconds = Annotated[float, Field(ge=0, le=3600, description="To wait for writers.")]
Share = Annotated[float, Field(ge=0, le=1)]
Filter = Annotated[str, Field(max_length=10_000)]


class Queries(Body):
    """Exactly one of the ways to say what is asked about."""

    texts: Many[str] | None = None
    vectors: Many[Many[float]] | None = None
    images: Many[str] | None = Field(None, description="Files of images, in base64.")
    ids: Many[Id] | None = Field(None, description="Items of the collection.")
    codes: Many[str] | None = Field(None, description="Packed codes in hexadecimal.")


class Chosen(Queries):
    """Queries, and which items may be found."""

    filter: Filter | None = Field(None, description="A condition, as of SQL's WHERE.")
    allowed: Many[Id] | None = Field(None, description="Ids that may be found.")
    columns: Many[str] | None = Field(None, description="Of hits; null for all.")


class SearchBody(Chosen):
    """See `fewbits.engine.SearchRequest`."""

    k: Positive = 10
    group_by: str | None = None
    rerank: bool | None = None
    explain: bool = Field(False, description="Add codes and a histogram of distances.")


class RangeBody(Chosen):
    """See `fewbits.engine.RangeRequest`."""

    radius: Radius
    limit: Positive = Field(1000, description="Hits per query.")


class EncodeBody(Queries):
    """Raw items to encode."""


class ItemsBody(Body):
    """Items by their ids, or by their places from 0 on."""

    ids: Many[Id] | None = None
    positions: Many[Radius] | None = None
    skip_unknown: bool = Field(False, description="Leave out ids that no item has.")


class TimeoutBody(Body):
    """Seconds to wait while another process writes."""

    timeout: Seconds | None = None


class CompactBody(TimeoutBody):
    """Options of a compaction."""


class DeleteBody(TimeoutBody):
    """Ids, a condition, or both: which of these ids."""

    ids: Many[Id] | None = None
    filter: Filter | None = None
    missing_ok: bool = Field(False, description="Pass over ids that are not there.")


class RowsBody(Body):
    """Rows as objects, and the columns that hold their parts.

    Reserved names give the parts of a row themselves: `_id`, and `_vector` or `_text`.
    """

    rows: Many[dict[str, Any]] | None = None
    id: str | None = None
    vectors: str | Many[str] | None = None
    texts: str | None = None
    keep: Many[str] | None = None
    skip_blank: bool = False
    timeout: Seconds | None = None


class ClassifyBody(Queries):
    """See `fewbits.engine.ClassifyRequest`."""

    decoder: str | dict[str, Any] | None = Field(
        None, description='A name, or {"name": ..., and its parameters}.'
    )
    max_false_reject_rate: float | None = None
    max_false_accept_rate: float | None = None
    top: Radius | None = None
    labels: str | None = None
    k: Positive | None = None
    linear: bool = False


class LikeBody(Body):
    """See `fewbits.engine.LikeRequest`."""

    examples: Queries | None = None
    counterexamples: Queries | None = None
    ids: Many[Id] | None = None
    not_ids: Many[Id] | None = None
    k: Positive = 10
    filter: Filter | None = None
    allowed: Many[Id] | None = None
    n_random: Annotated[int, Field(ge=1, le=100_000)] = 1000
    C: Annotated[float, Field(gt=0, lt=1e9)] = 100.0
    random_state: Annotated[int, Field(ge=0, lt=2**32)] = 0


class DuplicatesBody(Body):
    """See `fewbits.engine.DuplicatesRequest`."""

    radius: Radius
    max_vector_distance: Annotated[float, Field(ge=0)] | None = None
    filter: Filter | None = None
    allowed: Many[Id] | None = None
    max_pairs: Positive | None = None


class NamesBody(Body):
    """Names of the two values of a bit; null takes a name away."""

    zeros: str | None
    ones: str | None


class GroupsBody(Body):
    """See `fewbits.engine.explore.DuplicateGroupsRequest`."""

    radius: Radius
    max_vector_distance: Annotated[float, Field(ge=0)] | None = None
    filter: Filter | None = None
    allowed: Many[Id] | None = None
    max_pairs: Positive | None = None
    max_groups: Annotated[int, Field(ge=0, le=100_000)] = 50
    keep: Many[Id] | None = Field(
        None, description="CSV, which has all groups: ids to keep, not the first."
    )


class MapExportBody(Body):
    """Items of the map, by their places in its collection."""

    rows: Annotated[Many[Annotated[int, Field(ge=0, le=2**40)]], Field(min_length=1)]
    neighbours: Annotated[int, Field(ge=0, le=100)] = 10
    version: str | None = None

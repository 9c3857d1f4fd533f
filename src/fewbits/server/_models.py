"""Schemas of requests and responses."""

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field

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


class DeleteBody(Body):
    """Ids, a condition, or both: which of these ids."""

    ids: Many[Id] | None = None
    filter: Filter | None = None
    timeout: Seconds | None = None


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
    max_false_accept_rate: float | None = None
    code_space: bool = False
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


class Answer(BaseModel):
    """Base of responses."""

    model_config = ConfigDict(extra="forbid")


class Hit(Answer):
    """An item that was found; `metric` and `code` only where they say something."""

    id: Id
    distance: float
    columns: dict[str, Any]
    metric: str = "hamming"
    code: str = ""


class Result(Answer):
    """The hits of one query, nearest first."""

    query: str
    hits: list[Hit]
    out_of_distribution: bool = False
    code: str = ""
    histogram: list[int] = []


class Found(Answer):
    """The answer to a search. Shards that did not answer are named."""

    metric: str
    results: list[Result]
    missing_shards: list[str] = []


class RangeFound(Found):
    """The answer to a range search; cut off if a query has more hits than the limit."""

    truncated: bool


class Codes(Answer):
    n_bits: int
    codes: list[str]


class Item(Answer):
    id: Id
    columns: dict[str, Any]
    code: str


class Items(Answer):
    items: list[Item]
    missing_shards: list[str] = []


class Changed(Answer):
    """The state after a change."""

    n_items: int
    snapshot: str


class Probability(Answer):
    name: Any = Field(alias="class")
    probability: Share


class RankedLabel(Answer):
    label: Any
    score: float


class Accepted(Answer):
    """Within which distance of class codes items are accepted, and at which rate."""

    radius: int | None
    predicted_rate: float
    model: str
    requested_rate: float
    met: bool


class ItemClass(Answer):
    """The class or the labels of an item, by whatever decides them."""

    item: str
    name: Any = Field(None, alias="class")
    distance: int = 0
    classes: list[Probability] = []
    share: Share = 0.0
    score: float = 0.0
    labels: list[Any] = []
    ranked: list[RankedLabel] = []
    accepted: Accepted | None = None


class Classified(Answer):
    """The class of each item, see `fewbits.engine.ClassifyResponse`."""

    results: list[ItemClass]


class Member(Answer):
    id: Id
    score: float
    columns: dict[str, Any]


class Members(Answer):
    hits: list[Member]
    none_fits: bool


class Duplicate(Answer):
    id: Id
    distance: int
    columns: dict[str, Any]


class Pair(Answer):
    ids: list[Id]
    distance: int
    vector_distance: float = 0.0


class DuplicatesFound(Answer):
    groups: list[list[Duplicate]]
    pairs: list[Pair]


class Health(Answer):
    status: str
    version: str
    snapshot: str
    reason: str = ""
    missing_shards: list[str] = []


class ErrorDetail(Answer):
    code: str
    message: str


class Error(Answer):
    """Every error, of every route."""

    error: ErrorDetail


class Column(Answer):
    name: str
    type: str
    is_class: bool
    n_distinct: int = Field(0, description="In a sample of the rows.")


class EncoderFacts(Answer):
    kind: str
    n_features: int
    fingerprint: str


class Facts(Answer):
    """Facts about a bundle, and the limits of requests."""

    name: str
    version: str
    snapshot: str
    writable: bool
    n_items: int
    n_bits: int
    bytes_per_code: int
    encoder: EncoderFacts
    backbone: str | None
    item_kind: Literal["texts", "images", "vectors", "codes"]
    feature_names: list[str]
    raw_column: str | None
    label_column: str | None
    columns: list[Column]
    id_type: Literal["integer", "string"] | None
    vectors: bool
    n_classes: int | None
    novelty_radius: int | None
    limits: dict[str, float]
    pages: dict[str, str]
    summary: dict[str, Any]
    shards: int = 0
    missing_shards: list[str] = []

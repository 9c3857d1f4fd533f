"""Schemas of responses."""

from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from fewbits.server._models import Id, Share


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
    n_deleted: int = 0


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
    unreadable: list[str] = Field(
        [], description="Columns that damage keeps from being read."
    )
    id_type: Literal["integer", "string"] | None
    vectors: bool
    item_features: bool = Field(
        description="Whether items given by ids can be re-ranked and rejected."
    )
    n_classes: int | None
    novelty_radius: int | None
    limits: dict[str, float]
    pages: dict[str, str]
    summary: dict[str, Any]
    shards: int = 0
    missing_shards: list[str] = []

"""Schemas of answers; fields with a default may be left out."""

from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from fewbits.server._bodies import Id, Share


class Answer(BaseModel):
    """Base of answers."""

    model_config = ConfigDict(extra="forbid")


class Hit(Answer):
    """An item that a search returned, see `fewbits.collection.Hit`."""

    rank: int
    id: Id
    distance: float
    columns: dict[str, Any]


class Found(Answer):
    """The hits of each query, nearest first, see `fewbits.collection.Hits`."""

    metric: Literal["hamming", "euclidean", "scores", "margin"]
    rerank: bool
    version: int
    hits: list[list[Hit]]
    out_of_distribution: list[bool] = []


class ExplainedHit(Hit):
    code: str


class Explained(Answer):
    """As `Found`, with codes, and how many items are at each distance of a query."""

    metric: Literal["hamming", "euclidean", "scores"]
    rerank: bool
    version: int
    hits: list[list[ExplainedHit]]
    out_of_distribution: list[bool] = []
    codes: list[str]
    histograms: list[list[int]]


class Codes(Answer):
    n_bits: int
    codes: list[str]


class Item(Answer):
    id: Id
    columns: dict[str, Any]
    code: str


class Items(Answer):
    items: list[Item]


class Probability(Answer):
    name: Any = Field(alias="class")
    probability: Share


class RankedLabel(Answer):
    label: Any
    score: float


class ItemClass(Answer):
    """The class or the labels of an item, by whatever decides them."""

    name: Any = Field(None, alias="class")
    distance: float = 0
    classes: list[Probability] = []
    share: Share = 0.0
    score: float = 0.0
    labels: list[Any] = []
    ranked: list[RankedLabel] = []
    accepted: bool = True


class Expected(Answer):
    """What to expect of rejection, see `fewbits.ood.RejectionThreshold`."""

    threshold: float
    false_reject_rate: float
    false_accept_rate: float | None
    false_accept_interval: list[float] | None


class Classification(Answer):
    """The class of each item, see `fewbits.collection.Classification`."""

    results: list[ItemClass]
    expected: Expected | None = None


class Pair(Answer):
    ids: list[Id]
    distance: int
    vector_distance: float = 0.0


class Pairs(Answer):
    """Near duplicates, see `fewbits.collection.DuplicatePairs`."""

    pairs: list[Pair]


class Duplicate(Answer):
    id: Id
    distance: int
    columns: dict[str, Any]


class DuplicateGroups(Answer):
    """Groups of near duplicates, the largest first."""

    n_groups: int
    n_items: int
    n_pairs: int
    groups: list[list[Duplicate]]
    sizes: list[int]


class RecallEstimate(Answer):
    """See `fewbits.collection.RecallEstimate`."""

    search: Literal["hamming", "scores", "euclidean"]
    k: int
    recall: Share
    low: Share
    high: Share
    n_queries: int
    confidence: Share
    shortlist: int | None
    held_out: bool


class Recalls(Answer):
    estimates: list[RecallEstimate]


class Versions(Answer):
    """The versions that can be read where the collection lies, and their names."""

    version: int
    versions: list[int]
    tags: dict[str, int]


class Changed(Answer):
    """How many rows a change concerned, and the state after it."""

    n_changed: int
    n_items: int
    snapshot: str
    warnings: list[str] = Field([], description="What was left out, or left null.")


class Damage(Answer):
    """See `fewbits.store.Damage`; `text` says all of it."""

    file: str
    reason: str
    bytes: list[int] | None
    rows: list[int] | None
    columns: list[str]
    text: str


class Verified(Answer):
    """Damages that reading every byte found; `at` in seconds since 1970."""

    intact: bool
    number: int | None
    n_rows: int
    n_bytes: int
    damages: list[Damage]
    unreadable: list[str]
    to_rebuild: list[str]
    at: float
    seconds: float


class Health(Answer):
    status: str
    version: str
    snapshot: str
    reason: str = ""


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
    """Facts about a collection, and the limits of requests."""

    name: str
    version: str
    snapshot: str
    collection_version: int
    writable: bool
    n_items: int
    n_bits: int
    bytes_per_code: int
    encoder: EncoderFacts
    backbone: str | None
    kind: Literal["texts", "images", "vectors", "codes"]
    feature_names: list[str]
    item_column: str | None
    label_column: str | None
    columns: list[Column]
    unreadable: list[str] = Field(
        description="Columns that damage keeps from being read."
    )
    id_name: str
    id_column: str | None
    id_type: Literal["integer", "string"]
    vectors: bool
    item_features: bool = Field(
        description="Whether items given by ids can be re-ranked and rejected."
    )
    n_classes: int | None
    novelty_radius: int | None
    limits: dict[str, float]
    pages: dict[str, str]
    summary: dict[str, Any]

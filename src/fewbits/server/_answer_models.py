"""Answers as the description of the service has them."""

from typing import Annotated, Any, Literal, NotRequired

from pydantic import Field
from typing_extensions import TypedDict

from fewbits.collection import RecallEstimate
from fewbits.server._bodies import Id

Share = Annotated[float, Field(ge=0, le=1)]
Columns = dict[str, Any]

# Items and hits: `fewbits.collection.Hits`.


class Item(TypedDict):
    id: Id
    columns: Columns
    code: str


class Items(TypedDict):
    items: list[Item]


class Codes(TypedDict):
    n_bits: int
    codes: list[str]


class Hit(TypedDict):
    rank: int
    id: Id
    distance: float
    columns: Columns


class ExplainedHit(Hit):
    code: str


class Answer(TypedDict):
    metric: Literal["hamming", "euclidean", "scores", "margin"]
    rerank: bool
    version: int
    out_of_distribution: NotRequired[list[bool]]


class Found(Answer):
    hits: list[list[Hit]]


class Explained(Answer):
    """With codes, and how many items are at each distance of a query."""

    hits: list[list[ExplainedHit]]
    codes: list[str]
    histograms: list[list[int]]


# Classes: `fewbits.collection.Classification`, and `fewbits.ood.RejectionThreshold`.

Probability = TypedDict("Probability", {"class": Any, "probability": Share})


class RankedLabel(TypedDict):
    label: Any
    score: float


ItemClass = TypedDict(
    "ItemClass",
    {
        "class": Any,
        "distance": float,
        "classes": list[Probability],
        "share": Share,
        "score": float,
        "labels": list[Any],
        "ranked": list[RankedLabel],
        "accepted": bool,
    },
    total=False,  # by whatever decides
)


class Expected(TypedDict):
    threshold: float
    false_reject_rate: float
    false_accept_rate: float | None
    false_accept_interval: list[float] | None


class Classification(TypedDict):
    results: list[ItemClass]
    expected: NotRequired[Expected]


# Duplicates and recall.


class Pair(TypedDict):
    ids: list[Id]
    distance: int
    vector_distance: NotRequired[float]


class Pairs(TypedDict):
    pairs: list[Pair]


class Duplicate(TypedDict):
    id: Id
    distance: int
    columns: Columns


class Recalls(TypedDict):
    estimates: list[RecallEstimate]


class DuplicateGroups(TypedDict):
    n_groups: int
    n_items: int
    n_pairs: int
    groups: list[list[Duplicate]]
    sizes: list[int]


# Changes, versions, and the state of the service and its files.


class Changed(TypedDict):
    n_changed: int
    n_items: int
    snapshot: str
    warnings: Annotated[
        NotRequired[list[str]], Field(description="What was left out, or left null.")
    ]


class Versions(TypedDict):
    version: int
    versions: list[int]
    tags: dict[str, int]


class Damage(TypedDict):
    """See `fewbits.store.Damage`; `text` says all of it."""

    file: str
    reason: str
    bytes: list[int] | None
    rows: list[int] | None
    columns: list[str]
    text: str


class Verified(TypedDict):
    intact: bool
    number: int | None
    n_rows: int
    n_bytes: int
    damages: list[Damage]
    unreadable: list[str]
    to_rebuild: list[str]
    at: Annotated[float, Field(description="Seconds since 1970.")]
    seconds: float


class Health(TypedDict):
    status: str
    version: str
    snapshot: str
    reason: NotRequired[str]


class ErrorDetail(TypedDict):
    code: str
    message: str


class Error(TypedDict):
    error: ErrorDetail


class Column(TypedDict):
    name: str
    type: str
    is_class: bool
    n_distinct: Annotated[
        NotRequired[int], Field(description="In a sample of the rows.")
    ]


class EncoderFacts(TypedDict):
    kind: str
    n_features: int
    fingerprint: str


class Facts(TypedDict):
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
    unreadable: Annotated[
        list[str], Field(description="Columns that damage keeps from being read.")
    ]
    id_name: str
    id_column: str | None
    id_type: Literal["integer", "string"]
    vectors: bool
    item_features: Annotated[
        bool, Field(description="Whether items by ids can be re-ranked and rejected.")
    ]
    n_classes: int | None
    novelty_radius: int | None
    limits: dict[str, float]
    pages: dict[str, str]
    summary: dict[str, Any]

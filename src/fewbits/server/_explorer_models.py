"""Schemas of what the explorer asks: bits, quality, duplicates, the map."""

from typing import Annotated, Any, Literal

from pydantic import Field

from fewbits.server._answer_models import Answer, RecallEstimate
from fewbits.server._bodies import Id, Share

#: Of the values 0 and 1 of a bit.
Names = Annotated[list[str | None], Field(min_length=2, max_length=2)]


class Bit(Answer):
    """The use and the names of one bit."""

    bit: int
    share: Share = Field(description="Of the items that have a 1.")
    dead: bool
    same_as: list[int]
    names: Names
    proposed: Names | None


class Bits(Answer):
    n_items: int
    n_compared: int
    n_read: int
    n_groups: int
    bits: list[Bit]


class BitWord(Answer):
    word: str
    z: float
    p_value: float
    share: Share
    other_share: Share


class BitExample(Answer):
    """An item that shows a side; `distance` where there are no scores."""

    id: Id
    columns: dict[str, Any]
    score: float = 0.0
    distance: int = 0


class ShareOfClass(Answer):
    name: str = Field(alias="class")
    n: int
    share: Share


class BitMeaning(Bit):
    """The words, the items and the classes of both sides of a bit."""

    words: list[list[BitWord]]
    by: Literal["vectors", "texts", "images", "codes"]
    n_items: int
    zeros: list[BitExample]
    ones: list[BitExample]
    classes: list[ShareOfClass] | None
    n_classes: int


class BitNamed(Answer):
    bit: int
    names: Names


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


class Quality(Answer):
    """See `fewbits.collection.Collection.usage`, too."""

    n_items: int
    n_dead_rows: int
    n_segments: int
    n_files: int
    version: int | None
    n_bits: int
    n_dead_bits: int | None
    effective_bits: float | None
    n_distinct: int | None
    n_shared: int | None
    largest_group: int | None
    n_sample: int
    bytes: dict[str, int]
    warnings: list[str]
    last_verify: Verified | None


class Recall(Answer):
    estimates: list[RecallEstimate]
    truth: str | None
    reason: str | None


Interval = Annotated[list[Share], Field(min_length=2, max_length=2)]


class Novelty(Answer):
    """Shares of items with a neighbour within 0, 1, 2, ... bits."""

    known: list[Share]
    unknown: list[Share] | None
    unknown_interval: list[Interval] | None
    threshold: int
    radius: int | None
    n_samples: int
    n_items: int


class Duplicate(Answer):
    id: Id
    distance: int
    columns: dict[str, Any]


class DuplicateGroups(Answer):
    n_groups: int
    n_items: int
    n_pairs: int
    groups: list[list[Duplicate]]
    sizes: list[int]


class Trust(Answer):
    """The share of true neighbours that the map keeps."""

    k: int
    share: Share
    interval: Interval
    by_chance: Share
    n_sampled: int


class MapFacts(Answer):
    """The newest map, if there is one, and the progress of the next."""

    version: str = Field(description="The snapshot that the map is of.")
    current: bool = Field(description="Whether that is the newest one.")
    ready: bool
    stage: Literal["waiting", "layout", "places", "trust", "ready", "failed"]
    done: int
    total: int
    fault: str | None
    n_points: int = 0
    n_items: int = 0
    method: str = ""
    n_landmarks: int = 0
    trust: Trust | None = None


class LegendEntry(Answer):
    label: Any
    count: int


class OtherClasses(Answer):
    n_classes: int
    count: int


class Scale(Answer):
    low: float
    high: float
    unit: str


class Legend(Answer):
    kind: Literal["classes", "bit", "scale"]
    legend: list[LegendEntry]
    rest: OtherClasses | None
    n_missing: int
    scale: Scale | None


Place = Annotated[list[int], Field(min_length=2, max_length=2)]


class MapItem(Answer):
    id: Id
    row: int
    columns: dict[str, Any]
    place: Place | None


class ChosenItem(MapItem):
    trust: Share | None
    n_same: int


class MapNeighbour(MapItem):
    distance: int
    on_map: bool


class Outlier(MapItem):
    distance: int


class Confusion(MapItem):
    """An item most of whose nearest ones are of another class."""

    name: Any = Field(alias="class")
    other: Any
    votes: int


class MapOutliers(Answer):
    outliers: list[Outlier]
    confusions: list[Confusion] | None
    nearest_distance_p95: int
    k: int
    n_points: int


class MapNeighbours(Answer):
    item: ChosenItem
    neighbours: list[MapNeighbour]

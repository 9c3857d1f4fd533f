"""Requests and responses of the explorer: what bits mean, and whether to trust them.

Costs are bounded by samples, and responses say how large these were.
"""

from fewbits.engine.explore._bit import (
    BitExamples,
    BitRequest,
    BitResponse,
    bit,
    bit_examples,
)
from fewbits.engine.explore._bit_names import (
    bit_names,
    bit_names_path,
    check_bit,
    name_bit,
)
from fewbits.engine.explore._bits import BitsRequest, BitsResponse, BitSummary, bits
from fewbits.engine.explore._duplicate_groups import (
    DuplicateGroupsRequest,
    DuplicateGroupsResponse,
    duplicate_groups,
)
from fewbits.engine.explore._novelty import NoveltyRequest, NoveltyResponse, novelty
from fewbits.engine.explore._quality import (
    QualityResponse,
    RecallOfBundle,
    quality,
    recall_of_bundle,
    verified,
)

__all__ = [
    "BitExamples",
    "BitRequest",
    "BitResponse",
    "BitSummary",
    "BitsRequest",
    "BitsResponse",
    "DuplicateGroupsRequest",
    "DuplicateGroupsResponse",
    "NoveltyRequest",
    "NoveltyResponse",
    "QualityResponse",
    "RecallOfBundle",
    "bit",
    "bit_examples",
    "bit_names",
    "bit_names_path",
    "bits",
    "check_bit",
    "duplicate_groups",
    "name_bit",
    "novelty",
    "quality",
    "recall_of_bundle",
    "verified",
]

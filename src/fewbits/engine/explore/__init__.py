"""Requests and responses of the explorer: what bits mean, and whether to trust them.

Costs are bounded by samples, and responses say how large these were.
"""

from typing import TYPE_CHECKING

from fewbits._lazy import lazy_names

if TYPE_CHECKING:
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
    from fewbits.engine.explore._duplicate_list import duplicate_list
    from fewbits.engine.explore._novelty import NoveltyRequest, NoveltyResponse, novelty
    from fewbits.engine.explore._quality import (
        QualityResponse,
        RecallOfBundle,
        quality,
        recall_of_bundle,
    )
else:  # what draws and tests statistically, no search does
    __getattr__, __dir__ = lazy_names(
        __name__,
        {
            "BitExamples": "fewbits.engine.explore._bit",
            "BitRequest": "fewbits.engine.explore._bit",
            "BitResponse": "fewbits.engine.explore._bit",
            "BitSummary": "fewbits.engine.explore._bits",
            "BitsRequest": "fewbits.engine.explore._bits",
            "BitsResponse": "fewbits.engine.explore._bits",
            "DuplicateGroupsRequest": "fewbits.engine.explore._duplicate_groups",
            "DuplicateGroupsResponse": "fewbits.engine.explore._duplicate_groups",
            "NoveltyRequest": "fewbits.engine.explore._novelty",
            "NoveltyResponse": "fewbits.engine.explore._novelty",
            "QualityResponse": "fewbits.engine.explore._quality",
            "RecallOfBundle": "fewbits.engine.explore._quality",
            "bit": "fewbits.engine.explore._bit",
            "bit_examples": "fewbits.engine.explore._bit",
            "bit_names": "fewbits.engine.explore._bit_names",
            "bit_names_path": "fewbits.engine.explore._bit_names",
            "bits": "fewbits.engine.explore._bits",
            "check_bit": "fewbits.engine.explore._bit_names",
            "duplicate_groups": "fewbits.engine.explore._duplicate_groups",
            "duplicate_list": "fewbits.engine.explore._duplicate_list",
            "name_bit": "fewbits.engine.explore._bit_names",
            "novelty": "fewbits.engine.explore._novelty",
            "quality": "fewbits.engine.explore._quality",
            "recall_of_bundle": "fewbits.engine.explore._quality",
        },
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
    "duplicate_list",
    "name_bit",
    "novelty",
    "quality",
    "recall_of_bundle",
]

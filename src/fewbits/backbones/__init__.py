"""Backbones: raw items to features, named, versioned and reproducible."""

from typing import TYPE_CHECKING

from fewbits._lazy import lazy_names
from fewbits.backbones._base import Backbone, cached_features, features

if TYPE_CHECKING:
    from fewbits.backbones._efficientnet import EfficientNetLite0
    from fewbits.backbones._networks import OnnxImages, keep_network, pixels
    from fewbits.backbones._registry import available, load
    from fewbits.backbones._wordllama import WordLlama
else:  # who embeds texts needs none of what looks at images
    __getattr__, __dir__ = lazy_names(
        __name__,
        {
            "EfficientNetLite0": "fewbits.backbones._efficientnet",
            "OnnxImages": "fewbits.backbones._networks",
            "WordLlama": "fewbits.backbones._wordllama",
            "available": "fewbits.backbones._registry",
            "keep_network": "fewbits.backbones._networks",
            "load": "fewbits.backbones._registry",
            "pixels": "fewbits.backbones._networks",
        },
    )

__all__ = [
    "Backbone",
    "EfficientNetLite0",
    "OnnxImages",
    "WordLlama",
    "available",
    "cached_features",
    "features",
    "keep_network",
    "load",
    "pixels",
]

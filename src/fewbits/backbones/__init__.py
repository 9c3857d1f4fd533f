"""Raw items -> features: named, versioned, and the same on every machine."""

from fewbits.backbones._base import Backbone
from fewbits.backbones._cache import cached_features
from fewbits.backbones._classic import ClassicDescriptors
from fewbits.backbones._efficientnet import EfficientNetLite0
from fewbits.backbones._features import features
from fewbits.backbones._network_images import pixels
from fewbits.backbones._onnx_images import OnnxImages
from fewbits.backbones._registry import available, load
from fewbits.backbones._wordllama import WordLlama

__all__ = [
    "Backbone",
    "ClassicDescriptors",
    "EfficientNetLite0",
    "OnnxImages",
    "WordLlama",
    "available",
    "cached_features",
    "features",
    "load",
    "pixels",
]

"""Backbones by name."""

from functools import cache
from importlib import import_module

from fewbits.backbones import _classic_files, _onnx_files
from fewbits.backbones._base import Backbone
from fewbits.errors import ArgumentError

#: Module and class by id, imported on first use.
_BACKBONES = {
    "wordllama-256": ("_wordllama", "WordLlama"),
    "efficientnet-lite0-96": ("_efficientnet", "EfficientNetLite0At96"),
    "efficientnet-lite0-128": ("_efficientnet", "EfficientNetLite0At128"),
    "efficientnet-lite0-128-2x2": (
        "_efficientnet",
        "EfficientNetLite0At128Quarters",
    ),
    "efficientnet-lite0-128-3x3": (
        "_efficientnet",
        "EfficientNetLite0At128Ninths",
    ),
}


def available() -> list[str]:
    """Return the ids that `load` takes."""
    kept = [*_classic_files.kept_ids(), *_onnx_files.kept_ids()]
    return sorted([*_BACKBONES, *kept])


def load(name: str) -> Backbone:
    """Return a backbone, read once.

    Parameters
    ----------
    name : str
        One of `available`; ``classic`` means the classic descriptors when one
        vocabulary was learnt for them.

    Raises
    ------
    ArgumentError
        When there is none of that name, or several.
    MissingDataError
        When the vocabulary of classic descriptors, or the exported network, is not on
        this machine.
    MissingExtraError
        When its packages are not installed.
    ArtefactError
        When the vocabulary or the network is damaged.
    """
    return read(_classic_files.only_id() if name == "classic" else name)


@cache
def read(name: str) -> Backbone:
    """Return the backbone with that id."""
    if _classic_files.is_id(name):
        from fewbits.backbones._classic import ClassicDescriptors

        return ClassicDescriptors(_classic_files.kept_vocabulary(name))
    if _onnx_files.is_id(name):
        from fewbits.backbones._onnx_images import OnnxImages

        return OnnxImages(_onnx_files.kept_network(name))
    if name not in _BACKBONES:
        raise ArgumentError(f"no backbone {name!r}; known are {', '.join(available())}")
    module, cls = _BACKBONES[name]
    made: Backbone = getattr(import_module(f"fewbits.backbones.{module}"), cls)()
    return made

"""Backbones by name."""

from functools import cache

from fewbits.backbones import _classic_files, _onnx_files
from fewbits.backbones._base import Backbone
from fewbits.backbones._classic import ClassicDescriptors
from fewbits.backbones._efficientnet import (
    EfficientNetLite0At96,
    EfficientNetLite0At128,
    EfficientNetLite0At128Ninths,
    EfficientNetLite0At128Quarters,
)
from fewbits.backbones._onnx_images import OnnxImages
from fewbits.backbones._wordllama import WordLlama
from fewbits.errors import ArgumentError

_BACKBONES: dict[str, type[Backbone]] = {
    cls.id: cls
    for cls in (
        WordLlama,
        EfficientNetLite0At96,
        EfficientNetLite0At128,
        EfficientNetLite0At128Quarters,
        EfficientNetLite0At128Ninths,
    )
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
        return ClassicDescriptors(_classic_files.kept_vocabulary(name))
    if _onnx_files.is_id(name):
        return OnnxImages(_onnx_files.kept_network(name))
    if name not in _BACKBONES:
        raise ArgumentError(f"no backbone {name!r}; known are {', '.join(available())}")
    return _BACKBONES[name]()

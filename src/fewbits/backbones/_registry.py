"""Backbones by name."""

from functools import cache

from fewbits.backbones._base import Backbone
from fewbits.backbones._classic import ClassicDescriptors
from fewbits.backbones._classic_files import is_id, kept_ids, kept_vocabulary, only_id
from fewbits.backbones._efficientnet import (
    EfficientNetLite0At96,
    EfficientNetLite0At128,
    EfficientNetLite0At128Quarters,
)
from fewbits.backbones._wordllama import WordLlama
from fewbits.errors import ArgumentError

_BACKBONES: dict[str, type[Backbone]] = {
    cls.id: cls
    for cls in (
        WordLlama,
        EfficientNetLite0At96,
        EfficientNetLite0At128,
        EfficientNetLite0At128Quarters,
    )
}


def available() -> list[str]:
    """Return the ids that `load` takes."""
    return sorted([*_BACKBONES, *kept_ids()])


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
        When a vocabulary of classic descriptors has not been learnt here.
    MissingExtraError
        When its packages are not installed.
    ArtefactError
        When a vocabulary is damaged.
    """
    return read(only_id() if name == "classic" else name)


@cache
def read(name: str) -> Backbone:
    """Return the backbone with that id."""
    if is_id(name):
        return ClassicDescriptors(kept_vocabulary(name))
    if name not in _BACKBONES:
        raise ArgumentError(f"no backbone {name!r}; known are {', '.join(available())}")
    return _BACKBONES[name]()

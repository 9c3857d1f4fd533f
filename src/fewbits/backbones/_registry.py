"""Backbones by name."""

from functools import cache

from fewbits.backbones._base import Backbone
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
    return sorted(_BACKBONES)


@cache
def load(name: str) -> Backbone:
    """Return a backbone, read once.

    Raises
    ------
    ArgumentError
        When there is none of that name.
    MissingExtraError
        When its packages are not installed.
    """
    if name not in _BACKBONES:
        raise ArgumentError(f"no backbone {name!r}; known are {', '.join(available())}")
    return _BACKBONES[name]()

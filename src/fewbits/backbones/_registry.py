"""Backbones by name."""

from functools import cache

from fewbits.backbones._base import Backbone
from fewbits.errors import ArgumentError

#: Pixels on each side and cells by id of EfficientNet-Lite0.
_EFFICIENTNETS = {
    "efficientnet-lite0-96": (96, 1),
    "efficientnet-lite0-128": (128, 1),
    "efficientnet-lite0-128-2x2": (128, 2),
    "efficientnet-lite0-128-3x3": (128, 3),
}


def available() -> list[str]:
    """Return the ids that `load` takes."""
    from fewbits.backbones._networks import kept_networks

    return sorted(["wordllama-256", *_EFFICIENTNETS, *kept_networks()])


@cache
def load(name: str) -> Backbone:
    """Return a backbone, read once; its packages are imported on first use.

    Parameters
    ----------
    name : str
        One of `available`.

    Raises
    ------
    ArgumentError
        When there is none of that name.
    MissingDataError
        When an exported network is not on this machine.
    MissingExtraError
        When its packages are not installed.
    ArtefactError
        When the network is damaged.
    """
    if name == "wordllama-256":
        from fewbits.backbones._wordllama import WordLlama

        return WordLlama()
    if name in _EFFICIENTNETS:
        from fewbits.backbones._efficientnet import EfficientNetLite0

        size, cells = _EFFICIENTNETS[name]
        return EfficientNetLite0(size, cells=cells)
    from fewbits.backbones._networks import ID, OnnxImages, kept_network

    if ID.fullmatch(name):
        return OnnxImages(kept_network(name))
    raise ArgumentError(f"no backbone {name!r}; known: {', '.join(available())}")

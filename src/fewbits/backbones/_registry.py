"""Backbones by name."""

from functools import cache

from fewbits.backbones._base import Backbone
from fewbits.backbones._features import (
    HOW_TO_LEARN,
    cache_folder,
    is_kept_id,
    kept_ids,
)
from fewbits.errors import ArgumentError, MissingDataError

#: Pixels on each side and cells by id of EfficientNet-Lite0.
_EFFICIENTNETS = {
    "efficientnet-lite0-96": (96, 1),
    "efficientnet-lite0-128": (128, 1),
    "efficientnet-lite0-128-2x2": (128, 2),
    "efficientnet-lite0-128-3x3": (128, 3),
}


def available() -> list[str]:
    """Return the ids that `load` takes."""
    learnt = [*kept_ids("classic"), *kept_ids("onnx")]
    return sorted(["wordllama-256", *_EFFICIENTNETS, *learnt])


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
    if name == "classic":
        ids = kept_ids("classic")
        if not ids:
            raise MissingDataError(
                "there is no vocabulary of classic descriptors in "
                f"{cache_folder()}: {HOW_TO_LEARN}"
            )
        if len(ids) > 1:
            raise ArgumentError(
                f"there are several vocabularies: take {' or '.join(ids)}"
            )
        name = ids[0]
    return _read(name)


@cache
def _read(name: str) -> Backbone:
    """Return the backbone with that id; its packages are imported on first use."""
    if name == "wordllama-256":
        from fewbits.backbones._wordllama import WordLlama

        return WordLlama()
    if name in _EFFICIENTNETS:
        from fewbits.backbones._efficientnet import EfficientNetLite0

        size, cells = _EFFICIENTNETS[name]
        return EfficientNetLite0(size, cells=cells)
    if is_kept_id(name, "classic"):
        from fewbits.backbones._classic import kept_descriptors

        return kept_descriptors(name)
    if is_kept_id(name, "onnx"):
        from fewbits.backbones._networks import OnnxImages, kept_network

        return OnnxImages(kept_network(name))
    raise ArgumentError(f"no backbone {name!r}; known: {', '.join(available())}")

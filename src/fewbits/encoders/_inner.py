"""Files of encoders that hold another one."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from fewbits.encoders._base import Encoder, Tensors, frozen

_PREFIX = "inner."


def inner_tensors(inner: Encoder) -> Tensors:
    """Return the tensors of an inner encoder under names of their own."""
    return {f"{_PREFIX}{name}": tensor for name, tensor in inner.tensors().items()}


def take_inner_tensors(tensors: Tensors) -> Tensors:
    """Take out what `inner_tensors` put in."""
    return {
        name.removeprefix(_PREFIX): tensors.pop(name)
        for name in list(tensors)
        if name.startswith(_PREFIX)
    }


def as_text(word: str) -> NDArray[Any]:
    """Return a word as a tensor."""
    return frozen(np.frombuffer(word.encode("ascii"), np.uint8), np.uint8)


def word_of(tensor: NDArray[Any]) -> str:
    """Return the word that `as_text` was given."""
    return tensor.tobytes().decode("ascii")

"""Helpers for torch with and without networks; imported where torch is."""

import torch
from torch import Tensor

from fewbits.errors import ArgumentError

#: What torch's allocators and libraries say when there is none left.
_NO_MEMORY = ("out of memory", "allocate memory", "not enough memory", "alloc_failed")


def signs(scores: Tensor) -> Tensor:
    return torch.where(scores >= 0, 1.0, -1.0).to(scores.dtype)


def lacks_memory(error: RuntimeError) -> bool:
    message = str(error).lower()
    return any(words in message for words in _NO_MEMORY)


def device_named(name: str) -> torch.device:
    """Return the device of this name; "auto" is a GPU if there is one."""
    if name == "auto":
        name = "cuda" if torch.cuda.is_available() else "cpu"
    try:
        device = torch.device(name)
        is_known = device.type in ("cpu", "cuda")
    except (RuntimeError, TypeError):
        is_known = False
    if not is_known:
        raise ArgumentError(f"no device {name!r}: 'auto', 'cpu' or 'cuda'")
    if device.type == "cuda" and not torch.cuda.is_available():
        raise ArgumentError(f"device={name!r}, but torch finds no GPU here")
    return device

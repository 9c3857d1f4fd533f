"""What deep learners need of torch: devices, memory, seeds, and copies of states."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from copy import deepcopy
from typing import Any

import torch
from torch import Tensor, nn

from fewbits.learners._core._device import (
    device_around,
    device_named,
    tensor_signs,
)

#: Of a module.
State = dict[str, Any]


class _SignSTE(torch.autograd.Function):
    @staticmethod
    def forward(ctx: object, scores: Tensor) -> Tensor:
        result: Tensor = tensor_signs(scores)
        return result

    @staticmethod
    def backward(ctx: object, *gradients: Tensor) -> Tensor:
        return gradients[0]


def straight_through(scores: Tensor) -> Tensor:
    """Return the signs of scores, 0 giving 1; gradients pass unchanged."""
    result: Tensor = _SignSTE.apply(scores)  # type: ignore[no-untyped-call]
    return result


def as_device(name: str) -> torch.device:
    # "auto" takes that of the block, `on_device`, or else a GPU if there is one.
    around = device_around() if name == "auto" else None
    device: torch.device = device_named(around or name)
    return device


def device_of(module: nn.Module) -> torch.device:
    parameter = next(module.parameters(), None)
    return torch.device("cpu") if parameter is None else parameter.device


@contextmanager
def deterministic(device: torch.device) -> Iterator[None]:
    """Let a GPU sum in one order inside the block, as far as torch knows how."""
    # torch warns of an operation for which it does not.
    if device.type != "cuda":
        yield
        return
    os.environ.setdefault("CUBLAS_WORKSPACE_CONFIG", ":4096:8")  # what cuBLAS asks for
    before = torch.get_deterministic_debug_mode()
    torch.use_deterministic_algorithms(True, warn_only=True)
    try:
        yield
    finally:
        torch.set_deterministic_debug_mode(before)


@contextmanager
def reproducible(seed: int) -> Iterator[None]:
    """Seed torch inside the block, and leave its generators as they were outside."""
    with undisturbed():
        # `torch.manual_seed` notes where it was called from: milliseconds each time.
        torch.default_generator.manual_seed(seed)
        if torch.cuda.is_available():
            torch.cuda.manual_seed_all(seed)
        yield


@contextmanager
def undisturbed() -> Iterator[None]:
    """Leave torch's generators as they were, whatever the block draws."""
    with torch.random.fork_rng(range(torch.cuda.device_count())):
        yield


def copy_of(module: nn.Module) -> State:
    return {
        name: value.clone() if isinstance(value, Tensor) else deepcopy(value)
        for name, value in module.state_dict().items()
    }

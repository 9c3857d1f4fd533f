"""Helpers of torch that are used in more than one place."""

import os
from collections.abc import Iterator
from contextlib import contextmanager

import torch
from torch import Tensor, nn

from fewbits.errors import OutOfMemoryError
from fewbits.learners._core._device import device_around
from fewbits.learners._core._torch import device_named, lacks_memory, signs


class SignSTE(torch.autograd.Function):
    """Sign with 0 -> 1 forwards, the identity backwards (straight-through)."""

    @staticmethod
    def forward(ctx: object, scores: Tensor) -> Tensor:
        return signs(scores)

    @staticmethod
    def backward(ctx: object, *gradients: Tensor) -> Tensor:
        return gradients[0]


def straight_through(scores: Tensor) -> Tensor:
    """Return the signs of scores; gradients pass unchanged."""
    result: Tensor = SignSTE.apply(scores)  # type: ignore[no-untyped-call]
    return result


def as_device(name: str) -> torch.device:
    """Return the device of this name.

    "auto" takes that of the block, `on_device`, or else a GPU if there is one.
    """
    around = device_around() if name == "auto" else None
    return device_named(around or name)


def device_of(module: nn.Module) -> torch.device:
    """Return the device of the first parameter of a module."""
    parameter = next(module.parameters(), None)
    return torch.device("cpu") if parameter is None else parameter.device


def room_on(device: torch.device) -> str:
    """Return the advice for a network that a device has no memory for."""
    return (
        f"with the network alone on {device}: free some there, or choose another device"
    )


@contextmanager
def memory_advice(advice: str) -> Iterator[None]:
    """Turn an error for want of memory into one that says what to do."""
    try:
        yield
    except OutOfMemoryError:
        raise  # told already
    except (MemoryError, RuntimeError) as error:
        if not isinstance(error, MemoryError) and not lacks_memory(error):
            raise
        raise OutOfMemoryError(f"out of memory {advice}") from error


@contextmanager
def deterministic(device: torch.device) -> Iterator[None]:
    """Let a GPU sum in one order inside the block, as far as torch knows how.

    torch warns of an operation for which it does not.
    """
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

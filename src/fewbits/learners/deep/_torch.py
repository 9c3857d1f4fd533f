"""What torch is asked for in more than one place."""

import os
from collections.abc import Iterator
from contextlib import contextmanager

import torch
from torch import Tensor, nn

from fewbits.errors import ArgumentError, FewbitsError
from fewbits.learners._device import device_around

#: What torch's allocators say when there is none left.
_NO_MEMORY = ("out of memory", "allocate memory", "not enough memory")


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


def signs(scores: Tensor) -> Tensor:
    """Return -1 and 1; 0 gives 1, as ``torch.sign`` does not."""
    return torch.where(scores >= 0, 1.0, -1.0).to(scores.dtype)


def as_device(name: str) -> torch.device:
    """Return the device of this name.

    "auto" takes that of the block, `on_device`, or else a GPU if there is one.
    """
    if name == "auto":
        around = device_around()
        name = around or ("cuda" if torch.cuda.is_available() else "cpu")
    try:
        device = torch.device(name)
        known = device.type in ("cpu", "cuda")
    except (RuntimeError, TypeError):
        known = False
    if not known:
        raise ArgumentError(f"no device {name!r}: 'auto', 'cpu' or 'cuda'")
    if device.type == "cuda" and not torch.cuda.is_available():
        raise ArgumentError(f"device={name!r}, but torch finds no GPU here")
    return device


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
    except (MemoryError, RuntimeError) as error:
        told = str(error).lower()
        if not isinstance(error, MemoryError) and not any(
            t in told for t in _NO_MEMORY
        ):
            raise
        raise FewbitsError(f"out of memory {advice}") from error


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
        torch.manual_seed(seed)
        yield


@contextmanager
def undisturbed() -> Iterator[None]:
    """Leave torch's generators as they were, whatever the block draws."""
    with torch.random.fork_rng(range(torch.cuda.device_count())):
        yield

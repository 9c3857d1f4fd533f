"""Identity of a training, for its checkpoint."""

import hashlib
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import nn

from fewbits._typing import Array
from fewbits.classify import Codebook
from fewbits.learners._core._iterative import data_checksum
from fewbits.learners.deep._network import frozen_layers, still_modules

#: What of a loss or control tells it from others.
_TOLD_APART_BY = (
    *(bool, int, float, str, list, tuple),
    *(np.generic, np.ndarray, torch.Tensor),
)
_NOT_IDENTITY = {"verbose", "callbacks", "checkpoint", "device", "random_state"}


def identity_of(parameters: dict[str, Any]) -> dict[str, Any]:
    """Return those parameters that a training depends on, for JSON."""
    found = {
        name.replace("__", "."): described(value)
        for name, value in parameters.items()
        if name not in _NOT_IDENTITY
    }
    backbone = parameters["network__backbone"]
    if backbone is not None:
        trainable = parameters["network__trainable"]
        found["network.backbone"] = described_backbone(backbone, trainable)
    return found


def described(value: Any) -> Any:
    """Return what distinguishes two parameters, for JSON."""
    if isinstance(value, nn.Module):
        numbers = {
            k: described(v)
            for k, v in vars(value).items()
            if isinstance(v, _TOLD_APART_BY)
        }
        return [type(value).__name__, numbers]
    if isinstance(value, torch.Tensor):
        value = value.detach().cpu().numpy()
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, np.ndarray):
        return hashlib.sha256(np.ascontiguousarray(value).data).hexdigest()
    if isinstance(value, Codebook):
        return value.fingerprint
    if isinstance(value, list | tuple):
        return [described(each) for each in value]
    return value if isinstance(value, bool | int | float | str) else repr(value)


def described_backbone(backbone: nn.Module, trainable: int | None) -> Any:
    """Return what distinguishes two backbones, whether they have been trained or not.

    That is the shapes of all parameters, and the values of those that stay as they are.
    """
    shapes = [[name, list(p.shape)] for name, p in backbone.named_parameters()]
    kept = [
        *(p for m in frozen_layers(backbone, trainable) for p in m.parameters(False)),
        *(b for m in still_modules(backbone, trainable) for b in m.buffers(False)),
    ]
    values = [described(tensor.detach().cpu().numpy()) for tensor in kept]
    return [*described(backbone), shapes, values]


def checksum(X: Array, labels: NDArray[Any]) -> str:
    """Return a checksum of the labels and the items, and of their dtype."""
    return f"{X.dtype} {X.shape[1:]} {data_checksum(X.reshape(len(X), -1), labels)}"

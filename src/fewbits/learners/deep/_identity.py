"""What tells one training from another, so that none goes on from another's file."""

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

#: Parameters that a training does not depend on, but for `random_state`: its seed is
#: told apart.
_NOT_IDENTITY = {"verbose", "callbacks", "checkpoint", "device", "random_state"}
#: What of a loss or control tells it from others.
_PLAIN = (bool, int, float, str, list, tuple, np.generic, np.ndarray, torch.Tensor)


def identity_of(parameters: dict[str, Any]) -> dict[str, Any]:
    """Return those parameters that a training depends on, for JSON."""
    identity = {
        name.replace("__", "."): _described(value)
        for name, value in parameters.items()
        if name not in _NOT_IDENTITY
    }
    backbone = parameters["network__backbone"]
    if backbone is not None:
        # Whether it has been trained or not: the shapes of all parameters, and the
        # values of those that stay as they are.
        frozen = frozen_layers(backbone, parameters["network__trainable"])
        still = still_modules(backbone, parameters["network__trainable"])
        constants = [
            *(p for m in frozen for p in m.parameters(False)),
            *(b for m in still for b in m.buffers(False)),
        ]
        shapes = [[name, list(p.shape)] for name, p in backbone.named_parameters()]
        values = [_described(tensor) for tensor in constants]
        identity["network.backbone"] = [*_described(backbone), shapes, values]
    return identity


def _described(value: Any) -> Any:
    """Return what distinguishes two parameters, for JSON."""
    if isinstance(value, nn.Module):
        options = {
            name: _described(option)
            for name, option in vars(value).items()
            if isinstance(option, _PLAIN)
        }
        return [type(value).__name__, options]
    if isinstance(value, torch.Tensor):
        value = value.detach().cpu().numpy()
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, np.ndarray):
        return hashlib.sha256(np.ascontiguousarray(value).data).hexdigest()
    if isinstance(value, Codebook):
        return value.fingerprint
    if isinstance(value, list | tuple):
        return [_described(item) for item in value]
    return value if isinstance(value, bool | int | float | str) else repr(value)


def checksum(X: Array, labels: NDArray[Any]) -> str:
    """Return a checksum of the labels and the items, and of their dtype."""
    return f"{X.dtype} {X.shape[1:]} {data_checksum(X.reshape(len(X), -1), labels)}"

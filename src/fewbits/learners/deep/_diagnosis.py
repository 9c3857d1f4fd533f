"""Diagnosis of a training that went wrong."""

from typing import Any

import torch
from torch import Tensor, nn


def where_not_finite(
    network: nn.Module, objective: nn.Module, X: Tensor, *, mixed_precision: bool
) -> str:
    """Return the name of the first layer whose weights or output are not finite."""
    for name, parameter in network.named_parameters():
        if not torch.isfinite(parameter).all():
            return f"the weights of {name}"
    found: list[str] = []
    handles = [
        module.register_forward_hook(_note(name, found))
        for name, module in network.named_modules()
        if name  # the inner ones report before those around them
    ]
    try:
        with (
            torch.inference_mode(),
            torch.autocast(X.device.type, enabled=mixed_precision),
        ):
            network(X)
    finally:
        for handle in handles:
            handle.remove()
    if found:
        return f"the output of {found[0]}"
    for name, parameter in objective.named_parameters():
        if not torch.isfinite(parameter).all():
            return f"the weights of {name}"
    return "the loss"


def _note(name: str, found: list[str]) -> Any:
    def look(module: nn.Module, inputs: Any, output: Any) -> None:
        if isinstance(output, Tensor) and not torch.isfinite(output).all():
            found.append(name)

    return look

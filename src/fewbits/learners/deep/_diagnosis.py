"""Diagnosis of a training that went wrong."""

from typing import Any

import torch
from torch import Tensor, nn

from fewbits._warnings import warn_user
from fewbits.learners.deep._best import Record

#: Training has failed if, after so many epochs, mAP is below `_POOR` and closed less
#: than this share of the gap between the untrained network and 1.
_LEAST_GAIN, _POOR, _FEWEST_EPOCHS = 0.1, 0.5, 10
#: With fewer held-out items, their mAP is too noisy to decide.
FEWEST_ITEMS = 50


def warn_of_no_gain(
    name: str, untrained: float | None, history: list[Record], learning_rate: float
) -> None:
    """Warn where held-out items rank hardly better than before training."""
    best = max((record["map"] for record in history if "map" in record), default=None)
    if untrained is None or best is None or len(history) < _FEWEST_EPOCHS:
        return
    failed = best < _POOR and best - untrained < _LEAST_GAIN * (1 - untrained)
    if failed:  # not where either is NaN
        warn_user(
            f"{name} has learnt hardly anything: held-out items rank with an mAP of "
            f"{best:.3f} at best, and with {untrained:.3f} before training. Try more "
            f"training.max_epochs, another training.learning_rate ({learning_rate:g}) "
            "or loss"
        )


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

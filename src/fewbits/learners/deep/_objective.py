"""The objective of a training, and its optimiser."""

from typing import Any

import torch
from torch import Tensor, nn

from fewbits.learners.deep._config import TrainingConfig
from fewbits.learners.deep._network import HashNetwork
from fewbits.learners.deep._posterior import Control
from fewbits.learners.deep._targets import Batch
from fewbits.learners.deep.losses import Loss


class Objective(nn.Module):
    """A loss, and a control beside it or in its place."""

    def __init__(self, loss: Loss, control: Control | None) -> None:
        super().__init__()
        self.loss, self.control = loss, control

    @property
    def has_loss(self) -> bool:
        """True if the loss counts, and its own parameters learn."""
        return self.control is None or self.control.mode == "add"

    def forward(self, scores: Tensor, batch: Batch) -> Tensor:
        if self.control is None:
            value: Tensor = self.loss(scores, batch)
            return value
        terms = self.control(scores, batch)
        total: Tensor = self.control.weight * terms.codes + terms.own
        if self.has_loss:
            total = total + self.loss(scores, batch)
        return total


def make_optimizer(
    network: HashNetwork, objective: Objective, config: TrainingConfig
) -> torch.optim.Optimizer:
    """Return AdamW over head, backbone, loss and control, each at its own rate."""
    groups: list[dict[str, Any]] = [
        {"params": list(network.head.parameters()), "lr": config.learning_rate}
    ]
    if network.backbone is not None:
        rate = config.learning_rate * config.backbone_rate
        groups.append({"params": list(network.backbone.parameters()), "lr": rate})
    groups += objective.loss.parameter_groups(config.learning_rate)
    if objective.control is not None:
        own = list(objective.control.parameters())
        groups.append({"params": own, "lr": config.learning_rate})
    trained: dict[float, list[nn.Parameter]] = {}
    for group in groups:  # a step takes time for each group, however small
        wanted = [p for p in group["params"] if p.requires_grad]
        trained.setdefault(group["lr"], []).extend(wanted)
    return torch.optim.AdamW(
        [{"params": params, "lr": lr} for lr, params in trained.items() if params],
        weight_decay=config.weight_decay,
        fused=True,
    )

"""A part of a training."""

from dataclasses import dataclass, field
from typing import Any

import torch


@dataclass(frozen=True)
class Phase:
    """A part of a training, or all of it.

    Attributes
    ----------
    n_epochs : int
    seed : int
    device : torch.device
    name : str
        Empty when it is all.
    checkpoint : str or None
        File that is renewed after each epoch.
    identity : dict
        What the training depends on, for its checkpoint.
    """

    n_epochs: int
    seed: int
    device: torch.device
    name: str = ""
    checkpoint: str | None = None
    identity: dict[str, Any] = field(default_factory=dict)

"""The state of modules and of torch's generators, kept and given back."""

from copy import deepcopy
from typing import Any

import torch
from torch import nn

State = dict[str, Any]


def copy_of(module: nn.Module) -> State:
    """Return a copy of a module's state."""
    return {
        name: value.clone() if isinstance(value, torch.Tensor) else deepcopy(value)
        for name, value in module.state_dict().items()
    }


def random_state() -> dict[str, Any]:
    """Return the states of torch's generators."""
    cuda = torch.cuda.get_rng_state_all() if torch.cuda.is_available() else []
    return {"cpu": torch.get_rng_state(), "cuda": cuda}


def set_random_state(state: dict[str, Any]) -> None:
    """Go back to a state."""
    torch.set_rng_state(state["cpu"])
    if state["cuda"] and torch.cuda.is_available():
        torch.cuda.set_rng_state_all(state["cuda"])

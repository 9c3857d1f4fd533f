"""The contract between a loss and the trainer."""

import inspect
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from fewbits.learners.deep._targets import Batch, Targets

#: Computes the scores of all training items, (n, n_bits), without gradients.
ScoreAll = Callable[[], Tensor]


@dataclass(frozen=True)
class LossContext:
    """Information that a loss gets before training.

    Attributes
    ----------
    n_bits : int
    targets : Targets
        The labels of all training items.
    seed : int
    features : callable, default=None
        Returns the features of all training items, (n, n_features).
    learnt : callable, default=None
        Returns codes learnt to separate the classes, (n_classes, n_bits).
    centres : Tensor, str or array-like, default=None
        Told to a control: those of the loss beside it, or what they would be made from
        in the loss whose place it takes; None where that has none.
    """

    n_bits: int
    targets: Targets
    seed: int
    features: Callable[[], NDArray[np.float64]] | None = None
    learnt: Callable[[], NDArray[np.int8]] | None = None
    centres: Any = None

    @property
    def n_classes(self) -> int:
        """Number of classes of the targets."""
        return self.targets.n_classes

    def generator(self) -> torch.Generator:
        """Return a generator of random numbers for what a loss starts with."""
        return torch.Generator().manual_seed(self.seed)


def changed_options(part: nn.Module) -> dict[str, Any]:
    """Return what a loss or a control was made with that is not the default.

    By parameter name; what is stored under another name is left out.
    """
    found = {}
    for name, given in inspect.signature(type(part)).parameters.items():
        value = getattr(part, "kind" if name == "centres" else name, given.default)
        plain = value is None or isinstance(value, str | int | float)
        if not plain or value != given.default:
            found[name] = value
    return found


def shown_options(part: nn.Module) -> str:
    """Return the options that are not the default, as they are written."""
    return ", ".join(
        f"{name}={'array' if isinstance(value, np.ndarray) else repr(value)}"
        for name, value in changed_options(part).items()
    )


class Loss(nn.Module, ABC):
    """A loss on the scores of a batch; its constructor takes numbers only.

    A new loss implements `forward`, and the other methods as far as it needs them.
    """

    #: Whether the network ends in a batch normalisation, which deployment folds in.
    batch_norm: ClassVar[bool] = False
    #: What `NetworkConfig` drops out by default with this loss; None is its usual rate.
    head_dropout: ClassVar[float | None] = None

    def start(self, context: LossContext) -> None:
        """Make parameters and buffers for this problem; a repeated call starts anew."""

    def start_epoch(self, epoch: int, score_all: ScoreAll) -> None:
        """Do what is done once an epoch, counted from 0."""

    @abstractmethod
    def forward(self, scores: Tensor, batch: Batch) -> Tensor:
        """Return the loss of a batch.

        Parameters
        ----------
        scores : Tensor of shape (b, n_bits)
            What the network gives, before any activation.
        batch : Batch
            The labels of the same items.

        Returns
        -------
        Tensor
            A scalar.
        """

    def parameter_groups(self, learning_rate: float) -> list[dict[str, Any]]:
        """Return the parameters of the loss itself for the optimiser."""
        parameters = [p for p in self.parameters() if p.requires_grad]
        return [{"params": parameters, "lr": learning_rate}] if parameters else []

    def extra_repr(self) -> str:
        return shown_options(self)

    @property
    def classifier(self) -> Tensor | None:
        """Weights (n_classes, n_bits) that score classes by codes, if there are any."""
        return None

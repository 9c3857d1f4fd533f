"""The contract between a loss and the trainer, and the labels that both see."""

from __future__ import annotations

import inspect
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
import scipy.sparse as sp
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.nn.functional import one_hot

from fewbits.learners._core._parameters import Constraint, check, complete

#: Computes the scores of all training items, (n, n_bits), without gradients.
ScoreAll = Callable[[], Tensor]


@dataclass(frozen=True)
class Targets:
    """The labels of all training items, of one class each or of several.

    Attributes
    ----------
    values : Tensor
        Classes (n,), int64; or 1 for each label and 0 for others (n, n_classes),
        float32.
    n_classes : int
    """

    values: Tensor
    n_classes: int

    @classmethod
    def from_indicator(cls, Y: sp.csr_array, single: bool) -> Targets:
        """Take an indicator matrix; `single` promises one label for each item."""
        if single:
            return cls(torch.from_numpy(Y.indices.astype(np.int64)), Y.shape[1])
        return cls(torch.from_numpy(Y.toarray().astype(np.float32)), Y.shape[1])

    @property
    def classes(self) -> Tensor | None:
        """The class of each item; None where an item may have several labels."""
        return self.values if self.values.ndim == 1 else None

    def __len__(self) -> int:
        return len(self.values)

    def __getitem__(self, rows: Tensor) -> Batch:
        return Batch(rows, replace(self, values=self.values.index_select(0, rows)))

    def subset(self, rows: NDArray[np.int64]) -> Targets:
        return replace(self, values=self.values[torch.from_numpy(rows)])

    def to(self, device: torch.device) -> Targets:
        return replace(self, values=self.values.to(device))

    def numpy(self) -> NDArray[Any]:
        """Return `values` as an array."""
        array: NDArray[Any] = self.values.cpu().numpy()
        return array

    def indicator(self) -> sp.csr_array:
        """Return 1 for each label of an item, (n, n_classes)."""
        if self.classes is None:
            return sp.csr_array(self.numpy())
        n, classes = len(self), self.numpy()
        rows = np.arange(n + 1)
        return sp.csr_array((np.ones(n), classes, rows), (n, self.n_classes))


class Batch:
    """The labels of some training items.

    Attributes
    ----------
    rows : Tensor of shape (b,), int64
        The numbers of the items.
    classes : Tensor of shape (b,), int64, or None
        The class of each item; None where an item may have several labels.
    """

    def __init__(self, rows: Tensor, targets: Targets) -> None:
        self.rows, self.classes = rows, targets.classes
        self._targets = targets

    def to(self, device: torch.device) -> Batch:
        """Return them on a device: themselves where they are there."""
        if self.rows.device == device:
            return self
        return Batch(self.rows.to(device), self._targets.to(device))

    @cached_property
    def labels(self) -> Tensor:
        """1 for each label of an item, shape (b, n_classes), float32."""
        if self.classes is not None:
            return one_hot(self.classes, self._targets.n_classes).float()
        return self._targets.values

    @property
    def labelled(self) -> Tensor | None:
        """1 for items with a label, 0 for others, (b, 1); None where all have one."""
        if self.classes is not None:
            return None
        return (self.labels.sum(dim=1, keepdim=True) > 0).float()

    def similar(self, other: Batch | None = None) -> Tensor:
        """Return 1 where two items share a label, shape (b, b'), float32."""
        other = self if other is None else other
        if self.classes is not None and other.classes is not None:
            return (self.classes[:, None] == other.classes).float()
        return (self.labels @ other.labels.T > 0).float()

    def overlap(self, other: Batch | None = None) -> Tensor:
        """Return the share of the labels of two items that both have (Jaccard)."""
        other = self if other is None else other
        common = self.labels @ other.labels.T
        n_own, n_other = (batch.labels.sum(dim=1) for batch in (self, other))
        return common / (n_own[:, None] + n_other - common).clamp(min=1)


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


@dataclass(eq=False, repr=False)
class Term(nn.Module, ABC):
    """A loss or a control: a dataclass whose fields are its options."""

    #: What each option may be.
    constraints: ClassVar[Mapping[str, Constraint]] = {}

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        complete(cls)

    def __post_init__(self) -> None:
        super().__init__()
        for name, allowed in self.constraints.items():
            check(name, getattr(self, name), allowed)

    def changed_options(self) -> dict[str, Any]:
        """Return the options that differ from their defaults."""
        options = {}
        for name, parameter in inspect.signature(type(self)).parameters.items():
            default = parameter.default
            value = getattr(self, name, default)
            plain = value is None or isinstance(value, str | int | float)
            if not plain or value != default:
                options[name] = value
        return options

    def extra_repr(self) -> str:
        return ", ".join(
            f"{name}={'array' if isinstance(value, np.ndarray) else repr(value)}"
            for name, value in self.changed_options().items()
        )


class Loss(Term):
    """A loss on the scores of a batch.

    A new loss implements `forward`, and the other methods as far as it needs them.
    """

    #: Whether the network ends in a batch normalisation, which deployment folds in.
    batch_norm: ClassVar[bool] = False
    #: What `NetworkConfig` drops out by default with this loss.
    head_dropout: ClassVar[float] = 0.5

    def start(self, context: LossContext) -> None:
        """Make parameters and buffers for this problem; a repeated call starts anew."""

    def start_epoch(self, epoch: int, score_all: ScoreAll) -> None:
        """Do what is done once an epoch, counted from 0."""

    @abstractmethod
    def forward(self, scores: Tensor, batch: Batch) -> Tensor:
        """Return the loss of a batch, from the network's scores (b, n_bits)."""

    def parameter_groups(self, learning_rate: float) -> list[dict[str, Any]]:
        """Return the parameters of the loss itself for the optimiser."""
        parameters = [p for p in self.parameters() if p.requires_grad]
        return [{"params": parameters, "lr": learning_rate}] if parameters else []

    @property
    def classifier(self) -> Tensor | None:
        """Weights (n_classes, n_bits) that score classes by codes, if there are any."""
        return None

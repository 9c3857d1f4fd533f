"""Labels of the items of a batch."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse as sp
import torch
from numpy.typing import NDArray
from torch import Tensor


class Batch:
    """The labels of some training items.

    Attributes
    ----------
    rows : Tensor of shape (b,), int64
        The numbers of the items.
    classes : Tensor of shape (b,), int64, or None
        The class of each item; None where an item may have several labels.
    """

    def __init__(
        self, rows: Tensor, classes: Tensor | None, labels: Tensor | None, n: int
    ) -> None:
        self.rows, self.classes = rows, classes
        self._labels, self._n_classes = labels, n

    def to(self, device: torch.device) -> "Batch":
        """Return them on a device: themselves where they are there."""
        if self.rows.device == device:
            return self
        classes, labels = (
            None if given is None else given.to(device)
            for given in (self.classes, self._labels)
        )
        return Batch(self.rows.to(device), classes, labels, self._n_classes)

    @cached_property
    def labels(self) -> Tensor:
        """1 for each label of an item, shape (b, n_classes), float32."""
        if self.classes is None:
            assert self._labels is not None
            return self._labels
        return torch.nn.functional.one_hot(self.classes, self._n_classes).float()

    @property
    def labelled(self) -> Tensor | None:
        """1 for items with a label, 0 for others, (b, 1); None where all have one."""
        if self.classes is not None:
            return None
        return (self.labels.sum(dim=1, keepdim=True) > 0).float()

    def similar(self, other: "Batch | None" = None) -> Tensor:
        """Return 1 where two items share a label, shape (b, b'), float32."""
        other = self if other is None else other
        if self.classes is not None and other.classes is not None:
            return (self.classes[:, None] == other.classes).float()
        return (self.labels @ other.labels.T > 0).float()

    def overlap(self, other: "Batch | None" = None) -> Tensor:
        """Return the share of the labels of two items that both have (Jaccard)."""
        other = self if other is None else other
        common = self.labels @ other.labels.T
        each, theirs = (batch.labels.sum(dim=1) for batch in (self, other))
        return common / (each[:, None] + theirs - common).clamp(min=1)


@dataclass(frozen=True)
class Targets:
    """The labels of all training items, of one class each or of several.

    Attributes
    ----------
    classes : Tensor of shape (n,), int64, or None
    labels : Tensor of shape (n, n_classes), float32, or None
        Exactly one of the two is given.
    n_classes : int
    """

    classes: Tensor | None
    labels: Tensor | None
    n_classes: int

    @classmethod
    def from_indicator(cls, Y: sp.csr_array, single: bool) -> "Targets":
        """Take an indicator matrix; `single` promises one label for each item."""
        if single:
            classes = torch.from_numpy(Y.indices.astype(np.int64))
            return cls(classes, None, Y.shape[1])
        labels = torch.from_numpy(Y.toarray().astype(np.float32))
        return cls(None, labels, Y.shape[1])

    def __len__(self) -> int:
        return len(self._given)

    def __getitem__(self, rows: Tensor) -> Batch:
        classes, labels = (
            None if given is None else given.index_select(0, rows)
            for given in (self.classes, self.labels)
        )
        return Batch(rows, classes, labels, self.n_classes)

    def subset(self, rows: NDArray[np.int64]) -> "Targets":
        """Return those of some rows."""
        given = self._given[torch.from_numpy(rows)]
        if self.classes is None:
            return Targets(None, given, self.n_classes)
        return Targets(given, None, self.n_classes)

    def to(self, device: torch.device) -> "Targets":
        """Return them on a device."""
        given = self._given.to(device)
        if self.classes is None:
            return Targets(None, given, self.n_classes)
        return Targets(given, None, self.n_classes)

    def numpy(self) -> NDArray[Any]:
        """Return classes (n,), or 0 and 1 for each label (n, n_classes)."""
        array: NDArray[Any] = self._given.cpu().numpy()
        return array

    def indicator(self) -> sp.csr_array:
        """Return 1 for each label of an item, (n, n_classes)."""
        if self.classes is None:
            return sp.csr_array(self.numpy())
        n, classes = len(self), self.numpy()
        rows = np.arange(n + 1)
        return sp.csr_array((np.ones(n), classes, rows), (n, self.n_classes))

    @cached_property
    def _given(self) -> Tensor:
        given = self.labels if self.classes is None else self.classes
        assert given is not None
        return given


def class_means(
    F: NDArray[np.float64], targets: Targets
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the means of the features of each class, and its number of items."""
    Y = targets.indicator()
    counts: NDArray[np.float64] = np.asarray(Y.sum(axis=0), np.float64)
    return (Y.T @ F) / np.maximum(counts, 1)[:, None], counts

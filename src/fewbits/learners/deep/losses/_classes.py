"""Losses that classify: GreedyHash, and the two phases of LLC."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.nn.functional import (
    binary_cross_entropy_with_logits,
    cross_entropy,
    normalize,
)

from fewbits.learners._core._device import tensor_signs
from fewbits.learners._core._parameters import Interval
from fewbits.learners.deep._network import straight_through
from fewbits.learners.deep.losses._base import Batch, Loss, LossContext
from fewbits.learners.deep.losses._centres import centre_loss, class_means


@dataclass(eq=False, repr=False)
class GreedyHash(Loss):
    """Classify by the bits themselves; gradients pass the sign unchanged.

    Cross-entropy of a linear classifier without a constant on ``b = sgn(u)``, and
    ``q mean | |u| - 1 |^3``, which makes the passed gradients right in the end.

    Parameters
    ----------
    quantization : float, default=0.1
        The weight ``q`` of what draws scores to -1 and 1; the paper takes 0.1 for 10
        classes and 1 for 1,000.

    Notes
    -----
    Items with several labels get a binary cross-entropy for each; published code takes
    the first label for the only one.

    References
    ----------
    Su, Zhang, Han and Tian, "Greedy Hash: Towards Fast Optimization for Accurate Hash
    Coding in CNN", NeurIPS 2018.
    """

    quantization: float = 0.1

    constraints: ClassVar = {"quantization": [Interval(float, 0)]}

    def start(self, context: LossContext) -> None:
        self.layer = nn.Linear(context.n_bits, context.n_classes, bias=False)
        bound = context.n_bits**-0.5
        with torch.no_grad():
            weights = self.layer.weight
            weights.uniform_(-bound, bound, generator=context.generator())

    def forward(self, scores: Tensor, batch: Batch) -> Tensor:
        logits = self.layer(straight_through(scores))
        penalty = ((scores.abs() - 1).abs() ** 3).mean()
        return class_loss(logits, batch) + self.quantization * penalty

    @property
    def classifier(self) -> Tensor:
        weights: Tensor = self.layer.weight.detach()
        return weights


@dataclass(eq=False, repr=False)
class CodebookLoss(Loss):
    """Phase 1: learn a binary code for each class by classifying with it.

    Cross-entropy of ``B(C) u`` with the class, eq. (2): C is real, its signs are used,
    and gradients pass them unchanged. The scores ``u = P F(x)`` are not signed.
    """

    # C starts from `initial`, at the spread of what else would be drawn. With the
    # learning rate of the network, the published recipe turns hardly a bit on small
    # data. Losses of prefixes of the lengths in `nested` are averaged. Not of the paper
    # is what keeps similarities of classes: between ``tanh(C / s)``, with s the spread
    # of the start, and the centred means of the classes' features, the squared
    # differences of cosines, summed over one class's pairs, averaged over classes.

    initial: Any = None
    learning_rate: float = 1e-2
    label_smoothing: float = 0.1
    nested: Sequence[int] = ()
    similarity_weight: float = 0.0
    first: Tensor = field(init=False)
    similarities: Tensor = field(init=False)

    def start(self, context: LossContext) -> None:
        shape = context.n_classes, context.n_bits
        # Kaiming's, as for a layer with ReLU.
        self.deviation = (2 / context.n_bits) ** 0.5
        if self.initial is None:
            C = torch.randn(shape, generator=context.generator())
        else:
            C = torch.as_tensor(self.initial, dtype=torch.float32)
            C = C / C.square().mean().sqrt().clamp(min=1e-12)
        self.C = nn.Parameter(C * self.deviation)
        self.register_buffer("first", self.C.detach().clone())
        if self.similarity_weight:
            assert context.features is not None
            means, _ = class_means(context.features(), context.targets)
            alike = _cosines(torch.from_numpy(means - means.mean(axis=0))).float()
            self.register_buffer("similarities", alike, persistent=False)

    def forward(self, scores: Tensor, batch: Batch) -> Tensor:
        B = straight_through(self.C)
        lengths = sorted({*self.nested, scores.shape[1]})
        losses = [
            class_loss(scores[:, :m] @ B[:, :m].T, batch, self.label_smoothing)
            for m in lengths
        ]
        loss = torch.stack(losses).mean()
        if self.similarity_weight:
            relaxed = [torch.tanh(self.C[:, :m] / self.deviation) for m in lengths]
            errors = [_cosines(T) - self.similarities for T in relaxed]
            apart = torch.stack([E.square().sum(dim=1).mean() for E in errors])
            loss = loss + self.similarity_weight * apart.mean()
        return loss

    def parameter_groups(self, learning_rate: float) -> list[dict[str, Any]]:
        return [{"params": [self.C], "lr": self.learning_rate}]

    def classify(self, scores: Tensor) -> Tensor:
        weights: Tensor = tensor_signs(self.C.detach())
        return scores @ weights.T

    @property
    def values(self) -> NDArray[np.float64]:
        return self.C.detach().cpu().numpy().astype(np.float64)


@dataclass(eq=False, repr=False)
class CodeLoss(Loss):
    """Phase 2: each bit a binary classification with the bit of the class's code.

    The mean over bits of eq. (3), whose sum would only change the learning rate. An
    item of several labels has the mean of their codes as target, one without a label
    none.
    """

    codebook: Any
    codes: Tensor = field(init=False)

    def start(self, context: LossContext) -> None:
        codes = np.array(self.codebook, np.float32)
        self.register_buffer("codes", torch.from_numpy(codes))

    def forward(self, scores: Tensor, batch: Batch) -> Tensor:
        return centre_loss(scores, self.codes, batch)


class ClassLoss(Loss):
    """Plain cross-entropy of a linear classifier: one output for each class."""

    def forward(self, scores: Tensor, batch: Batch) -> Tensor:
        return class_loss(scores, batch)


def class_loss(logits: Tensor, batch: Batch, label_smoothing: float = 0.0) -> Tensor:
    """Return the cross-entropy of classes, or of each label where there are several."""
    if batch.classes is None:
        return binary_cross_entropy_with_logits(logits, batch.labels.to(logits.dtype))
    return cross_entropy(logits, batch.classes, label_smoothing=label_smoothing)


def _cosines(vectors: Tensor) -> Tensor:
    unit = normalize(vectors)
    return unit @ unit.T

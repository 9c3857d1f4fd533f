"""GreedyHash."""

import torch
from torch import Tensor, nn
from torch.nn.functional import binary_cross_entropy_with_logits, cross_entropy

from fewbits.learners._core._parameters import check_number
from fewbits.learners.deep._torch import straight_through
from fewbits.learners.deep.losses._base import Batch, Loss, LossContext


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

    def __init__(self, quantization: float = 0.1) -> None:
        super().__init__()
        check_number("quantization", quantization, 0)
        self.quantization = quantization

    def start(self, context: LossContext) -> None:
        self.layer = linear_classifier(context)

    def forward(self, scores: Tensor, batch: Batch) -> Tensor:
        logits = self.layer(straight_through(scores))
        penalty = ((scores.abs() - 1).abs() ** 3).mean()
        return class_loss(logits, batch) + self.quantization * penalty

    @property
    def classifier(self) -> Tensor:
        weights: Tensor = self.layer.weight.detach()
        return weights


def linear_classifier(context: LossContext) -> nn.Linear:
    """Return a layer from bits to classes with reproducible weights."""
    layer = nn.Linear(context.n_bits, context.n_classes, bias=False)
    bound = context.n_bits**-0.5
    with torch.no_grad():
        layer.weight.uniform_(-bound, bound, generator=context.generator())
    return layer


def class_loss(logits: Tensor, batch: Batch, label_smoothing: float = 0.0) -> Tensor:
    """Return the cross-entropy of classes, or of each label where there are several."""
    if batch.classes is None:
        return binary_cross_entropy_with_logits(logits, batch.labels.to(logits.dtype))
    return cross_entropy(logits, batch.classes, label_smoothing=label_smoothing)

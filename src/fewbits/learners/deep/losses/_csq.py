"""Central similarity quantization."""

from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch.nn.functional import binary_cross_entropy_with_logits, softplus

from fewbits.learners._core._parameters import check_number
from fewbits.learners.deep.losses._base import Batch, Loss, LossContext
from fewbits.learners.deep.losses._centres import make_centres


class CSQ(Loss):
    """Pull every item towards the binary centre of its class.

    Binary cross-entropy of ``(tanh(u) + 1) / 2`` with the centre, and
    ``q mean log cosh(|tanh(u)| - 1)``. An item of several labels has one centre: the
    sign of the sum of theirs, ties taken from one fixed random code. One without a
    label has none, and only the second term.

    Parameters
    ----------
    centres : str or array-like of shape (n_classes, n_bits), default="hadamard"
        -1 and 1, or "hadamard", "balanced", "separated", "semantic", "learnt",
        "predictable"; see `fewbits.learners.deep.PosteriorControl`.
    quantization : float, default=1e-4
        The weight ``q`` of what draws scores to -1 and 1.

    References
    ----------
    Yuan et al., "Central Similarity Quantization for Efficient Image and Video
    Retrieval", CVPR 2020.
    """

    centres: Tensor
    tie: Tensor

    def __init__(self, centres: Any = "hadamard", quantization: float = 1e-4) -> None:
        super().__init__()
        check_number("quantization", quantization, 0)
        self.kind, self.quantization = centres, quantization

    def start(self, context: LossContext) -> None:
        self.register_buffer("centres", make_centres(self.kind, context))
        bits = torch.randint(2, (context.n_bits,), generator=context.generator())
        self.register_buffer("tie", 2.0 * bits - 1)

    def forward(self, scores: Tensor, batch: Batch) -> Tensor:
        # (tanh(u) + 1) / 2 is the sigmoid of 2 u.
        central = binary_cross_entropy_with_logits(
            2 * scores, (self.centres_of(batch) + 1) / 2, weight=batch.labelled
        )
        gap = (torch.tanh(scores).abs() - 1).abs()
        log_cosh = gap + softplus(-2 * gap) - float(np.log(2))  # without overflow
        return central + self.quantization * log_cosh.mean()

    def centres_of(self, batch: Batch) -> Tensor:
        """Return the centre of each item, (b, n_bits)."""
        if batch.classes is not None:
            return self.centres[batch.classes]
        sums = batch.labels.to(self.centres.dtype) @ self.centres
        return torch.where(sums == 0, self.tie, sums.sign())

"""OrthoHash."""

from typing import Any, ClassVar

import torch
from torch import Tensor
from torch.nn.functional import cross_entropy, normalize

from fewbits.learners._core._parameters import check_number
from fewbits.learners.deep.losses._base import Batch, Loss, LossContext
from fewbits.learners.deep.losses._centres import make_centres
from fewbits.learners.deep.losses._pairs import SHORTEST


class OrthoHash(Loss):
    """One cross-entropy on the cosines between scores and fixed binary centres.

    ``CE(s (cos(v, c) - m 1[own class]))`` with ``v`` the scores after a batch
    normalisation, which balances the bits. Items with several labels have the target
    shared among them, and the margin on each; those without a label count nothing.

    Parameters
    ----------
    centres : str or array-like of shape (n_classes, n_bits), default="hadamard"
        -1 and 1, or "hadamard", "balanced", "separated", "semantic", "learnt",
        "predictable"; see `fewbits.learners.deep.PosteriorControl`.
    scale : float, default=8.0
        The factor ``s`` of the cosines.
    margin : float, default=0.2
        The margin ``m`` on the cosine of the own class, 2 at most.

    References
    ----------
    Hoe et al., "One Loss for All: Deep Hashing with a Single Cosine Similarity based
    Learning Objective", NeurIPS 2021.
    """

    batch_norm: ClassVar[bool] = True
    centres: Tensor

    def __init__(
        self, centres: Any = "hadamard", scale: float = 8.0, margin: float = 0.2
    ) -> None:
        super().__init__()
        check_number("scale", scale, 0, above=True)
        check_number("margin", margin, 0, 2)
        self.kind, self.scale, self.margin = centres, scale, margin

    def start(self, context: LossContext) -> None:
        self.register_buffer("centres", make_centres(self.kind, context))

    def forward(self, scores: Tensor, batch: Batch) -> Tensor:
        cosines = normalize(scores, eps=SHORTEST) @ normalize(self.centres).T
        labels = batch.labels.to(cosines.dtype)
        shares = labels / labels.sum(dim=1, keepdim=True).clamp(min=1)
        logits = self.scale * torch.where(labels > 0, cosines - self.margin, cosines)
        return cross_entropy(logits, shares)

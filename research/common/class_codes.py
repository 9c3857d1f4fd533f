"""Codes for classes in several studies: codebooks, and what they stand beside."""

from typing import Any

import torch
from torch import Tensor, nn

from fewbits.learners.deep import LLC
from fewbits.learners.deep.losses import Batch, Loss, LossContext
from fewbits.learners.deep.losses._centres import class_loss
from research.common.settings import configured

#: Codebooks of LLC's table 1, and ways to get one for less.
CODEBOOKS: dict[str, dict[str, Any]] = {
    "LLC": {"codebook": "learnt"},
    "random": {"codebook": "random"},
    "SVD": {"codebook": "svd"},
    "CCA": {"codebook": "cca"},
    "LLC from SVD": {"codebook": "learnt", "init": "svd", "codebook_epochs": 15},
    "LLC from CCA": {"codebook": "learnt", "init": "cca", "codebook_epochs": 15},
    "predictable": {"codebook": "predictable"},
    "LLC from predictable": {"init": "predictable", "codebook_rate": 1e-3},
    "LLC with similarities": {"similarity_weight": 0.1},
    "LLC with a bias": {"codebook": "learnt", "bias": True},
}
#: Epochs for items and for the codebook.
MAX_EPOCHS, CODEBOOK_EPOCHS = 100, 50
REAL = "real-valued, learnt"
#: The head: with a hidden layer, or linear, where the paper trains a whole network.
HIDDEN: dict[str, Any] = {"hidden": (512,), "dropout": 0.5}
LINEAR: dict[str, Any] = {"hidden": (), "dropout": 0.0}
#: Ends the name of a method behind a hidden layer whose linear form is measured, too.
HIDDEN_LAYER = ", hidden layer"
#: With a hidden layer fewer steps do; held-out items of ICD-10 chose the rate.
QUICK = {"max_epochs": 40, "codebook_epochs": 20, "learning_rate": 3e-3}


def llc(n_bits: int | None = None, **options: Any) -> LLC:
    """Return an untrained LLC; as in the paper, its projection has no bias."""
    learner: LLC = configured(
        LLC, n_bits=n_bits, **{"bias": False, **HIDDEN, **QUICK, **options}
    )
    return learner


def linear_llc(n_bits: int | None = None, **options: Any) -> LLC:
    """Return an untrained LLC with a linear head."""
    usual = {"max_epochs": MAX_EPOCHS, "codebook_epochs": CODEBOOK_EPOCHS}
    settings = {"learning_rate": 1e-3, **usual, **LINEAR, **options}
    return llc(n_bits, **settings)


def possible(method: str, bits: int, n_classes: int) -> bool:
    """Return whether there are as many directions between classes as bits."""
    directions = {"SVD", "CCA"} & set(method.replace(",", "").split())
    return bits < n_classes or not directions


class RealValued(Loss):
    """Classify by the scores themselves: what GreedyHash is without the sign."""

    def start(self, context: LossContext) -> None:
        self.layer = nn.Linear(context.n_bits, context.n_classes, bias=False)
        bound = context.n_bits**-0.5
        with torch.no_grad():
            self.layer.weight.uniform_(-bound, bound, generator=context.generator())

    def forward(self, scores: Tensor, batch: Batch) -> Tensor:
        return class_loss(self.layer(scores), batch)

    @property
    def classifier(self) -> Tensor:
        weights: Tensor = self.layer.weight.detach()
        return weights

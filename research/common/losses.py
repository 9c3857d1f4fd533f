"""Variants of losses and controls that studies compare, as public code has them."""

from typing import Any

import torch
from torch import Tensor
from torch.nn.functional import normalize

from fewbits.learners.deep import Control, PosteriorControl
from fewbits.learners.deep._posterior import ControlLoss
from fewbits.learners.deep.losses import DBDH, DCH, Batch, LossContext
from fewbits.learners.deep.losses._pairs import SHORTEST, hamming_of, off_diagonal


class ClampedDBDH(DBDH):
    """DBDH of scores, clamped to [-1, 1], and not of their signs."""

    def _bits(self, scores: Tensor) -> Tensor:
        return scores.clamp(-1, 1)


class PublicDCH(DCH):
    """DCH of DeepHash-pytorch.

    Parameters
    ----------
    bounded : bool, default=True
        Whether ``h = tanh(u)``, as in the paper. Behind a hidden layer tanh saturates
        at large learning rates, and hardly any gradient is left.
    with_itself : bool, default=False
        Whether the pair of an item with itself counts as a similar one. It has no
        gradient, but its share of the weight of similar pairs: in a batch of 64 items
        of 100 classes the others weigh .4 times as much.
    """

    def __init__(self, bounded: bool = True, with_itself: bool = False) -> None:
        super().__init__()
        self.bounded, self.with_itself = bounded, with_itself

    def forward(self, scores: Tensor, batch: Batch) -> Tensor:
        """Return the loss of a batch."""
        h = torch.tanh(scores) if self.bounded else scores
        similar, n = batch.similar(), len(scores)
        counted, share = off_diagonal(n, scores.device), self._share
        if self.with_itself:
            itself = torch.diag(similar > 0)  # False for items without any label
            n_others, n_itself = n * (n - 1), itself.sum()
            n_pairs = (n_others + n_itself).clamp(min=1)
            share = (n_others * self._share + n_itself) / n_pairs
            counted = counted | itself.diag_embed()
        return self.of_pairs(h, similar, counted, share)


class FrozenPosterior(PosteriorControl):
    """The posterior control with networks that stay as they are at first."""

    # Units that are left out at random would make another function of each step.

    def __init__(self, centres: Any = None, weight: float = 1.0, mode: str = "add"):
        super().__init__(centres, weight, mode, dropout=0.0)

    def start(self, context: LossContext) -> None:
        """Draw the networks."""
        super().start(context)
        self.surrogate.requires_grad_(False)

    def forward(self, scores: Tensor, batch: Batch) -> ControlLoss:
        """Return the term of a batch."""
        codes = self._blocks(scores), self._centres_of(batch)
        return ControlLoss(*self.surrogate.losses(*codes, None))


class CauchyControl(Control):
    """DCH's term for a similar pair, of items and the centres of their classes.

    In place of a loss it is a variant that LBHash's paper compares its surrogate with.
    """

    gamma = 20.0  # scale of the distribution, in bits

    def forward(self, scores: Tensor, batch: Batch) -> ControlLoss:
        """Return the term of a batch."""
        unit, n_bits = normalize(torch.tanh(scores), eps=SHORTEST), scores.shape[1]
        distances = hamming_of(unit @ self.codes.T / n_bits**0.5, n_bits)
        terms = torch.log1p(distances / self.gamma) * batch.labels
        codes = terms.sum(dim=1).mean()
        return ControlLoss(codes, torch.zeros_like(codes))

"""HashNet."""

import torch
from torch import Tensor
from torch.nn.functional import softplus

from fewbits.learners._core._parameters import check_number
from fewbits.learners.deep.losses._base import Batch, LossContext
from fewbits.learners.deep.losses._pairs import (
    PairLoss,
    balancing_weights,
    different,
    mean_over,
    share_of_similar,
)


class HashNet(PairLoss):
    """Weighted likelihood of pairs, and codes that harden during training.

    ``sum w_ij (log(1 + exp(a <h_i, h_j>)) - a s_ij <h_i, h_j>)`` with
    ``h = tanh(beta u)``. The weights make up for how rare similar pairs are; those of
    similar pairs follow the overlap of labels (Jaccard) where items have several.

    Parameters
    ----------
    alpha : float, default=None
        The factor ``a``; None is ``10 / n_bits``, as the authors' code has it.
    growth : float, default=0.005
        ``beta = sqrt(1 + growth * step)``, renewed every 200 steps. The paper lets it
        grow without an end; the authors' code ends at about 7.
    memory : int or None, default=None
        Training items that a batch is compared with, by their scores when they were
        last seen, as public code does; 0 compares the items of a batch with each other,
        as the authors do. Of many classes a batch has hardly any similar pairs: None is
        5,000 for more than 50 classes, and 0 for fewer.

    References
    ----------
    Cao, Long, Wang and Yu, "HashNet: Deep Learning to Hash by Continuation", ICCV 2017.
    """

    _RENEWED = 200

    def __init__(
        self,
        alpha: float | None = None,
        growth: float = 0.005,
        memory: int | None = None,
    ) -> None:
        super().__init__(memory)
        if alpha is not None:
            check_number("alpha", alpha, 0, above=True)
        check_number("growth", growth, 0)
        self.alpha, self.growth = alpha, growth
        self.step = 0

    def start(self, context: LossContext) -> None:
        super().start(context)
        self.step = 0
        self._share = share_of_similar(context.targets, context.generator())

    @property
    def beta(self) -> float:
        """The present steepness of the activation."""
        renewed = self.step // self._RENEWED * self._RENEWED
        return float((1 + self.growth * renewed) ** 0.5)

    def get_extra_state(self) -> int:
        return self.step

    def set_extra_state(self, state: int) -> None:
        self.step = state

    def forward(self, scores: Tensor, batch: Batch) -> Tensor:
        known, others = self.others(scores, batch)
        h, g = (torch.tanh(self.beta * u) for u in (scores, known))
        if self.training:
            self.step += 1
        s = batch.similar(others)
        a = 10 / scores.shape[1] if self.alpha is None else self.alpha
        products = a * (h @ g.T)
        losses = softplus(products) - s * products
        weights = balancing_weights(s, self._share)
        if batch.classes is None:
            weights = weights * torch.where(s > 0, batch.overlap(others), 1.0)
        return mean_over(weights * losses, different(batch, others))

"""Deep balanced discrete hashing."""

import torch
from torch import Tensor
from torch.nn.functional import softplus

from fewbits.learners._core._parameters import check_choice, check_flag, check_number
from fewbits.learners.deep._torch import straight_through
from fewbits.learners.deep.losses._base import Batch, LossContext
from fewbits.learners.deep.losses._pairs import (
    PairLoss,
    balancing_weights,
    different,
    mean_over,
    share_of_similar,
)

#: Of fewer similar pairs than this share, they weigh as much as all others.
_RARE = 0.25
_PUBLISHED, _GENTLE = 0.5, 3.2  # alpha, and its product with the number of bits


class DBDH(PairLoss):
    """Likelihood of pairs of discrete codes, and bits that are balanced.

    ``sum w_ij (log(1 + exp(T_ij)) - s_ij T_ij)`` with ``T = a <b_i, b_j>`` of the bits
    ``b = sgn(u)``, and ``q`` times the mean squared mean of the bits. Gradients pass
    the sign where ``|u| <= 1``.

    Parameters
    ----------
    balance : float, default=0.1
        The weight ``q`` of what balances the bits.
    over : {"bit", "code"}, default="bit"
        Whether each bit is to be balanced over the items of a batch, or each code over
        its bits.
    discrete : bool, default=True
        Whether both terms are of bits. False takes scores, clamped to [-1, 1].
    memory : int or None, default=None
        Training items that a batch is compared with, by their scores when they were
        last seen; 0 compares the items of a batch with each other. Of many classes a
        batch has hardly any similar pairs: None is 5,000 for more than 50 classes, and
        0 for fewer.
    alpha : float or None, default=None
        The factor ``a``. None is 1/2 as in public code, but ``3.2 / n_bits`` where
        fewer than a quarter of all pairs are similar.
    weighted : bool or None, default=None
        Whether similar pairs weigh as much in sum as all others (HashNet's weights but
        for the overlap of labels). None weighs where fewer than a quarter are similar.

    Notes
    -----
    The article says that both terms are of discrete values and that gradients pass them
    straight through; more of it was not at hand. Public code has ``alpha=0.5`` and no
    weights, clamps scores instead of signing them, balances codes, and compares batches
    with all training items. Where similar pairs are rare, codes then learn to be apart
    only: with the classes of CIFAR-10 or Caltech-101 they learn hardly anything.

    References
    ----------
    Zheng, Zhang and Lu, "Deep balanced discrete hashing for image retrieval",
    Neurocomputing 403 (2020).
    """

    def __init__(
        self,
        balance: float = 0.1,
        over: str = "bit",
        *,
        discrete: bool = True,
        memory: int | None = None,
        alpha: float | None = None,
        weighted: bool | None = None,
    ) -> None:
        super().__init__(memory)
        if alpha is not None:
            check_number("alpha", alpha, 0, above=True)
        if weighted is not None:
            check_flag("weighted", weighted)
        check_number("balance", balance, 0)
        check_choice("over", over, ("bit", "code"))
        check_flag("discrete", discrete)
        self.balance, self.over, self.discrete = balance, over, discrete
        self.alpha, self.weighted = alpha, weighted

    def start(self, context: LossContext) -> None:
        super().start(context)
        self._share = share_of_similar(context.targets, context.generator())
        rare = self._share < _RARE
        self._weighs = rare if self.weighted is None else self.weighted
        usual = _GENTLE / context.n_bits if rare else _PUBLISHED
        self._factor = usual if self.alpha is None else self.alpha

    def forward(self, scores: Tensor, batch: Batch) -> Tensor:
        known, others = self.others(scores, batch)
        b = self._bits(scores)
        s = batch.similar(others)
        products = self._factor * (b @ self._bits(known).T)
        losses = softplus(products) - s * products
        if self._weighs:
            losses = balancing_weights(s, self._share) * losses
        pairs = mean_over(losses, different(batch, others))
        means = b.mean(dim=0 if self.over == "bit" else 1)
        return pairs + self.balance * torch.mean(means**2)

    def _bits(self, scores: Tensor) -> Tensor:
        clamped = scores.clamp(-1, 1)
        return straight_through(clamped) if self.discrete else clamped

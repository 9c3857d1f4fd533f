"""Deep balanced discrete hashing."""

import torch
from torch import Tensor
from torch.nn.functional import softplus

from fewbits.learners._core._parameters import check_choice, check_flag, check_number
from fewbits.learners.deep._targets import Batch
from fewbits.learners.deep._torch import straight_through
from fewbits.learners.deep.losses._memory import PairLoss, different
from fewbits.learners.deep.losses._pairs import mean_over


class DBDH(PairLoss):
    """Likelihood of pairs of discrete codes, and bits that are balanced.

    ``sum log(1 + exp(T_ij)) - s_ij T_ij`` with ``T = <b_i, b_j> / 2`` of the bits
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

    Notes
    -----
    The article says that both terms are of discrete values and that gradients pass them
    straight through; more of it was not at hand. Public code clamps scores instead of
    signing them, balances codes, and compares batches with all training items. Where
    similar pairs are rare, a batch has hardly any, and codes learn to be apart only.

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
    ) -> None:
        super().__init__(memory)
        check_number("balance", balance, 0)
        check_choice("over", over, ("bit", "code"))
        check_flag("discrete", discrete)
        self.balance, self.over, self.discrete = balance, over, discrete

    def forward(self, scores: Tensor, batch: Batch) -> Tensor:
        known, others = self.others(scores, batch)
        b = self._bits(scores)
        products = (b @ self._bits(known).T) / 2
        losses = softplus(products) - batch.similar(others) * products
        pairs = mean_over(losses, different(batch, others))
        means = b.mean(dim=0 if self.over == "bit" else 1)
        return pairs + self.balance * torch.mean(means**2)

    def _bits(self, scores: Tensor) -> Tensor:
        clamped = scores.clamp(-1, 1)
        return straight_through(clamped) if self.discrete else clamped

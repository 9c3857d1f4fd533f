"""Deep balanced discrete hashing."""

import torch
from torch import Tensor
from torch.nn.functional import softplus

from fewbits.errors import ArgumentError
from fewbits.learners.deep._targets import Batch
from fewbits.learners.deep._torch import straight_through
from fewbits.learners.deep.losses._base import Loss
from fewbits.learners.deep.losses._pairs import mean_over, off_diagonal


class DBDH(Loss):
    """Likelihood of pairs of discrete codes, and bits that are balanced.

    ``sum log(1 + exp(T_ij)) - s_ij T_ij`` with ``T = <b_i, b_j> / 2`` of the bits
    ``b = sgn(u)``, and ``q`` times the mean squared mean of the bits. Gradients pass
    the sign where ``|u| <= 1``.

    Parameters
    ----------
    balance : float, default=0.1
        The weight ``q``.
    over : {"bit", "code"}, default="bit"
        Whether each bit is to be balanced over the items of a batch, or each code over
        its bits.

    Notes
    -----
    The article says that both terms are of discrete values and that gradients pass them
    straight through; more of it was not at hand. Public code clamps scores to [-1, 1]
    instead of signing them, and balances codes.

    References
    ----------
    Zheng, Zhang and Lu, "Deep balanced discrete hashing for image retrieval",
    Neurocomputing 403 (2020).
    """

    def __init__(self, balance: float = 0.1, over: str = "bit") -> None:
        super().__init__()
        if over not in ("bit", "code"):
            raise ArgumentError(f"over must be 'bit' or 'code', got {over!r}")
        self.balance, self.over = balance, over

    def forward(self, scores: Tensor, batch: Batch) -> Tensor:
        b = straight_through(scores.clamp(-1, 1))
        products = (b @ b.T) / 2
        losses = softplus(products) - batch.similar() * products
        pairs = mean_over(losses, off_diagonal(len(b), b.device))
        means = b.mean(dim=0 if self.over == "bit" else 1)
        return pairs + self.balance * torch.mean(means**2)

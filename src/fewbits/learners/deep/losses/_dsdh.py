"""Deep supervised discrete hashing."""

import torch
from torch import Tensor
from torch.nn.functional import softplus

from fewbits.learners._core._parameters import check_integer, check_number
from fewbits.learners._core._torch import signs
from fewbits.learners.deep.losses._base import Batch, LossContext, ScoreAll
from fewbits.learners.deep.losses._pairs import PairLoss, different, mean_over


class DSDH(PairLoss):
    """Likelihood of pairs, and discrete codes that a linear classifier can separate.

    ``sum log(1 + exp(T_ij)) - s_ij T_ij`` with ``T = <u_i, u_j> / 2`` over all pairs,
    plus ``mu |Y - W'B|^2 + nu |W|^2 + eta |B - U|^2`` over all training items. Once an
    epoch W is solved for in closed form, and the bits B by discrete cyclic coordinate
    descent; between, the network follows the pairs and its bits.

    Parameters
    ----------
    mu : float, default=1.0
        Weight of the errors of the linear classifier, above 0; as in the paper, for
        5,000 items.
    nu : float, default=1.0
        Weight of its norm, above 0.
    eta : float, default=55.0
        Weight of the distance of scores from bits.
    n_sweeps : int, default=10
        Passes over the bits in each descent.
    memory : int, default=5000
        Training items that a batch is compared with, 1 or more; see the notes.

    Notes
    -----
    The sum is divided by the number of pairs, so that learning rates mean the same for
    every size. An item is compared with the scores of up to 5,000 others as they were
    when they were last seen, so a pair moves one of its items at a time; the last term
    is halved for that. Public code leaves the last term out, which leaves the network
    untouched by the classifier.

    References
    ----------
    Li, Sun, He and Tan, "Deep Supervised Discrete Hashing", NIPS 2017.
    """

    B: Tensor
    W: Tensor

    def __init__(
        self,
        mu: float = 1.0,
        nu: float = 1.0,
        eta: float = 55.0,
        n_sweeps: int = 10,
        memory: int = 5000,
    ) -> None:
        super().__init__(memory)
        check_integer("memory", memory, 1)
        check_number("mu", mu, 0, above=True)
        check_number("nu", nu, 0, above=True)
        check_number("eta", eta, 0)
        check_integer("n_sweeps", n_sweeps, 1)
        self.mu, self.nu, self.eta, self.n_sweeps = mu, nu, eta, n_sweeps

    def start(self, context: LossContext) -> None:
        super().start(context)
        self._targets = context.targets
        self.register_buffer("B", torch.zeros(len(context.targets), context.n_bits))
        self.register_buffer("W", torch.zeros(context.n_bits, context.n_classes))

    def start_epoch(self, epoch: int, score_all: ScoreAll) -> None:
        super().start_epoch(epoch, score_all)
        if epoch == 0:
            self.B.copy_(signs(self.U))
        Y = self._targets[torch.arange(len(self.U))].labels.to(self.U)
        self.W.copy_(ridge(self.B, Y, self.nu / self.mu))
        bits = discrete_descent(
            self.B, self.W, Y, self.U, self.eta / self.mu, self.n_sweeps
        )
        self.B.copy_(bits)

    def forward(self, scores: Tensor, batch: Batch) -> Tensor:
        known, others = self.others(scores, batch)
        products = scores @ known.T / 2
        losses = softplus(products) - batch.similar(others) * products
        pairs = mean_over(losses, different(batch, others))
        quantized = ((self.B[batch.rows] - scores) ** 2).sum(dim=1).mean()
        return pairs + self.eta / (2 * max(len(self.U) - 1, 1)) * quantized

    @property
    def classifier(self) -> Tensor:
        return self.W.T


def ridge(B: Tensor, Y: Tensor, weight: float) -> Tensor:
    """Return the W that minimises ``|Y - B W|^2 + weight |W|^2``."""
    eye = torch.eye(B.shape[1], dtype=B.dtype, device=B.device)
    W: Tensor = torch.linalg.solve(B.T @ B + weight * eye, B.T @ Y)
    return W


def discrete_descent(
    B: Tensor, W: Tensor, Y: Tensor, U: Tensor, weight: float, n_sweeps: int
) -> Tensor:
    """Lower ``|Y - B W|^2 + weight |B - U|^2`` over bits -1 and 1, a column at a time.

    Each column is the best one for the others as they are, so no step raises it.
    """
    B = B.clone()
    P = Y @ W.T + weight * U
    C = W @ W.T
    for _ in range(n_sweeps):
        before = B.clone()
        for k in range(B.shape[1]):
            rest = B @ C[:, k] - B[:, k] * C[k, k]
            B[:, k] = signs(P[:, k] - rest)
        if torch.equal(B, before):
            break
    return B

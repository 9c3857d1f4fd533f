"""Deep Cauchy hashing."""

import torch
from torch import Tensor
from torch.nn.functional import normalize

from fewbits.learners._core._parameters import check_flag, check_number
from fewbits.learners.deep.losses._base import Batch, Loss, LossContext
from fewbits.learners.deep.losses._pairs import (
    SHORTEST,
    balancing_weights,
    hamming_of,
    mean_over,
    off_diagonal,
    share_of_similar,
)

_NEAREST = 1e-3  # bits; the loss of a dissimilar pair at distance 0 is infinite


class DCH(Loss):
    """Cauchy likelihood of pairs: similar ones within a small Hamming distance.

    ``sum w_ij (s_ij log(d_ij / g) + log(1 + g / d_ij))`` with HashNet's weights but for
    the overlap of labels, and
    ``q sum log(1 + d(|h_i|, 1) / g)``, with ``d`` the Hamming distance that the cosine
    of ``h = tanh(u)`` stands for, ``n_bits / 2 (1 - cos)``.

    Parameters
    ----------
    gamma : float, default=20.0
        Scale ``g`` of the Cauchy distribution, in bits.
    quantization : float, default=0.1
        Weight ``q`` of the second term.
    bounded : bool, default=True
        Whether ``h = tanh(u)``, as in the paper. False takes the scores themselves, as
        DeepHash-pytorch does: behind a hidden layer tanh saturates at large learning
        rates, and hardly any gradient is left.
    with_itself : bool, default=False
        Whether the pair of an item with itself counts as a similar one, as in
        DeepHash-pytorch. It has no gradient, but its share of the weight of similar
        pairs: in a batch of 64 items of 100 classes the others weigh .4 times as much.

    Notes
    -----
    For ``s = 1`` the two logarithms add up to ``log(1 + d / g)``, which is safe at
    ``d = 0``. The authors' code takes other distances (squared Euclidean) and no
    quantization term; this is the paper.

    References
    ----------
    Cao, Long, Liu and Wang, "Deep Cauchy Hashing for Hamming Space Retrieval",
    CVPR 2018.
    """

    head_dropout = 0.0

    def __init__(
        self,
        gamma: float = 20.0,
        quantization: float = 0.1,
        bounded: bool = True,
        with_itself: bool = False,
    ) -> None:
        super().__init__()
        check_number("gamma", gamma, 0, above=True)
        check_number("quantization", quantization, 0)
        check_flag("bounded", bounded)
        check_flag("with_itself", with_itself)
        self.gamma, self.quantization = gamma, quantization
        self.bounded, self.with_itself = bounded, with_itself

    def start(self, context: LossContext) -> None:
        self._share = share_of_similar(context.targets, context.generator())

    def forward(self, scores: Tensor, batch: Batch) -> Tensor:
        h = torch.tanh(scores) if self.bounded else scores
        g, s = self.gamma, batch.similar()
        unit = normalize(h, eps=SHORTEST)
        distances = hamming_of(unit @ unit.T, scores.shape[1])
        likely = torch.log1p(distances / g)
        unlikely = torch.log1p(g / distances.clamp(min=_NEAREST))
        counted, share = self._counted(s)
        pairs = balancing_weights(s, share) * torch.where(s > 0, likely, unlikely)
        corner = normalize(torch.ones_like(h))
        quantized = hamming_of(
            (normalize(h.abs(), eps=SHORTEST) * corner).sum(dim=1), scores.shape[1]
        )
        return (
            mean_over(pairs, counted)
            + self.quantization * torch.log1p(quantized / g).mean()
        )

    def _counted(self, similar: Tensor) -> tuple[Tensor, Tensor | float]:
        """Return which pairs of a batch count, and which share of them is similar."""
        n = len(similar)
        others = off_diagonal(n, similar.device)
        if not self.with_itself:
            return others, self._share
        itself = torch.diag(similar > 0)  # False for items without any label
        n_others, n_itself = n * (n - 1), itself.sum()
        share = (n_others * self._share + n_itself) / (n_others + n_itself).clamp(min=1)
        return others | itself.diag_embed(), share

"""Losses on pairs of items: of a batch, or of a batch and items seen before."""

from dataclasses import KW_ONLY, dataclass, field
from typing import ClassVar

import torch
from torch import Tensor
from torch.nn.functional import normalize, softplus

from fewbits.learners._core._device import tensor_signs
from fewbits.learners._core._parameters import POSITIVE, Interval
from fewbits.learners.deep._network import straight_through
from fewbits.learners.deep.losses._base import (
    Batch,
    Loss,
    LossContext,
    ScoreAll,
    Targets,
)

#: Norm below which a vector has no direction: gradients of cosines would explode.
SHORTEST = 1e-3
_SAMPLE = 4096
#: Of more classes a batch has hardly any similar pairs; then so many are remembered.
_MANY_CLASSES, _USUAL = 50, 5000
#: Of fewer similar pairs than this share, they weigh as much as all others.
_RARE = 0.25
_MEMORY = [Interval(int, 0), None]
_PUBLISHED, _GENTLE = 0.5, 3.2  # DBDH's alpha, and its product with n_bits
_SWEEPS = 10  # over the bits in each descent of DSDH
_NEAREST = 1e-3  # bits; DCH's loss of dissimilar pairs at distance 0 is infinite


class PairLoss(Loss):
    """A loss on pairs, within a batch or with items that were seen before.

    Parameters
    ----------
    memory : int or None, default=None
        Training items that a batch is compared with, by their scores when they were
        last seen, as in public code; 0 compares the items of a batch with each other,
        as the authors of HashNet do. None is 5,000 for more than 50 classes, of which a
        batch has hardly any similar pairs, and 0 for fewer.
    """

    memory: int | None
    U: Tensor  # the scores of all training items, where some are remembered

    def start(self, context: LossContext) -> None:
        self._buffers.pop("U", None)  # of an earlier training
        memory = self.memory
        if memory is None:
            memory = _USUAL if context.n_classes > _MANY_CLASSES else 0
        if not memory:
            return
        n = len(context.targets)
        self.register_buffer("U", torch.zeros(n, context.n_bits))
        drawn = torch.randperm(n, generator=context.generator())[:memory]
        self._others = context.targets[drawn.sort().values]

    def start_epoch(self, epoch: int, score_all: ScoreAll) -> None:
        if "U" in self._buffers:
            self.U.copy_(score_all())

    def others(self, scores: Tensor, batch: Batch) -> tuple[Tensor, Batch]:
        """Return the scores and the labels of what a batch is compared with."""
        if "U" not in self._buffers:
            return scores, batch
        if self.training:
            self.U[batch.rows] = scores.detach().to(self.U.dtype)
        others = self._others = self._others.to(scores.device)
        return self.U.index_select(0, others.rows), others


@dataclass(eq=False, repr=False)
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

    References
    ----------
    Cao, Long, Wang and Yu, "HashNet: Deep Learning to Hash by Continuation", ICCV 2017.
    """

    alpha: float | None = None
    growth: float = 0.005
    memory: int | None = None
    step: int = field(default=0, init=False)

    constraints: ClassVar = {
        "alpha": [*POSITIVE, None],
        "growth": [Interval(float, 0)],
        "memory": _MEMORY,
    }
    _RENEWED = 200

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
        V, others = self.others(scores, batch)
        h, g = (torch.tanh(self.beta * u) for u in (scores, V))
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


@dataclass(eq=False, repr=False)
class DBDH(PairLoss):
    """Likelihood of pairs of discrete codes, and bits that are balanced.

    ``sum w_ij (log(1 + exp(T_ij)) - s_ij T_ij)`` with ``T = a <b_i, b_j>`` of the bits
    ``b = sgn(u)``, and ``q`` times the mean squared mean of the bits. Gradients pass
    the sign where ``|u| <= 1``.

    Parameters
    ----------
    balance : float, default=0.1
        The weight ``q`` of what balances the bits.
    alpha : float or None, default=None
        The factor ``a``. None is 1/2 as in public code, but ``3.2 / n_bits`` where
        fewer than a quarter of all pairs are similar.
    weighted : bool or None, default=None
        Whether similar pairs weigh as much in sum as all others (HashNet's weights but
        for the overlap of labels). None weighs where fewer than a quarter are similar.

    References
    ----------
    Zheng, Zhang and Lu, "Deep balanced discrete hashing for image retrieval",
    Neurocomputing 403 (2020).
    """

    balance: float = 0.1
    _: KW_ONLY
    memory: int | None = None
    alpha: float | None = None
    weighted: bool | None = None

    constraints: ClassVar = {
        "balance": [Interval(float, 0)],
        "memory": _MEMORY,
        "alpha": [*POSITIVE, None],
        "weighted": ["boolean", None],
    }

    def start(self, context: LossContext) -> None:
        super().start(context)
        self._share = share_of_similar(context.targets, context.generator())
        rare = self._share < _RARE
        self._weighs = rare if self.weighted is None else self.weighted
        usual = _GENTLE / context.n_bits if rare else _PUBLISHED
        self._factor = usual if self.alpha is None else self.alpha

    def forward(self, scores: Tensor, batch: Batch) -> Tensor:
        V, others = self.others(scores, batch)
        b = self._bits(scores)
        s = batch.similar(others)
        products = self._factor * (b @ self._bits(V).T)
        losses = softplus(products) - s * products
        if self._weighs:
            losses = balancing_weights(s, self._share) * losses
        pairs = mean_over(losses, different(batch, others))
        return pairs + self.balance * torch.mean(b.mean(dim=0) ** 2)

    def _bits(self, scores: Tensor) -> Tensor:
        return straight_through(scores.clamp(-1, 1))


@dataclass(eq=False, repr=False)
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

    Notes
    -----
    The authors' code takes squared Euclidean distances and no quantization term; this
    is the paper.

    References
    ----------
    Cao, Long, Liu and Wang, "Deep Cauchy Hashing for Hamming Space Retrieval",
    CVPR 2018.
    """

    gamma: float = 20.0
    quantization: float = 0.1

    constraints: ClassVar = {"gamma": POSITIVE, "quantization": [Interval(float, 0)]}
    head_dropout = 0.0

    def start(self, context: LossContext) -> None:
        self._share = share_of_similar(context.targets, context.generator())

    def forward(self, scores: Tensor, batch: Batch) -> Tensor:
        others = off_diagonal(len(scores), scores.device)
        return self.of_pairs(torch.tanh(scores), batch.similar(), others, self._share)

    def of_pairs(
        self, h: Tensor, similar: Tensor, counted: Tensor, share: Tensor | float
    ) -> Tensor:
        """Return the loss of the pairs that count, a share of which is similar."""
        g, n_bits = self.gamma, h.shape[1]
        unit = normalize(h, eps=SHORTEST)
        distances = hamming_of(unit @ unit.T, n_bits)
        likely = torch.log1p(distances / g)  # both logarithms of s = 1
        unlikely = torch.log1p(g / distances.clamp(min=_NEAREST))
        weights = balancing_weights(similar, share)
        pairs = weights * torch.where(similar > 0, likely, unlikely)
        corner = normalize(torch.ones_like(h))
        cosines = (normalize(h.abs(), eps=SHORTEST) * corner).sum(dim=1)
        quantized = torch.log1p(hamming_of(cosines, n_bits) / g).mean()
        return mean_over(pairs, counted) + self.quantization * quantized


@dataclass(eq=False, repr=False)
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
    memory : int, default=5000
        Training items that a batch is compared with, 1 or more; see the notes.

    Notes
    -----
    The sum is divided by the number of pairs. An item is compared with the scores of
    others as they were when they were last seen, so a pair moves one of its items at a
    time; the last term is halved for that. Public code leaves it out, and with it the
    classifier.

    References
    ----------
    Li, Sun, He and Tan, "Deep Supervised Discrete Hashing", NIPS 2017.
    """

    mu: float = 1.0
    nu: float = 1.0
    eta: float = 55.0
    memory: int = _USUAL
    B: Tensor = field(init=False)
    W: Tensor = field(init=False)

    constraints: ClassVar = {
        "mu": POSITIVE,
        "nu": POSITIVE,
        "eta": [Interval(float, 0)],
        "memory": [Interval(int, 1)],
    }

    def start(self, context: LossContext) -> None:
        super().start(context)
        self._targets = context.targets
        self.register_buffer("B", torch.zeros(len(context.targets), context.n_bits))
        self.register_buffer("W", torch.zeros(context.n_bits, context.n_classes))

    def start_epoch(self, epoch: int, score_all: ScoreAll) -> None:
        super().start_epoch(epoch, score_all)
        if epoch == 0:
            self.B.copy_(tensor_signs(self.U))
        Y = self._targets[torch.arange(len(self.U))].labels.to(self.U)
        eye = torch.eye(self.B.shape[1], dtype=self.B.dtype, device=self.B.device)
        gram = self.B.T @ self.B + self.nu / self.mu * eye
        self.W.copy_(torch.linalg.solve(gram, self.B.T @ Y))
        self._descend(Y)

    def _descend(self, Y: Tensor) -> None:
        """Lower ``|Y - B W|^2 + eta / mu |B - U|^2`` over bits, a column at a time."""
        # Each column is the best one for the others as they are, so no step raises it.
        B, P = self.B, Y @ self.W.T + self.eta / self.mu * self.U
        C = self.W @ self.W.T
        for _ in range(_SWEEPS):
            before = B.clone()
            for k in range(B.shape[1]):
                rest = B @ C[:, k] - B[:, k] * C[k, k]
                B[:, k] = tensor_signs(P[:, k] - rest)
            if torch.equal(B, before):
                break

    def forward(self, scores: Tensor, batch: Batch) -> Tensor:
        V, others = self.others(scores, batch)
        products = scores @ V.T / 2
        losses = softplus(products) - batch.similar(others) * products
        pairs = mean_over(losses, different(batch, others))
        quantized = ((self.B[batch.rows] - scores) ** 2).sum(dim=1).mean()
        return pairs + self.eta / (2 * max(len(self.U) - 1, 1)) * quantized

    @property
    def classifier(self) -> Tensor:
        return self.W.T


def different(batch: Batch, others: Batch) -> Tensor:
    """Return True for pairs of different items, shape (b, b')."""
    return batch.rows[:, None] != others.rows


def off_diagonal(n: int, device: torch.device) -> Tensor:
    return ~torch.eye(n, dtype=torch.bool, device=device)


def mean_over(values: Tensor, pairs: Tensor) -> Tensor:
    """Return the mean of the values of some pairs, 0 if there are none."""
    return (values * pairs).sum() / pairs.sum().clamp(min=1)


def hamming_of(cosines: Tensor, n_bits: int) -> Tensor:
    """Return the Hamming distances that cosines of codes of -1 and 1 stand for."""
    return (n_bits / 2 * (1 - cosines)).clamp(min=0)


def share_of_similar(targets: Targets, generator: torch.Generator) -> float:
    """Return which share of all pairs of different items share a label."""
    # Exact for items of one class each; otherwise of up to 4,096 items drawn at random.
    n = len(targets)
    if targets.classes is not None:
        counts = torch.bincount(targets.classes).double()
        pairs = float((counts * (counts - 1)).sum())
    else:
        n = min(n, _SAMPLE)
        batch = targets[torch.randperm(len(targets), generator=generator)[:n]]
        pairs = float(batch.similar()[off_diagonal(n, batch.rows.device)].sum())
    total = max(n * (n - 1), 2)
    return min(max(pairs, 1.0), total - 1.0) / total


def balancing_weights(similar: Tensor, share: Tensor | float) -> Tensor:
    """Return ``|S| / |S1|`` for similar pairs and ``|S| / |S0|`` for others."""
    # S being all pairs of training items, both kinds weigh the same in sum.
    return torch.where(similar > 0, 1 / share, 1 / (1 - share))

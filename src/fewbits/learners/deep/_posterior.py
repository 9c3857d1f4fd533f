"""Posterior control: the lower bound of LBHash as a term beside any loss.

Zhu et al., "A Lower Bound of Hash Codes' Performance", NeurIPS 2022. Average precision
is bounded below by the smallest distance of codes of two classes over the largest
within one, eq. (1). So the centres of classes shall be far apart, eq. (2), which those
of `fewbits.learners.deep.centres` are before training begins, and codes near their
centres, eq. (3). For that a surrogate network for each block of bits estimates the
joint distribution of the block given the scores, eqs. (4) and (5), and the scores are
trained to make the blocks of their centre likely, eqs. (6) and (7).
"""

from abc import abstractmethod
from dataclasses import KW_ONLY, dataclass, field
from typing import Any, ClassVar, NamedTuple

import torch
from torch import Tensor, nn
from torch.nn.functional import log_softmax, pad, silu, softmax
from torch.nn.utils.rnn import pad_sequence

from fewbits._warnings import warn_user
from fewbits.learners._core._parameters import Interval, words
from fewbits.learners.deep.losses._base import Batch, LossContext, Term
from fewbits.learners.deep.losses._centres import centre_loss, make_centres

_NEVER = -1e30  # log-odds of values that a shorter block cannot have


class ClassTargets(NamedTuple):
    """Values of blocks that are to be likely, k for each item."""

    values: Tensor  # (n_blocks, b, k), int64
    weights: Tensor  # (b, k), 0 for items with fewer of them

    @classmethod
    def one_each(cls, values: Tensor) -> "ClassTargets":
        return cls(values[..., None], torch.ones_like(values[0, :, None]))


class ControlLoss(NamedTuple):
    """Loss that a control adds: a term for the codes, and one for its networks."""

    codes: Tensor
    networks: Tensor


@dataclass(eq=False, repr=False)
class Control(Term):
    """A term beside a loss.

    Parameters
    ----------
    centres : str or array-like of shape (n_classes, n_bits), default=None
        By default those of the loss, or "hadamard" if it has none. Otherwise -1 and 1,
        in the order of the sorted labels, or "hadamard", "balanced", "separated",
        "semantic" (by the means of the features of the classes), "learnt" (as in phase
        1 of LLC, with a linear map of the features), "predictable" (see
        `fewbits.learners.deep.centres.predictable_centres`).
    weight : float, default=1.0
        Of the term against the loss. It decides much; choose it on validation data.
    mode : {"add", "replace"}, default="add"
        Whether it is added to the loss, or takes its place. The paper does not say.
    """

    centres: Any = None
    weight: float = 1.0
    mode: str = "add"
    codes: Tensor = field(init=False)  # of the classes

    constraints: ClassVar = {
        "weight": [Interval(float, 0)],
        "mode": [words("add", "replace")],
    }

    def start(self, context: LossContext) -> None:
        loss_centres = context.centres
        loss_has_codes = isinstance(loss_centres, Tensor)
        if self.centres is None and loss_has_codes:
            codes = loss_centres.clone()
        else:
            kind = loss_centres if self.centres is None else self.centres
            codes = make_centres("hadamard" if kind is None else kind, context)
        self.register_buffer("codes", codes)
        if loss_has_codes and not torch.equal(codes, loss_centres):
            warn_user(
                "the loss and its control draw items to different centres of their "
                "classes: leave out those of the control, or let it replace the loss "
                "(mode='replace')"
            )

    @abstractmethod
    def forward(self, scores: Tensor, batch: Batch) -> ControlLoss:
        """Return the terms of a batch; that of the networks reaches no score."""


class CentreControl(Control):
    """The centres without the posterior: each bit by itself.

    The control experiment that the paper lacks: the binary cross-entropy with each bit
    of the centre, as if the bits of a block were independent. Like that of
    `PosteriorControl` the term is a sum, so that a weight means the same in both.
    """

    def forward(self, scores: Tensor, batch: Batch) -> ControlLoss:
        codes = scores.shape[1] * centre_loss(2 * scores, self.codes, batch, "sum")
        return ControlLoss(codes, torch.zeros_like(codes))


@dataclass(eq=False, repr=False)
class PosteriorControl(Control):
    """Train codes by the likelihood of their class's centre, block by block.

    For each block of 8 bits a small network is given the scores. It learns to tell
    which of the 256 values the block's own signs make (the scores are constants then),
    and the scores learn to make it tell the block of their class's centre (the network
    is constant then). The sum over blocks is the term.

    Parameters
    ----------
    n_hidden : int, default=256
        Hidden units of each network.
    dropout : float, default=0.5
        Share of them that is left out of each step: the same for all items of a batch,
        where the authors' code draws for each item, as that makes smaller products.
    block : int, default=8
        Bits in a block at most, up to 12; as few blocks as do, of nearly equal sizes.

    Notes
    -----
    The value of a block is ``sum_k 1[b_k > 0] 2^(k - 1)``, the first bit lowest. Both
    terms, eqs. (5) and (6) of the paper, come from one pass, as in its Algorithm 1; the
    authors' code trains the networks by both. Of several labels the term is the
    paper's sum over their centres.

    References
    ----------
    Zhu et al., "A Lower Bound of Hash Codes' Performance", NeurIPS 2022.
    """

    _: KW_ONLY
    n_hidden: int = 256
    dropout: float = 0.5
    block: int = 8
    #: Places of the bits of each block, n_bits where one is shorter.
    places: Tensor = field(init=False)
    powers: Tensor = field(init=False)  # what they add to its value
    values: Tensor = field(init=False)  # of the blocks of the centres

    constraints: ClassVar = Control.constraints | {
        "n_hidden": [Interval(int, 1)],
        "dropout": [Interval(float, 0, 0.99)],
        "block": [Interval(int, 1, 12)],
    }

    def start(self, context: LossContext) -> None:
        super().start(context)
        # Blocks of neighbouring bits, n_bits in the place of one where one is shorter.
        order = torch.arange(context.n_bits)
        parts = list(order.tensor_split(-(-len(order) // self.block)))
        places = pad_sequence(parts, batch_first=True, padding_value=context.n_bits)
        self.register_buffer("places", places)
        used = places < context.n_bits
        powers = used << torch.arange(used.shape[1])
        self.register_buffer("powers", powers[:, None], persistent=False)
        self.register_buffer("values", self._values(self._blocks(self.codes)))
        self.surrogate = Surrogate(used.sum(dim=1), self.n_hidden, self.dropout)
        self.surrogate.reset(context.generator())

    def forward(self, scores: Tensor, batch: Batch) -> ControlLoss:
        blocks, own = self._blocks(scores), None
        if self.training:
            own = ClassTargets.one_each(self._values(blocks))
        codes, taught = self.surrogate.losses(blocks, self._centres_of(batch), own)
        return ControlLoss(codes, taught)

    def log_posterior(self, scores: Tensor) -> Tensor:
        """Return log-probabilities of values, eq. (4), (b, n_blocks, 2**block)."""
        log_p: Tensor = self.surrogate(self._blocks(scores))
        return log_p.transpose(0, 1)

    def _centres_of(self, batch: Batch) -> ClassTargets:
        """Return the values of the blocks of each item's centres; studies change it."""
        if batch.classes is not None:
            return ClassTargets.one_each(self.values[:, batch.classes])
        most = max(1, int(batch.labels.sum(dim=1).max()))
        weights, classes = batch.labels.topk(most, dim=1)
        return ClassTargets(self.values[:, classes], weights)

    def _blocks(self, scores: Tensor) -> Tensor:
        """Return scores by blocks, (n_blocks, b, block), 0 where one is shorter."""
        dealt = pad(scores, (0, 1)).index_select(1, self.places.flatten())
        return dealt.view(-1, *self.places.shape).transpose(0, 1)

    def _values(self, blocks: Tensor) -> Tensor:
        return ((blocks >= 0) * self.powers).sum(dim=2)


class Units(NamedTuple):
    W1: Tensor  # (n_blocks, n_hidden, block)
    b1: Tensor  # (n_blocks, n_hidden)
    W2: Tensor  # (n_blocks, n_hidden, 2**block)
    scale: float


class Surrogate(nn.Module):
    """One small network for each block of bits, eq. (4)."""

    # Each is ``Linear(block, n_hidden), SiLU, Dropout, Linear(n_hidden, 2**block)``.
    # The `sizes` are the numbers of bits; shorter blocks are filled up with scores of
    # 0, and the values that they cannot have get no probability. The same share of the
    # units is left out of a step for all items of a batch: the products get smaller by
    # as much (Graham, Reizenstein and Robinson, "Efficient batchwise dropout training
    # using submatrices", 2015).

    never: Tensor

    def __init__(self, sizes: Tensor, n_hidden: int, dropout: float) -> None:
        super().__init__()
        n_blocks, block = len(sizes), int(sizes.max())
        self.dropout = dropout
        self.W1 = nn.Parameter(torch.empty(n_blocks, n_hidden, block))
        self.b1 = nn.Parameter(torch.empty(n_blocks, n_hidden))
        self.W2 = nn.Parameter(torch.empty(n_blocks, n_hidden, 2**block))
        self.b2 = nn.Parameter(torch.empty(n_blocks, 1, 2**block))
        beyond = torch.arange(2**block) >= (1 << sizes[:, None])
        self.register_buffer("never", _NEVER * beyond.float()[:, None])

    def reset(self, generator: torch.Generator) -> None:
        _, n_hidden, block = self.W1.shape
        with torch.no_grad():
            for parameter, n_inputs in (
                (self.W1, block),
                (self.b1, block),
                (self.W2, n_hidden),
                (self.b2, n_hidden),
            ):
                bound = n_inputs**-0.5
                parameter.uniform_(-bound, bound, generator=generator)

    def forward(self, scores: Tensor) -> Tensor:
        """Return log-probabilities of values, (n_blocks, b, 2**block), from scores."""
        units = self.units()
        hidden = silu(torch.baddbmm(units.b1[:, None], scores, units.W1.mT))
        logits = torch.baddbmm(self.b2, hidden * units.scale, units.W2) + self.never
        return log_softmax(logits, dim=2)

    def losses(
        self, scores: Tensor, codes: ClassTargets | None, own: ClassTargets | None
    ) -> tuple[Tensor, Tensor]:
        """Return how unlikely two sets of values are, eqs. (6) and (5), from one pass.

        The gradient of the first reaches the scores alone, that of the second these
        weights alone.
        """
        losses: tuple[Tensor, Tensor] = _Losses.apply(  # type: ignore[no-untyped-call]
            scores, *self.units(), self.b2 + self.never, codes, own
        )
        return losses

    def units(self) -> Units:
        if not (self.training and self.dropout):
            return Units(self.W1, self.b1, self.W2, 1.0)
        n_blocks, n_hidden, _ = self.W1.shape
        n_kept = max(1, round((1 - self.dropout) * n_hidden))
        kept = torch.rand_like(self.b1).topk(n_kept, sorted=False).indices
        kept += n_hidden * torch.arange(n_blocks, device=kept.device)[:, None]
        W1, b1, W2 = (
            p.flatten(0, 1)
            .index_select(0, kept.flatten())
            .view(*kept.shape, *p.shape[2:])
            for p in (self.W1, self.b1, self.W2)
        )
        return Units(W1, b1, W2, n_hidden / n_kept)


class _Losses(torch.autograd.Function):
    """`Surrogate.losses`, and the gradients of both in one pass backwards, eq. (7)."""

    # Towards the logits an item's loss has the gradient ``p - 1[value]``, p being the
    # probabilities.

    @staticmethod
    def forward(
        ctx: Any,
        x: Tensor,
        W1: Tensor,
        b1: Tensor,
        W2: Tensor,
        scale: float,
        b2: Tensor,
        codes: ClassTargets | None,
        own: ClassTargets | None,
    ) -> tuple[Tensor, ...]:
        z = torch.baddbmm(b1[:, None], x, W1.mT)
        gate = torch.sigmoid(z)
        hidden = (z * gate).mul_(scale)
        logits = torch.baddbmm(b2, hidden, W2)
        p = softmax(logits, dim=2)
        ctx.save_for_backward(x, W1, W2, z, gate, hidden, p)
        ctx.scale, ctx.codes, ctx.own = scale, codes, own
        # The logarithm of the sum that softmax divides by, from the likeliest value.
        log_sum = logits.amax(dim=2, keepdim=True) - p.amax(dim=2, keepdim=True).log()
        losses = []
        for targets in (codes, own):
            loss = logits.new_zeros(())
            if targets is not None:
                log_p = logits.gather(2, targets.values) - log_sum
                loss = -(log_p * targets.weights).sum() / logits.shape[1]
            losses.append(loss)
        return tuple(losses)

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> Any:
        x, W1, W2, z, gate, hidden, p = ctx.saved_tensors
        slope = (1 - gate).mul_(z).add_(1).mul_(gate).mul_(ctx.scale)
        expected = p @ W2.mT
        codes, own = (
            t if t is None else t._replace(weights=t.weights * (gradient / x.shape[1]))
            for t, gradient in zip((ctx.codes, ctx.own), gradients, strict=True)
        )
        dx = None
        if codes is not None and ctx.needs_input_grad[0]:
            dx = _towards_units(expected, W2, codes).mul_(slope) @ W1
        if own is None or not ctx.needs_input_grad[1]:
            return dx, *[None] * 7
        dz = _towards_units(expected, W2, own).mul_(slope)
        dW1, db1 = dz.mT @ x, dz.sum(dim=1)
        # ``weight (p - 1[value])``, summed over the values of each item.
        weights = own.weights.to(p.dtype)
        less = (-weights).expand(own.values.shape)
        residuals = p * weights.sum(dim=1, keepdim=True)
        residuals = residuals.scatter_add_(2, own.values, less)
        dW2, db2 = hidden.mT @ residuals, residuals.sum(dim=1, keepdim=True)
        return dx, dW1, db1, dW2, None, db2, None, None


def _towards_units(expected: Tensor, W2: Tensor, targets: ClassTargets) -> Tensor:
    """Return ``residuals @ W2.mT``, given what the first term of these makes of it."""
    # The second picks weights, which takes a tenth of the time of a product.
    n_blocks, n_units, _ = W2.shape
    weights = targets.weights.to(expected.dtype)
    values = targets.values.view(n_blocks, 1, -1).expand(-1, n_units, -1)
    picked = W2.gather(2, values).view(n_blocks, n_units, *weights.shape) * weights
    return expected * weights.sum(dim=1, keepdim=True) - picked.sum(dim=3).mT

"""Small networks that tell the values of blocks of bits, all in grouped products."""

from typing import Any, NamedTuple

import torch
from torch import Tensor, nn
from torch.nn.functional import log_softmax, silu, softmax

_NEVER = -1e30  # log-odds of values that a shorter block cannot have


class ClassTargets(NamedTuple):
    """Values of blocks that are to be likely, k for each item.

    Attributes
    ----------
    values : Tensor of shape (n_blocks, b, k), int64
    weights : Tensor of shape (b, k)
        0 for items with fewer of them.
    """

    values: Tensor
    weights: Tensor

    @classmethod
    def one_each(cls, values: Tensor) -> "ClassTargets":
        """Return those of items that have one value for each block, (n_blocks, b)."""
        return cls(values[..., None], torch.ones_like(values[0, :, None]))

    def times(self, factor: Tensor) -> "ClassTargets":
        """Return the same with weights that are larger by a factor."""
        return ClassTargets(self.values, self.weights * factor)

    def and_also(self, other: "ClassTargets") -> "ClassTargets":
        """Return these values and those of another."""
        pairs = zip(self, other, strict=True)
        return ClassTargets(*(torch.cat(pair, dim=-1) for pair in pairs))


class Units(NamedTuple):
    """The weights of hidden units, `scale` times as strong as they are."""

    W1: Tensor  # (n_blocks, n_hidden, block)
    b1: Tensor  # (n_blocks, n_hidden)
    W2: Tensor  # (n_blocks, n_hidden, 2**block)
    scale: float


class Surrogate(nn.Module):
    """One small network for each block of bits.

    Each is ``Linear(block, n_hidden), SiLU, Dropout, Linear(n_hidden, 2**block)``.

    Parameters
    ----------
    sizes : Tensor of shape (n_blocks,), int64
        Bits of each block; shorter ones are filled up with scores of 0, and the values
        that they cannot have get no probability.
    n_hidden : int
    dropout : float
        Share of the units that are left out of each step, the same for all items of a
        batch: the products get smaller by as much (Graham, Reizenstein and Robinson,
        "Efficient batchwise dropout training using submatrices", 2015).
    """

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
        """Draw the weights as torch does for linear layers."""
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
        """Return log-probabilities of values, (n_blocks, b, 2**block).

        Parameters
        ----------
        scores : Tensor of shape (n_blocks, b, block)
        """
        units = self.units()
        hidden = silu(torch.baddbmm(units.b1[:, None], scores, units.W1.mT))
        logits = torch.baddbmm(self.b2, hidden * units.scale, units.W2) + self.never
        return log_softmax(logits, dim=2)

    def losses(
        self,
        scores: Tensor,
        codes: ClassTargets | None,
        own: ClassTargets | None,
        frozen: bool,
    ) -> tuple[Tensor, Tensor]:
        """Return how unlikely two sets of values are, from one pass.

        The gradient of the first reaches the scores, and these weights only where they
        are not `frozen`; that of the second reaches these weights, and no score.
        """
        losses: tuple[Tensor, Tensor] = _Losses.apply(  # type: ignore[no-untyped-call]
            scores, *self.units(), self.b2 + self.never, codes, own, frozen
        )
        return losses

    def units(self) -> Units:
        """Return those of this step."""
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
    """`Surrogate.losses`, and the gradients of both in one pass backwards.

    Towards the logits an item's loss has the gradient ``p - 1[value]``, p being the
    probabilities.
    """

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
        frozen: bool,
    ) -> tuple[Tensor, ...]:
        z = torch.baddbmm(b1[:, None], x, W1.mT)
        gate = torch.sigmoid(z)
        hidden = (z * gate).mul_(scale)
        logits = torch.baddbmm(b2, hidden, W2)
        p = softmax(logits, dim=2)
        ctx.save_for_backward(x, W1, W2, z, gate, hidden, p)
        ctx.scale, ctx.codes, ctx.own, ctx.frozen = scale, codes, own, frozen
        # The logarithm of the sum that softmax divides by, from the likeliest value.
        log_sum = logits.amax(dim=2, keepdim=True) - p.amax(dim=2, keepdim=True).log()
        return tuple(
            _unlikeliness(logits, log_sum, targets) for targets in (codes, own)
        )

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> Any:
        x, W1, W2, z, gate, hidden, p = ctx.saved_tensors
        slope = (1 - gate).mul_(z).add_(1).mul_(gate).mul_(ctx.scale)
        expected = p @ W2.mT
        codes, own = (
            None if targets is None else targets.times(gradient / x.shape[1])
            for targets, gradient in zip((ctx.codes, ctx.own), gradients, strict=True)
        )
        dx = None
        if codes is not None and ctx.needs_input_grad[0]:
            dx = _towards_units(expected, W2, codes).mul_(slope) @ W1
        if codes is not None and not ctx.frozen:
            own = codes if own is None else own.and_also(codes)
        if own is None or not ctx.needs_input_grad[1]:
            return dx, *[None] * 8
        dz = _towards_units(expected, W2, own).mul_(slope)
        dW1, db1 = dz.mT @ x, dz.sum(dim=1)
        residuals = _residuals(p, own)
        dW2, db2 = hidden.mT @ residuals, residuals.sum(dim=1, keepdim=True)
        return dx, dW1, db1, dW2, None, db2, *[None] * 3


def _unlikeliness(
    logits: Tensor, log_sum: Tensor, targets: ClassTargets | None
) -> Tensor:
    """Return minus the mean over items of the log-probabilities of their values."""
    if targets is None:
        return logits.new_zeros(())
    log_p = logits.gather(2, targets.values) - log_sum
    return -(log_p * targets.weights).sum() / logits.shape[1]


def _residuals(p: Tensor, targets: ClassTargets) -> Tensor:
    """Return ``weight (p - 1[value])``, summed over the values of each item."""
    weights = targets.weights.to(p.dtype)
    less = (-weights).expand(targets.values.shape)
    return (p * weights.sum(dim=1, keepdim=True)).scatter_add_(2, targets.values, less)


def _towards_units(expected: Tensor, W2: Tensor, targets: ClassTargets) -> Tensor:
    """Return ``residuals @ W2.mT``, given what the first term of these makes of it.

    The second picks weights, which takes a tenth of the time of a product.
    """
    n_blocks, n_units, _ = W2.shape
    weights = targets.weights.to(expected.dtype)
    values = targets.values.view(n_blocks, 1, -1).expand(-1, n_units, -1)
    picked = W2.gather(2, values).view(n_blocks, n_units, *weights.shape) * weights
    return expected * weights.sum(dim=1, keepdim=True) - picked.sum(dim=3).mT

"""Losses on pairs of items: of a batch, or of a batch and items seen before."""

import torch
from torch import Tensor

from fewbits.learners._core._parameters import check_integer
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


class PairLoss(Loss):
    """A loss on pairs, within a batch or with items that were seen before.

    Parameters
    ----------
    memory : int or None
        Training items that a batch is compared with, by their scores when they were
        last seen; drawn if there are more. Such a pair moves one of its items at a
        time. 0 compares the items of a batch with each other; None does so up to 50
        classes, and remembers 5,000 items where there are more.
    """

    U: Tensor  # the scores of all training items, where some are remembered

    def __init__(self, memory: int | None) -> None:
        super().__init__()
        if memory is not None:
            check_integer("memory", memory, 0)
        self.memory = memory

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


def different(batch: Batch, others: Batch) -> Tensor:
    """Return True for pairs of different items, shape (b, b')."""
    return batch.rows[:, None] != others.rows


def off_diagonal(n: int, device: torch.device) -> Tensor:
    """Return True for pairs of different items, shape (n, n)."""
    return ~torch.eye(n, dtype=torch.bool, device=device)


def mean_over(values: Tensor, pairs: Tensor) -> Tensor:
    """Return the mean of the values of some pairs, 0 if there are none."""
    return (values * pairs).sum() / pairs.sum().clamp(min=1)


def hamming_of(cosines: Tensor, n_bits: int) -> Tensor:
    """Return the Hamming distances that cosines of codes of -1 and 1 stand for."""
    return (n_bits / 2 * (1 - cosines)).clamp(min=0)


def share_of_similar(targets: Targets, generator: torch.Generator) -> float:
    """Return which share of all pairs of different items share a label.

    Exact for items of one class each; otherwise of up to 4,096 items drawn at random.
    """
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
    """Return ``|S| / |S1|`` for similar pairs and ``|S| / |S0|`` for others.

    S being all pairs of training items, both kinds weigh the same in sum.
    """
    return torch.where(similar > 0, 1 / share, 1 / (1 - share))

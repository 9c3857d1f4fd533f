"""Losses on pairs of the items of a batch with others."""

import torch
from torch import Tensor

from fewbits.learners._core._parameters import check_integer
from fewbits.learners.deep._targets import Batch
from fewbits.learners.deep.losses._base import Loss, LossContext, ScoreAll

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
        if self._remembers:
            self.U.copy_(score_all())

    @property
    def _remembers(self) -> bool:
        return "U" in self._buffers

    def others(self, scores: Tensor, batch: Batch) -> tuple[Tensor, Batch]:
        """Return the scores and the labels of what a batch is compared with."""
        if not self._remembers:
            return scores, batch
        if self.training:
            self.U[batch.rows] = scores.detach().to(self.U.dtype)
        others = self._others = self._others.to(scores.device)
        return self.U.index_select(0, others.rows), others


def different(batch: Batch, others: Batch) -> Tensor:
    """Return True for pairs of different items, shape (b, b')."""
    return batch.rows[:, None] != others.rows

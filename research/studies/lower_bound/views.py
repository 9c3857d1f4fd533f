"""D with the bits of another view of the item: its scores under another dropout mask.

What D's surrogate learns is a function of what it is given, the signs of the scores, so
it need not know how bits hang together. And the centres that the scores are drawn to
tell the class. Here either is replaced by the bits of a second pass of the same item:
what the surrogate learns, or what the scores are drawn to, which leaves no class in it.
"""

from typing import Any

import torch
from torch import Tensor

from fewbits.learners.deep import DeepHash, PosteriorControl
from fewbits.learners.deep._posterior import ClassTargets, ControlLoss
from fewbits.learners.deep._trainer import Trainer
from fewbits.learners.deep.losses import Batch


class TwoViews(DeepHash):
    """Gives its control the scores of a second pass in each step."""

    def _train(
        self, problem: Any, network: Any, loss: Any, control: Any = None, **more: Any
    ) -> Trainer:
        def look_again(head: Any, given: Any, _: Tensor) -> None:
            if head.training and isinstance(control, _OfTwoViews):
                with torch.no_grad():
                    control.other = head.forward(*given)

        network.head.register_forward_hook(look_again)
        return super()._train(problem, network, loss, control, **more)


class _OfTwoViews(PosteriorControl):
    other: Tensor  # scores of the second pass, (b, n_bits)

    def _of_other_view(self) -> ClassTargets:
        return ClassTargets.one_each(self._values(self._blocks(self.other)))


class LearnsOtherView(_OfTwoViews):
    """D whose surrogate learns to tell the bits of the other view, not of its input."""

    def forward(self, scores: Tensor, batch: Batch) -> ControlLoss:
        blocks, centres = self._blocks(scores), self._centres_of(batch)
        other = self._of_other_view()
        return ControlLoss(*self.surrogate.losses(blocks, centres, other))


class DrawnToOtherView(_OfTwoViews):
    """D whose scores are drawn to the bits of the other view, not of a centre."""

    def _centres_of(self, batch: Batch) -> ClassTargets:
        return self._of_other_view()

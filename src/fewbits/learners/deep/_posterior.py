"""Posterior control: the lower bound of LBHash as a term beside any loss.

Zhu et al., "A Lower Bound of Hash Codes' Performance", NeurIPS 2022. Codes rank well
when the centres of classes are far apart and codes are near their centres. A surrogate
network for each block of bits estimates the joint distribution of the block given the
scores, and the scores are trained to make the blocks of their centre likely.
"""

from abc import ABC, abstractmethod
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn
from torch.nn.functional import pad
from torch.nn.utils.rnn import pad_sequence

from fewbits._warnings import warn_user
from fewbits.learners._core._parameters import (
    check_choice,
    check_flag,
    check_integer,
    check_number,
)
from fewbits.learners.deep._surrogate import ClassTargets, Surrogate
from fewbits.learners.deep._targets import Batch
from fewbits.learners.deep.losses._base import LossContext, shown_options
from fewbits.learners.deep.losses._centres import (
    cauchy_centre_loss,
    centre_loss,
    make_centres,
)

#: Over the labels of an item.
REDUCTIONS = ("sum", "mean")


class ControlLoss(NamedTuple):
    """Loss that a control adds: a term for the codes, and one for its own networks."""

    codes: Tensor
    own: Tensor


class Control(nn.Module, ABC):
    """A term beside a loss.

    Parameters
    ----------
    centres : str or array-like of shape (n_classes, n_bits), or None
        -1 and 1, or "hadamard", "balanced", "separated", "semantic", "learnt",
        "predictable"; None takes those of the loss, or "hadamard" if it has none.
    weight : float
        Of the term for the codes, against the loss.
    mode : {"add", "replace"}
        Whether it is added to the loss, or takes its place.
    """

    centres: Tensor

    def __init__(self, centres: Any, weight: float, mode: str) -> None:
        super().__init__()
        check_choice("mode", mode, ("add", "replace"))
        check_number("weight", weight, 0)
        self.kind, self.weight, self.mode = centres, weight, mode

    def start(self, context: LossContext) -> None:
        """Make centres and networks for this problem."""
        self.register_buffer("centres", self._centres(context))

    def _centres(self, context: LossContext) -> Tensor:
        kind = context.centres if self.kind is None else self.kind
        found = make_centres("hadamard" if kind is None else kind, context)
        made = context.centres
        if isinstance(made, Tensor) and not torch.equal(found, made):
            warn_user(
                "the loss and its control draw items to different centres of their "
                "classes: leave out those of the control, or let it replace the loss "
                "(mode='replace')"
            )
        return found

    def start_epoch(self, epoch: int) -> None:
        """Do what is done once an epoch, counted from 0."""

    def extra_repr(self) -> str:
        return shown_options(self)

    @abstractmethod
    def forward(self, scores: Tensor, batch: Batch) -> ControlLoss:
        """Return the terms of a batch; `own` reaches no score."""


class CentreControl(Control):
    """The centres without the posterior: each bit by itself, or all by their distance.

    The control experiment that the paper lacks: the targets of `PosteriorControl`
    without its posterior. "bits" is the binary cross-entropy with each bit of the
    centre, as if the bits of a block were independent; like there, the term is a sum,
    so that a weight means the same in both. "cauchy" is ``log(1 + d / gamma)`` of DCH,
    with the distance to the centre. In place of a loss they are the variants that the
    paper compares its surrogate with.

    Parameters
    ----------
    centres : str or array-like of shape (n_classes, n_bits), default=None
        As for `PosteriorControl`.
    weight : float, default=1.0
    mode : {"add", "replace"}, default="add"
    likelihood : {"bits", "cauchy"}, default="bits"
        Of a centre given the scores: that of its bits, or a Cauchy distribution of the
        distance from it.
    gamma : float, default=20.0
        Scale of the Cauchy distribution, in bits.
    reduction : {"sum", "mean"}, default="sum"
        Over the centres of an item with several labels, as for `PosteriorControl`.
    """

    def __init__(
        self,
        centres: Any = None,
        weight: float = 1.0,
        mode: str = "add",
        *,
        likelihood: str = "bits",
        gamma: float = 20.0,
        reduction: str = "sum",
    ) -> None:
        super().__init__(centres, weight, mode)
        check_choice("likelihood", likelihood, ("bits", "cauchy"))
        check_choice("reduction", reduction, REDUCTIONS)
        check_number("gamma", gamma, 0, above=True)
        self.likelihood, self.gamma = likelihood, gamma
        self.reduction = reduction

    def forward(self, scores: Tensor, batch: Batch) -> ControlLoss:
        if self.likelihood == "cauchy":
            codes = cauchy_centre_loss(
                scores, self.centres, batch, self.gamma, self.reduction
            )
        else:
            codes = scores.shape[1] * centre_loss(
                2 * scores, self.centres, batch, self.reduction
            )
        return ControlLoss(codes, torch.zeros_like(codes))


class PosteriorControl(Control):
    """Train codes by the likelihood of their class's centre, block by block.

    For each block of 8 bits a small network is given the scores. It learns to tell
    which of the 256 values the block's own signs make (the scores are constants then),
    and the scores learn to make it tell the block of their class's centre (the network
    is constant then). The sum over blocks is the term.

    Parameters
    ----------
    centres : str or array-like of shape (n_classes, n_bits), default=None
        By default those of the loss, or "hadamard" if it has none. Otherwise -1 and 1,
        in the order of the sorted labels, or "hadamard", "balanced", "separated",
        "semantic" (by the means of the features of the classes), "learnt" (as in phase
        1 of LLC, by classifying with them and a linear map of the features),
        "predictable" (by classifying with what the features of an item predict of its
        bits, see `fewbits.learners.deep.centres.predictable_centres`).
    weight : float, default=1.0
        Of the term against the loss. It decides much; choose it on validation data.
    mode : {"add", "replace"}, default="add"
        Whether it is added to the loss, or takes its place. The paper does not say.
    n_hidden : int, default=256
        Hidden units of each network.
    dropout : float, default=0.5
        Share of them that is left out of each step: the same for all items of a batch,
        where the authors' code draws for each item, as that makes smaller products.
    block : int, default=8
        Bits in a block at most, up to 12; as few blocks as do, of nearly equal sizes.
    n_flips : int, default=0
        Bits of a code that are flipped at random in what the network learns from.
    permute_every : int, default=0
        Epochs after which bits are dealt to blocks anew; 0 keeps neighbours together.
    train_surrogate : bool, default=True
        False keeps the networks as they are at first: a control experiment.
    detach_surrogate : bool, default=True
        Whether the term for the codes leaves the networks alone, as in Algorithm 1 of
        the paper; the authors' code trains them by both terms.
    reduction : {"sum", "mean"}, default="sum"
        Over the centres of an item with several labels: the paper's sum, or the mean
        of the authors' code.

    Notes
    -----
    The value of a block is ``sum_k 1[b_k > 0] 2^(k - 1)``, the first bit lowest. Both
    terms come from one pass, as in Algorithm 1, with all blocks in grouped products.

    References
    ----------
    Zhu et al., "A Lower Bound of Hash Codes' Performance", NeurIPS 2022.
    """

    places: Tensor  # of the bits of each block, n_bits where one is shorter
    powers: Tensor  # what they add to its value
    values: Tensor  # of the blocks of the centres

    def __init__(
        self,
        centres: Any = None,
        weight: float = 1.0,
        mode: str = "add",
        *,
        n_hidden: int = 256,
        dropout: float = 0.5,
        block: int = 8,
        n_flips: int = 0,
        permute_every: int = 0,
        train_surrogate: bool = True,
        detach_surrogate: bool = True,
        reduction: str = "sum",
    ) -> None:
        super().__init__(centres, weight, mode)
        check_choice("reduction", reduction, REDUCTIONS)
        check_integer("n_hidden", n_hidden, 1)
        check_integer("block", block, 1, 12)
        check_integer("n_flips", n_flips, 0)
        check_integer("permute_every", permute_every, 0)
        check_number("dropout", dropout, 0, 0.99)
        check_flag("train_surrogate", train_surrogate)
        check_flag("detach_surrogate", detach_surrogate)
        self.n_hidden, self.dropout, self.block = n_hidden, dropout, block
        self.n_flips, self.permute_every = n_flips, permute_every
        self.train_surrogate, self.detach_surrogate = train_surrogate, detach_surrogate
        self.reduction = reduction

    def start(self, context: LossContext) -> None:
        check_integer("n_flips", self.n_flips, 0, context.n_bits)
        super().start(context)
        self.n_bits, self._seed = context.n_bits, context.seed
        self.register_buffer("places", self._deal(torch.arange(self.n_bits)))
        used = self.places < self.n_bits
        powers = used << torch.arange(used.shape[1])
        self.register_buffer("powers", powers[:, None], persistent=False)
        self.register_buffer("values", self._values(self._blocks(self.centres)))
        self.surrogate = Surrogate(used.sum(dim=1), self.n_hidden, self.dropout)
        self.surrogate.reset(context.generator())
        self.surrogate.requires_grad_(self.train_surrogate)

    def start_epoch(self, epoch: int) -> None:
        if self.permute_every and epoch % self.permute_every == 0:
            generator = torch.Generator().manual_seed(self._seed + epoch)
            order = torch.randperm(self.n_bits, generator=generator)
            self.places.copy_(self._deal(order))
            self.values.copy_(self._values(self._blocks(self.centres)))

    def forward(self, scores: Tensor, batch: Batch) -> ControlLoss:
        blocks, centres = self._blocks(scores), self._centres_of(batch)
        own, learns = None, self.train_surrogate and self.training
        if learns and not self.n_flips:
            own = ClassTargets.one_each(self._values(blocks))
        codes, taught = self.surrogate.losses(
            blocks, centres, own, self.detach_surrogate
        )
        if learns and self.n_flips:
            taught = self._taught_by_flips(scores.detach())
        return ControlLoss(codes, taught)

    def _taught_by_flips(self, scores: Tensor) -> Tensor:
        """Return how badly the networks tell codes of which some bits are flipped."""
        flipped = torch.rand_like(scores).argsort(dim=1) < self.n_flips
        seen = self._blocks(torch.where(flipped, -scores, scores))
        own = ClassTargets.one_each(self._values(seen))
        return self.surrogate.losses(seen, None, own, self.detach_surrogate)[1]

    def log_posterior(self, scores: Tensor) -> Tensor:
        """Return what the networks take the values of the blocks for.

        Parameters
        ----------
        scores : Tensor of shape (b, n_bits)

        Returns
        -------
        Tensor of shape (b, n_blocks, 2**block)
            Logarithms of probabilities.
        """
        log_p: Tensor = self.surrogate(self._blocks(scores))
        return log_p.transpose(0, 1)

    def _centres_of(self, batch: Batch) -> ClassTargets:
        """Return the values of the blocks of each item's centres."""
        if batch.classes is not None:
            return ClassTargets.one_each(self.values[:, batch.classes])
        labels = batch.labels
        most = max(1, int(labels.sum(dim=1).max()))
        weights, classes = labels.topk(most, dim=1)
        if self.reduction == "mean":
            weights = weights / weights.sum(dim=1, keepdim=True).clamp(min=1)
        return ClassTargets(self.values[:, classes], weights)

    def _blocks(self, scores: Tensor) -> Tensor:
        """Return scores by blocks, (n_blocks, b, block), 0 where one is shorter."""
        dealt = pad(scores, (0, 1)).index_select(1, self.places.flatten())
        return dealt.view(-1, *self.places.shape).transpose(0, 1)

    def _values(self, blocks: Tensor) -> Tensor:
        """Return the number that each block's signs make, (n_blocks, b)."""
        return ((blocks >= 0) * self.powers).sum(dim=2)

    def _deal(self, order: Tensor) -> Tensor:
        """Return which bits are in which block, n_bits where one is shorter."""
        parts = list(order.tensor_split(-(-self.n_bits // self.block)))
        return pad_sequence(parts, batch_first=True, padding_value=self.n_bits)

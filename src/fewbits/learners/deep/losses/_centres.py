"""Losses that classify, or pull items to the centre of their class."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.nn.functional import (
    binary_cross_entropy_with_logits,
    cross_entropy,
    normalize,
    softplus,
)

from fewbits._warnings import warn_user
from fewbits.errors import ArgumentError
from fewbits.learners._core._device import tensor_signs
from fewbits.learners._core._parameters import POSITIVE, Interval
from fewbits.learners.deep._network import straight_through
from fewbits.learners.deep.centres import (
    balanced_centres,
    hadamard_centres,
    predictable_centres,
    semantic_centres,
    separated_centres,
)
from fewbits.learners.deep.losses._base import Batch, Loss, LossContext, Targets
from fewbits.learners.deep.losses._pairs import SHORTEST

GENERATORS = {
    "hadamard": hadamard_centres,
    "balanced": balanced_centres,
    "separated": separated_centres,
}
#: Those that need to know the items.
SEMANTIC, LEARNT, PREDICTABLE = "semantic", "learnt", "predictable"


class CentreLoss(Loss):
    """A loss that pulls items to the centre of their class.

    Parameters
    ----------
    centres : str or array-like of shape (n_classes, n_bits), default="hadamard"
        -1 and 1, or "hadamard", "balanced", "separated", "semantic", "learnt",
        "predictable"; see `fewbits.learners.deep.PosteriorControl`.
    """

    centres: Any
    codes: Tensor  # of the classes

    def start(self, context: LossContext) -> None:
        self.register_buffer("codes", make_centres(self.centres, context))


@dataclass(eq=False, repr=False)
class CSQ(CentreLoss):
    """Pull every item towards the binary centre of its class.

    Binary cross-entropy of ``(tanh(u) + 1) / 2`` with the centre, and
    ``q mean log cosh(|tanh(u)| - 1)``. An item of several labels has one centre: the
    sign of the sum of theirs, ties taken from one fixed random code. One without a
    label has none, and only the second term.

    Parameters
    ----------
    quantization : float, default=1e-4
        The weight ``q`` of what draws scores to -1 and 1.

    References
    ----------
    Yuan et al., "Central Similarity Quantization for Efficient Image and Video
    Retrieval", CVPR 2020.
    """

    centres: Any = "hadamard"
    quantization: float = 1e-4
    tie: Tensor = field(init=False)

    constraints: ClassVar = {"quantization": [Interval(float, 0)]}

    def start(self, context: LossContext) -> None:
        super().start(context)
        bits = torch.randint(2, (context.n_bits,), generator=context.generator())
        self.register_buffer("tie", 2.0 * bits - 1)

    def forward(self, scores: Tensor, batch: Batch) -> Tensor:
        # (tanh(u) + 1) / 2 is the sigmoid of 2 u.
        central = binary_cross_entropy_with_logits(
            2 * scores, (self.centres_of(batch) + 1) / 2, weight=batch.labelled
        )
        gap = (torch.tanh(scores).abs() - 1).abs()
        log_cosh = gap + softplus(-2 * gap) - float(np.log(2))  # without overflow
        return central + self.quantization * log_cosh.mean()

    def centres_of(self, batch: Batch) -> Tensor:
        if batch.classes is not None:
            return self.codes[batch.classes]
        sums = batch.labels.to(self.codes.dtype) @ self.codes
        return torch.where(sums == 0, self.tie, sums.sign())


@dataclass(eq=False, repr=False)
class OrthoHash(CentreLoss):
    """One cross-entropy on the cosines between scores and fixed binary centres.

    ``CE(s (cos(v, c) - m 1[own class]))`` with ``v`` the scores after a batch
    normalisation, which balances the bits. Items with several labels have the target
    shared among them, and the margin on each; those without a label count nothing.

    Parameters
    ----------
    scale : float, default=8.0
        The factor ``s`` of the cosines.
    margin : float, default=0.2
        The margin ``m`` on the cosine of the own class, 2 at most.

    References
    ----------
    Hoe et al., "One Loss for All: Deep Hashing with a Single Cosine Similarity based
    Learning Objective", NeurIPS 2021.
    """

    centres: Any = "hadamard"
    scale: float = 8.0
    margin: float = 0.2

    constraints: ClassVar = {"scale": POSITIVE, "margin": [Interval(float, 0, 2)]}
    batch_norm = True

    def forward(self, scores: Tensor, batch: Batch) -> Tensor:
        cosines = normalize(scores, eps=SHORTEST) @ normalize(self.codes).T
        labels = batch.labels.to(cosines.dtype)
        shares = labels / labels.sum(dim=1, keepdim=True).clamp(min=1)
        logits = self.scale * torch.where(labels > 0, cosines - self.margin, cosines)
        return cross_entropy(logits, shares)


def make_centres(kind: Any, context: LossContext) -> Tensor:
    """Return centres as float32, (n_classes, n_bits), from a name or an array."""
    if isinstance(kind, str):
        codes = _centres_by_name(kind, context)
    else:
        codes = given_codes(kind, context.n_classes, context.n_bits)
    return torch.from_numpy(np.ascontiguousarray(codes, np.float32))


def _centres_by_name(kind: str, context: LossContext) -> NDArray[np.int8]:
    n_bits, seed = context.n_bits, context.seed % 2**32
    if kind == SEMANTIC and context.features is not None:
        means, _ = class_means(context.features(), context.targets)
        return semantic_centres(means - means.mean(axis=0), n_bits, random_state=seed)
    if kind == PREDICTABLE and context.features is not None:
        Y = context.targets.indicator()
        return predictable_centres(context.features(), Y, n_bits, random_state=seed)
    if kind == LEARNT and context.learnt is not None:
        return context.learnt()
    if kind not in GENERATORS:
        raise ArgumentError(
            f"centres must be an array or one of {', '.join(GENERATORS)}, {SEMANTIC}, "
            f"{LEARNT}, {PREDICTABLE}, got {kind!r}"
        )
    return GENERATORS[kind](context.n_classes, n_bits, random_state=seed)


def given_codes(codes: Any, n_classes: int, n_bits: int) -> NDArray[np.int8]:
    """Return the codes of an array; refuse others, warn of those that are the same."""
    sizes = (n_classes, n_bits)
    must = f"codes must be -1 and 1 in shape (n_classes, n_bits) = {sizes}, got "
    try:
        array = np.asarray(codes)
    except ValueError:
        raise ArgumentError(f"{must}rows of different lengths") from None
    if array.shape != sizes:
        raise ArgumentError(f"{must}shape {array.shape}")
    wrong = array[~np.isin(array, (-1, 1))]
    if wrong.size:
        raise ArgumentError(f"{must}{wrong[0]}")
    n_shared = n_classes - len(np.unique(array, axis=0))
    if n_shared:
        warn_user(
            f"{n_shared} of {n_classes} classes have the code of another class: no "
            "decoder can tell them apart"
        )
    return array.astype(np.int8)


def class_means(
    F: NDArray[np.float64], targets: Targets
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    Y = targets.indicator()
    counts: NDArray[np.float64] = np.asarray(Y.sum(axis=0), np.float64)
    return (Y.T @ F) / np.maximum(counts, 1)[:, None], counts


def centre_loss(
    logits: Tensor, centres: Tensor, batch: Batch, reduction: str = "mean"
) -> Tensor:
    """Return the mean binary cross-entropy with the bits of the centres of classes."""
    # Of an item of several labels it is their mean, or their sum; one without a label
    # counts nothing.
    bits = (centres + 1) / 2
    if batch.classes is not None:
        return binary_cross_entropy_with_logits(logits, bits[batch.classes])
    labels = batch.labels.to(bits.dtype)
    n_labels = labels.sum(dim=1, keepdim=True)
    target = labels @ bits / n_labels.clamp(min=1)  # linear in it, so is their mean
    weight = n_labels if reduction == "sum" else batch.labelled
    return binary_cross_entropy_with_logits(logits, target, weight=weight)


@dataclass(eq=False, repr=False)
class GreedyHash(Loss):
    """Classify by the bits themselves; gradients pass the sign unchanged.

    Cross-entropy of a linear classifier without a constant on ``b = sgn(u)``, and
    ``q mean | |u| - 1 |^3``, which makes the passed gradients right in the end.

    Parameters
    ----------
    quantization : float, default=0.1
        The weight ``q`` of what draws scores to -1 and 1; the paper takes 0.1 for 10
        classes and 1 for 1,000.

    Notes
    -----
    Items with several labels get a binary cross-entropy for each; published code takes
    the first label for the only one.

    References
    ----------
    Su, Zhang, Han and Tian, "Greedy Hash: Towards Fast Optimization for Accurate Hash
    Coding in CNN", NeurIPS 2018.
    """

    quantization: float = 0.1

    constraints: ClassVar = {"quantization": [Interval(float, 0)]}

    def start(self, context: LossContext) -> None:
        self.layer = nn.Linear(context.n_bits, context.n_classes, bias=False)
        bound = context.n_bits**-0.5
        with torch.no_grad():
            weights = self.layer.weight
            weights.uniform_(-bound, bound, generator=context.generator())

    def forward(self, scores: Tensor, batch: Batch) -> Tensor:
        logits = self.layer(straight_through(scores))
        penalty = ((scores.abs() - 1).abs() ** 3).mean()
        return class_loss(logits, batch) + self.quantization * penalty

    @property
    def classifier(self) -> Tensor:
        weights: Tensor = self.layer.weight.detach()
        return weights


@dataclass(eq=False, repr=False)
class CodebookLoss(Loss):
    """Phase 1: learn a binary code for each class by classifying with it.

    Cross-entropy of ``B(C) u`` with the class, eq. (2): C is real, its signs are used,
    and gradients pass them unchanged. The scores ``u = P F(x)`` are not signed.
    """

    # C starts from `initial`, at the spread of what else would be drawn. With the
    # learning rate of the network, the published recipe turns hardly a bit on small
    # data. Losses of prefixes of the lengths in `nested` are averaged. Not of the paper
    # is what keeps similarities of classes: between ``tanh(C / s)``, with s the spread
    # of the start, and the centred means of the classes' features, the squared
    # differences of cosines, summed over one class's pairs, averaged over classes.

    initial: Any = None
    learning_rate: float = 1e-2
    label_smoothing: float = 0.1
    nested: Sequence[int] = ()
    similarity_weight: float = 0.0
    first: Tensor = field(init=False)
    similarities: Tensor = field(init=False)

    def start(self, context: LossContext) -> None:
        shape = context.n_classes, context.n_bits
        # Kaiming's, as for a layer with ReLU.
        self.deviation = (2 / context.n_bits) ** 0.5
        if self.initial is None:
            C = torch.randn(shape, generator=context.generator())
        else:
            C = torch.as_tensor(self.initial, dtype=torch.float32)
            C = C / C.square().mean().sqrt().clamp(min=1e-12)
        self.C = nn.Parameter(C * self.deviation)
        self.register_buffer("first", self.C.detach().clone())
        if self.similarity_weight:
            assert context.features is not None
            means, _ = class_means(context.features(), context.targets)
            alike = _cosines(torch.from_numpy(means - means.mean(axis=0))).float()
            self.register_buffer("similarities", alike, persistent=False)

    def forward(self, scores: Tensor, batch: Batch) -> Tensor:
        B = straight_through(self.C)
        lengths = sorted({*self.nested, scores.shape[1]})
        losses = [
            class_loss(scores[:, :m] @ B[:, :m].T, batch, self.label_smoothing)
            for m in lengths
        ]
        loss = torch.stack(losses).mean()
        if self.similarity_weight:
            relaxed = [torch.tanh(self.C[:, :m] / self.deviation) for m in lengths]
            errors = [_cosines(T) - self.similarities for T in relaxed]
            apart = torch.stack([E.square().sum(dim=1).mean() for E in errors])
            loss = loss + self.similarity_weight * apart.mean()
        return loss

    def parameter_groups(self, learning_rate: float) -> list[dict[str, Any]]:
        return [{"params": [self.C], "lr": self.learning_rate}]

    def classify(self, scores: Tensor) -> Tensor:
        weights: Tensor = tensor_signs(self.C.detach())
        return scores @ weights.T

    @property
    def values(self) -> NDArray[np.float64]:
        return self.C.detach().cpu().numpy().astype(np.float64)


@dataclass(eq=False, repr=False)
class CodeLoss(Loss):
    """Phase 2: each bit a binary classification with the bit of the class's code.

    The mean over bits of eq. (3), whose sum would only change the learning rate. An
    item of several labels has the mean of their codes as target, one without a label
    none.
    """

    codebook: Any
    codes: Tensor = field(init=False)

    def start(self, context: LossContext) -> None:
        codes = np.array(self.codebook, np.float32)
        self.register_buffer("codes", torch.from_numpy(codes))

    def forward(self, scores: Tensor, batch: Batch) -> Tensor:
        return centre_loss(scores, self.codes, batch)


class ClassLoss(Loss):
    """Plain cross-entropy of a linear classifier: one output for each class."""

    def forward(self, scores: Tensor, batch: Batch) -> Tensor:
        return class_loss(scores, batch)


def class_loss(logits: Tensor, batch: Batch, label_smoothing: float = 0.0) -> Tensor:
    """Return the cross-entropy of classes, or of each label where there are several."""
    if batch.classes is None:
        return binary_cross_entropy_with_logits(logits, batch.labels.to(logits.dtype))
    return cross_entropy(logits, batch.classes, label_smoothing=label_smoothing)


def _cosines(vectors: Tensor) -> Tensor:
    unit = normalize(vectors)
    return unit @ unit.T

"""Centres for a loss: named, or the user's own."""

from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn.functional import binary_cross_entropy_with_logits, normalize

from fewbits.errors import ArgumentError
from fewbits.learners.deep._targets import Batch, class_means
from fewbits.learners.deep.centres import (
    balanced_centres,
    hadamard_centres,
    predictable_centres,
    semantic_centres,
    separated_centres,
)
from fewbits.learners.deep.losses._base import LossContext
from fewbits.learners.deep.losses._pairs import SHORTEST, hamming_of

GENERATORS = {
    "hadamard": hadamard_centres,
    "balanced": balanced_centres,
    "separated": separated_centres,
}
#: Those that need to know the items.
SEMANTIC, LEARNT, PREDICTABLE = "semantic", "learnt", "predictable"


def centre_loss(
    logits: Tensor, centres: Tensor, batch: Batch, reduction: str = "mean"
) -> Tensor:
    """Return the mean binary cross-entropy with the bits of the centres of classes.

    Of an item of several labels it is their mean, or their sum; one without a label
    counts nothing.
    """
    bits = (centres + 1) / 2
    if batch.classes is not None:
        return binary_cross_entropy_with_logits(logits, bits[batch.classes])
    labels = batch.labels.to(bits.dtype)
    n_labels = labels.sum(dim=1, keepdim=True)
    target = labels @ bits / n_labels.clamp(min=1)  # linear in it, so is their mean
    weight = n_labels if reduction == "sum" else batch.labelled
    return binary_cross_entropy_with_logits(logits, target, weight=weight)


def cauchy_centre_loss(
    scores: Tensor,
    centres: Tensor,
    batch: Batch,
    gamma: float,
    reduction: str = "mean",
) -> Tensor:
    """Return the mean of ``log(1 + d / gamma)``, d being how far the centre is.

    That is DCH's term for a similar pair, of an item and its class's centre; of several
    labels the mean, or the sum.
    """
    unit = normalize(torch.tanh(scores), eps=SHORTEST)
    n_bits = scores.shape[1]
    distances = hamming_of(unit @ centres.T / n_bits**0.5, n_bits)
    labels = batch.labels
    if reduction == "mean":
        labels = labels / labels.sum(dim=1, keepdim=True).clamp(min=1)
    return (torch.log1p(distances / gamma) * labels).sum(dim=1).mean()


def make_centres(kind: Any, context: LossContext) -> Tensor:
    """Return centres as float32, (n_classes, n_bits), from a name or an array."""
    if isinstance(kind, str):
        return as_tensor(_named(kind, context))
    return as_tensor(given_codes(kind, context.n_classes, context.n_bits))


def given_codes(codes: Any, n_classes: int, n_bits: int) -> NDArray[np.int8]:
    """Return codes that were given, once they are found to fit."""
    sizes = (n_classes, n_bits)
    must = f"codes must be -1 and 1 in shape (n_classes, n_bits) = {sizes}, got "
    try:
        found = np.asarray(codes)
    except ValueError:
        raise ArgumentError(f"{must}rows of different lengths") from None
    if found.shape != sizes:
        raise ArgumentError(f"{must}shape {found.shape}")
    if not np.isin(found, (-1, 1)).all():
        raise ArgumentError(f"{must}{found[~np.isin(found, (-1, 1))][0]}")
    return found.astype(np.int8)


def as_tensor(codes: NDArray[Any]) -> Tensor:
    """Return codes as float32."""
    return torch.from_numpy(np.ascontiguousarray(codes, np.float32))


def _named(kind: str, context: LossContext) -> NDArray[np.int8]:
    seed = context.seed % 2**32
    if kind == SEMANTIC and context.features is not None:
        means, _ = class_means(context.features(), context.targets)
        means = means - means.mean(axis=0)
        return semantic_centres(means, context.n_bits, random_state=seed)
    if kind == PREDICTABLE and context.features is not None:
        Y = context.targets.indicator()
        return predictable_centres(
            context.features(), Y, context.n_bits, random_state=seed
        )
    if kind == LEARNT and context.learnt is not None:
        return context.learnt()
    if kind not in GENERATORS:
        raise ArgumentError(
            f"centres must be an array or one of {', '.join(GENERATORS)}, {SEMANTIC}, "
            f"{LEARNT}, {PREDICTABLE}, got {kind!r}"
        )
    return GENERATORS[kind](context.n_classes, context.n_bits, random_state=seed)

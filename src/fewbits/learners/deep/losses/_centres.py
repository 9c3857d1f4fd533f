"""Centres for a loss: named, or the user's own."""

from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn.functional import binary_cross_entropy_with_logits

from fewbits.errors import ArgumentError
from fewbits.learners.deep.centres import (
    balanced_centres,
    hadamard_centres,
    predictable_centres,
    semantic_centres,
    separated_centres,
)
from fewbits.learners.deep.losses._base import Batch, LossContext, Targets

GENERATORS = {
    "hadamard": hadamard_centres,
    "balanced": balanced_centres,
    "separated": separated_centres,
}
#: Those that need to know the items.
SEMANTIC, LEARNT, PREDICTABLE = "semantic", "learnt", "predictable"


def make_centres(kind: Any, context: LossContext) -> Tensor:
    """Return centres as float32, (n_classes, n_bits), from a name or an array."""
    if isinstance(kind, str):
        codes = _named(kind, context)
    else:
        codes = given_codes(kind, context.n_classes, context.n_bits)
    return torch.from_numpy(np.ascontiguousarray(codes, np.float32))


def _named(kind: str, context: LossContext) -> NDArray[np.int8]:
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
    """Return the codes of an array; refuse what is none of this shape."""
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
    return array.astype(np.int8)


def shape_of(codes: Any) -> tuple[int, ...]:
    """Return the shape of what should be codes, of rows of different lengths ()."""
    try:
        return np.shape(codes)
    except ValueError:
        return ()


def class_means(
    F: NDArray[np.float64], targets: Targets
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the means of the features of each class, and its number of items."""
    Y = targets.indicator()
    counts: NDArray[np.float64] = np.asarray(Y.sum(axis=0), np.float64)
    return (Y.T @ F) / np.maximum(counts, 1)[:, None], counts


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

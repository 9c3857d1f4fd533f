"""Common parts of losses on pairs of items."""

import torch
from torch import Tensor

from fewbits.learners.deep._targets import Targets

#: Norm below which a vector has no direction: gradients of cosines would explode.
SHORTEST = 1e-3
_SAMPLE = 4096


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

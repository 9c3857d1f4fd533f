"""Initial target bits of discriminative binary codes, and their update."""

import numpy as np
from numpy.random import RandomState

from fewbits.learners.supervised.dbc._objective import Categories, Float64Array, Labels

#: Of the released code, which does them whether they help or not.
_UPDATES = 10


def initial_labels(
    Z: Float64Array,
    categories: Categories,
    n_bits: int,
    rng: RandomState,
    *,
    init: str,
    by_image: bool,
) -> Labels:
    """Return the sides of planes through the mean, with both values in every column.

    They cut the principal components one after the other (lines 1 and 2 of algorithm
    1); when there are fewer than bits, or with ``init='random'``, random combinations
    of them.

    Parameters
    ----------
    Z : ndarray of shape (n, rank)
        Principal components.
    """
    n_axes = 0 if init == "random" else min(n_bits, Z.shape[1])
    mixed = Z @ rng.standard_normal((Z.shape[1], n_bits - n_axes))
    scores = np.hstack([Z[:, :n_axes], mixed])
    if not by_image:
        scores = np.repeat(categories.sums(scores), categories.sizes, axis=0)
    return varying(scores > 0, categories)


def varying(labels: Labels, categories: Categories) -> Labels:
    """Give the first class the other label in bits that have only one."""
    first = categories.slices[0]
    constant = labels.all(axis=0) | ~labels.any(axis=0)
    labels[first, constant] = ~labels[first, constant]
    return labels


def simultaneous(
    labels: Labels, categories: Categories, lambda2: float, n_updates: int = _UPDATES
) -> Labels:
    """Flip every label at once that seems better flipped, as the released code does.

    A label agrees with others of its class and disagrees with other classes. A 0 flips
    where ``n1 > lambda (N1 - n1)``, a 1 where ``n0 > lambda (N0 - n0)``. Where both
    hold, the whole class changes sides, and back in the next update.
    """
    share = lambda2 * float(((categories.sizes / categories.n_rows) ** 2).sum())
    sizes = categories.sizes[:, None]
    for _ in range(n_updates):
        n1 = categories.counts(labels)
        n0, N1 = sizes - n1, n1.sum(axis=0)
        N0 = categories.n_rows - N1
        flip0 = np.repeat(n1 > share * (N1 - n1), categories.sizes, axis=0)
        flip1 = np.repeat(n0 > share * (N0 - n0), categories.sizes, axis=0)
        labels = labels ^ np.where(labels, flip1, flip0)
    return labels


def by_majority(labels: Labels, categories: Categories) -> Labels:
    """Give each class the label of most of its rows, 0 when there are as many."""
    ones = 2 * categories.counts(labels) > categories.sizes[:, None]
    return np.repeat(ones, categories.sizes, axis=0)

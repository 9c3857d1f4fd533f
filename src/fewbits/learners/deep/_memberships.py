"""Memberships of items in classes, from the scores of a network."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import logsumexp

Float64Array = NDArray[np.float64]

#: Log odds beyond which an item belongs to a class, or does not; then ReLU gives them.
LIMIT = 3.0
#: Items that tell how large products are, or a few more.
_ITEMS = 10_000


class Memberships(NamedTuple):
    """Log odds of classes by scores g, ``g @ weights + bias``, cut at `LIMIT`."""

    weights: Float64Array  # (n_scores, n_classes)
    bias: Float64Array  # (n_classes,)

    def of(self, scores: NDArray[np.float32]) -> NDArray[np.float32]:
        """Return those of items, shape (n, n_classes)."""
        odds = scores @ self.weights.astype(np.float32) + self.bias.astype(np.float32)
        return odds.clip(-LIMIT, LIMIT)


def memberships(scores: NDArray[np.float32], centres: NDArray[np.int8]) -> Memberships:
    """Return the map from scores to memberships.

    They stand for softmax over the products of scores and centres, in units of their
    standard deviation. What the other classes add to its denominator changes little
    from item to item: without the largest, its median over items takes its place.

    Parameters
    ----------
    scores : ndarray of shape (n, n_scores)
        Of the items learnt from.
    centres : ndarray of shape (n_classes, n_scores)
        Those that the scores of classes were drawn to, -1 or 1.
    """
    C = centres.T.astype(np.float64)
    some = scores[:: max(1, len(scores) // _ITEMS)]
    products = some.astype(np.float64) @ C
    mean, scale = products.mean(), products.std() or 1.0
    products = np.sort((products - mean) / scale, axis=1)
    others = float(np.median(logsumexp(products[:, :-1], axis=1)))
    return Memberships(C / scale, np.full(C.shape[1], -mean / scale - others))

"""Coordinate descent of binary reconstructive embeddings (Kulis and Darrell 2009)."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.random import RandomState
from numpy.typing import NDArray
from sklearn.utils.random import sample_without_replacement

Float64Array = NDArray[np.float64]
BoolArray = NDArray[np.bool_]


@dataclass(frozen=True)
class Pairs:
    """Some others for each training point, and how far from them its code should be.

    Attributes
    ----------
    others : ndarray of shape (n_points, n_others), dtype intp
    targets : ndarray of shape (n_points, n_others)
        Half the squared distance of the points, as a share of the largest.
    """

    others: NDArray[np.intp]
    targets: Float64Array

    def differ(self, bit: BoolArray) -> BoolArray:
        """Return for each pair whether its points differ in `bit` (n_points,)."""
        return bit[:, None] ^ bit.take(self.others)


def random_pairs(K: Float64Array, share: float, rng: RandomState) -> Pairs:
    """Pair each point of the kernel matrix `K` with a random `share` of the others."""
    n = len(K)
    count = max(1, round(share * (n - 1)))
    draws = (sample_without_replacement(n - 1, count, random_state=rng) for _ in K)
    others = np.stack(list(draws))
    points = np.arange(n)[:, None]
    others += others >= points  # never the point itself
    squares = np.diag(K)
    distances = np.maximum((squares[:, None] + squares) / 2 - K, 0)
    targets = distances / (distances.max() or 1.0)
    return Pairs(others, targets[points, others])


def descend(
    K: Float64Array,
    anchors: NDArray[np.intp],
    W: Float64Array,
    pairs: Pairs,
    rng: RandomState,
) -> Iterator[tuple[Float64Array, float]]:
    """Yield better weights W (n_bits, n_anchors) with the objective, eq. (2), per pair.

    Bit p of point i is ``sum_q W[p, q] K[anchors[p, q], i] > 0``, eq. (1). A sweep
    gives every bit the best weight of one anchor, drawn at random.
    """
    W, n_bits = W.copy(), len(W)
    bits = np.stack([w @ K[a] > 0 for w, a in zip(W, anchors, strict=True)])
    gaps = -n_bits * pairs.targets  # of distances in bits
    for bit in bits:
        gaps += pairs.differ(bit)
    while True:
        for p, q in enumerate(rng.randint(anchors.shape[1], size=n_bits)):
            differ = pairs.differ(bits[p])
            # What a square gap costs more when the pair differs in bit p than when not
            costs = 2 * (gaps - differ) + 1
            kernel, w = K[anchors[p]], W[p].copy()
            w[q] = best_weight(w[q], w @ kernel, kernel[q], costs, pairs)
            bit = w @ kernel > 0
            changes = pairs.differ(bit).astype(float) - differ
            if np.vdot(costs, changes) < 0:
                W[p], bits[p] = w, bit
                gaps += changes
        yield W.copy(), float(np.mean((gaps / n_bits) ** 2))


def best_weight(
    weight: float,
    scores: Float64Array,
    kernel: Float64Array,
    costs: Float64Array,
    pairs: Pairs,
) -> float:
    """Return the value of one weight for which the pairs that differ cost least.

    Bit i flips where the weight passes ``weight - scores[i] / kernel[i]``. A pair
    changes sides at the first flip of its two points and returns at the second, so a
    cumulative sum over the sorted flips gives the objective of every interval.
    """
    with np.errstate(all="ignore"):
        flips = weight - scores / kernel
    fixed = ~np.isfinite(flips)  # kernel is 0
    flips[fixed] = np.inf
    order = np.argsort(flips, kind="stable")
    rank = np.empty_like(order)
    rank[order] = np.arange(len(order))
    middles, possible = _middles(flips[order[: len(flips) - fixed.sum()]])
    if not possible.any():
        return weight
    # Far to the left, a bit has the sign of -kernel.
    together = ~pairs.differ(np.where(fixed, scores > 0, kernel < 0))
    first = rank[:, None] < rank.take(pairs.others)
    gains = np.where(together ^ first, -costs, costs)
    steps = gains.sum(axis=1)
    steps -= np.bincount(pairs.others.ravel(), gains.ravel(), len(steps))
    objective = np.append(0, np.cumsum(steps[order]))[: len(middles)]
    return float(middles[np.where(possible, objective, np.inf).argmin()])


def _middles(flips: Float64Array) -> tuple[Float64Array, BoolArray]:
    """Return a weight within each interval between the sorted `flips`, or beyond them.

    With it, whether the interval has an inside: equal flips leave none.
    """
    if not len(flips):
        return flips, np.zeros(0, bool)
    reach = (flips[-1] - flips[0]) / len(flips) or 1.0
    ends = np.concatenate([[flips[0] - reach], flips, [flips[-1] + reach]])
    middles = ends[:-1] / 2 + ends[1:] / 2
    return middles, (ends[:-1] < middles) & (middles < ends[1:])

"""Coordinate descent of binary reconstructive embeddings (Kulis and Darrell 2009)."""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import count

import numpy as np
from numpy.random import RandomState
from numpy.typing import NDArray
from sklearn.utils.random import sample_without_replacement

from fewbits.learners._core._checkpoint import Arrays

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
    n_others = max(1, round(share * (n - 1)))
    draws = (sample_without_replacement(n - 1, n_others, random_state=rng) for _ in K)
    others = np.stack(list(draws))
    points = np.arange(n)[:, None]
    others += others >= points  # never the point itself
    squares = np.diag(K)
    distances = np.maximum((squares[:, None] + squares) / 2 - K, 0)
    targets = distances / (distances.max() or 1.0)
    return Pairs(others, targets[points, others])


def first_sweep(
    K: Float64Array, anchors: NDArray[np.intp], W: Float64Array, pairs: Pairs
) -> Arrays:
    """Return what `descend` begins with: see there."""
    bits = np.stack([w @ K[a] > 0 for w, a in zip(W, anchors, strict=True)])
    gaps = -len(W) * pairs.targets
    for bit in bits:
        gaps += pairs.differ(bit)
    return W, bits, gaps, np.array(0)


def descend(
    K: Float64Array,
    anchors: NDArray[np.intp],
    pairs: Pairs,
    rng: RandomState,
    start: Arrays,
) -> Iterator[tuple[Arrays, float]]:
    """Yield what sweeps after `start` reach, with the objective, eq. (2), per pair.

    That are weights W (n_bits, n_anchors), bits, gaps of the pairs' distances, in bits,
    and the number of sweeps. Bit p of point i is ``sum_q W[p, q] K[anchors[p, q], i] >
    0``, eq. (1). A sweep gives every bit the best weight of an anchor drawn at random.
    """
    W, bits, gaps = (each.copy() for each in start[:-1])
    n_bits, n_done = len(W), int(start[-1])
    for sweep in count(1):
        drawn = rng.randint(anchors.shape[1], size=n_bits)
        if sweep <= n_done:
            continue
        for p, q in enumerate(drawn):
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
        reached = W.copy(), bits.copy(), gaps.copy(), np.array(sweep)
        yield reached, float(np.mean((gaps / n_bits) ** 2))


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

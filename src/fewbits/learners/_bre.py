"""Binary reconstructive embeddings."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import KW_ONLY, dataclass
from functools import partial
from itertools import count
from typing import Any, ClassVar

import numpy as np
from numpy.random import RandomState
from numpy.typing import NDArray
from scipy.sparse import csr_array, diags_array
from sklearn.utils import check_random_state
from sklearn.utils.random import sample_without_replacement

from fewbits._typing import Array
from fewbits._unit_rows import unit_rows
from fewbits.encoders import LinearEncoder
from fewbits.errors import FeatureError
from fewbits.learners._core._iterative import Arrays, IterativeLearner
from fewbits.learners._core._parameters import (
    FROM_0,
    SHARE,
    USUAL,
    Interval,
)
from fewbits.learners._core._rows import SAME_ROWS, as_float32, column_means

Float64Array = NDArray[np.float64]
BoolArray = NDArray[np.bool_]

_START_SCALE = 1e-3


@dataclass(eq=False, repr=False)
class BRE(IterativeLearner):
    """Make the distances of codes reproduce the distances of the data.

    A bit is the sign of a weighted sum of products with a few training rows, its
    anchors; the weights are learnt by exact coordinate descent on some pairs of a
    sample of rows. Rows are centred and scaled to unit length.

    Parameters
    ----------
    n_bits : int, default=64
    n_train : int, default=1000
        Rows to learn from, drawn at random; all where there are fewer.
    n_anchors : int, default=20
        Anchors of each bit, drawn at random from these rows; at most all of them.
    pair_share : float, default=0.05
        Share of the other rows that each row is paired with, above 0 and at most 1; at
        least one row.
    n_iter : int, default=50
        Number of sweeps; each gives every bit the best weight of one of its anchors. 0
        keeps the random weights, a baseline of its own.

    Attributes
    ----------
    encoder_ : LinearEncoder
    objective_ : ndarray of shape (n_iter_,)
        Mean squared difference over the pairs, at the end of each sweep, between the
        share of bits in which the codes differ and half the squared distance of the
        rows, as a share of the largest. It never rises.

    Notes
    -----
    The kernel is linear, as in the paper's experiments. Scores are scaled to a
    mean square of 1 on the training rows, as searches weigh bits by the scores of the
    query. A score of exactly 0 gives a 0.

    References
    ----------
    Kulis and Darrell, "Learning to Hash with Binary Reconstructive Embeddings", NIPS
    2009.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.random.default_rng(0).normal(size=(200, 16))
    >>> BRE(n_bits=8, n_iter=5, random_state=0).fit(X).encoder_
    LinearEncoder(16 -> 8 bits)
    """

    _: KW_ONLY
    n_train: int = 1000
    n_anchors: int = 20
    pair_share: float = 0.05

    constraints: ClassVar = USUAL | {
        "n_train": [Interval(int, 2)],
        "n_anchors": [Interval(int, 1)],
        "pair_share": SHARE,
        "n_iter": FROM_0,
    }

    def _learn(self, X: Array, y: Any) -> LinearEncoder:
        rng = check_random_state(self.random_state)
        mean = column_means(X)
        count = min(self.n_train, len(X))
        drawn = np.sort(sample_without_replacement(len(X), count, random_state=rng))
        Z = as_float32(X[drawn]) - mean
        # The mean of equal float32 numbers is exact in float64, so zero means zero.
        if not Z.any():
            raise FeatureError(SAME_ROWS)
        Z = unit_rows(Z)
        K = Z @ Z.T
        count = min(self.n_anchors, len(Z))
        draws = (
            sample_without_replacement(len(Z), count, random_state=rng)
            for _ in range(self.n_bits)
        )
        anchors = np.stack(list(draws))
        W = _START_SCALE * rng.standard_normal(anchors.shape)
        pairs = random_pairs(K, self.pair_share, rng)
        bits = np.stack([w @ K[a] > 0 for w, a in zip(W, anchors, strict=True)])
        gaps = -len(W) * pairs.targets
        for bit in bits:
            gaps += pairs.differ(bit)
        states = partial(descend, K, anchors, pairs, rng)
        W, *_ = self._run(states, (W, bits, gaps, np.array(0)), X)
        # Of all rows that might be anchors.
        starts = np.arange(len(W) + 1) * anchors.shape[1]
        weights = csr_array((W.ravel(), anchors.ravel(), starts), (len(W), len(Z)))
        # Each bit's scores get a mean square of 1. No bit changes; re-ranking weighs
        # bits by their scores, and what descent leaves differs a hundredfold.
        spread = np.sqrt(np.mean((weights @ K) ** 2, axis=1))
        spread[spread == 0] = 1
        weights = csr_array(diags_array(1 / spread) @ weights)
        normals = (weights @ Z).T
        return LinearEncoder(normals, bias=-mean @ normals)


@dataclass(frozen=True)
class Pairs:
    """Some others for each training point, and how far from them its code should be."""

    others: NDArray[np.intp]  # (n_points, n_others)
    #: Half the squared distance of the points, as a share of the largest.
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


def descend(
    K: Float64Array,
    anchors: NDArray[np.intp],
    pairs: Pairs,
    rng: RandomState,
    start: Arrays,
) -> Iterator[tuple[Arrays, float]]:
    """Yield what sweeps after `start` reach, with the objective, eq. (2), per pair."""
    # That are weights W (n_bits, n_anchors), bits, gaps of the pairs' distances, in
    # bits, and the number of sweeps. Bit p of point i is ``sum_q W[p, q] K[anchors[p,
    # q], i] > 0``, eq. (1). A sweep gives every bit the best weight of an anchor drawn
    # at random.
    W, bits, gaps = (array.copy() for array in start[:-1])
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
    """Return the value of one weight for which the pairs that differ cost least."""
    # Bit i flips where the weight passes ``weight - scores[i] / kernel[i]``. A pair
    # changes sides at the first flip of its two points and returns at the second, so a
    # cumulative sum over the sorted flips gives the objective of every interval.
    with np.errstate(all="ignore"):
        flips = weight - scores / kernel
    fixed = ~np.isfinite(flips)  # kernel is 0
    flips[fixed] = np.inf
    order = np.argsort(flips, kind="stable")
    rank = np.empty_like(order)
    rank[order] = np.arange(len(order))
    # A weight within each interval between the flips, or beyond them; equal flips leave
    # no inside.
    ends = flips[order[: len(flips) - fixed.sum()]]
    if not len(ends):
        return weight
    reach = (ends[-1] - ends[0]) / len(ends) or 1.0
    ends = np.concatenate([[ends[0] - reach], ends, [ends[-1] + reach]])
    middles = ends[:-1] / 2 + ends[1:] / 2
    possible = (ends[:-1] < middles) & (middles < ends[1:])
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

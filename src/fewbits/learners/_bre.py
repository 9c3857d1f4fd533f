"""Binary reconstructive embeddings."""

from functools import partial
from typing import Any

import numpy as np
from numpy.random import RandomState
from numpy.typing import NDArray
from scipy.sparse import csr_array
from sklearn.utils import check_random_state
from sklearn.utils.random import sample_without_replacement

from fewbits._typing import Array
from fewbits._unit_rows import unit_rows
from fewbits.encoders import LinearEncoder
from fewbits.errors import FeatureError
from fewbits.learners._bre_descent import descend, first_sweep, random_pairs
from fewbits.learners._dead_bits import tell_constant_bits
from fewbits.learners._parameters import check_integer, check_n_bits, check_number
from fewbits.learners._resumable import ResumableLearner
from fewbits.learners._rows import SAME_ROWS, as_single, column_means

Float64Array = NDArray[np.float64]

_START_SCALE = 1e-3


class BRE(ResumableLearner):
    """Make the distances of codes reproduce the distances of the data.

    The rows are centred and scaled to unit length. A bit is the sign of a weighted sum
    of products with a few training rows, its anchors; the weights are learned by exact
    coordinate descent on some pairs of a sample of rows.

    Parameters
    ----------
    n_bits : int, default=64
        Length of the code, from 1 to 65,536; it may exceed the number of features.
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
    tol : float, default=0
        Stop when a sweep lowers the objective by no more than this share of it; 0 does
        all sweeps.
    checkpoint : path or None, default=None
        File that is renewed now and then. When it is there, `fit` goes on from it and
        ends with the same result as without the interruption; then it is deleted.
    verbose : bool, default=False
        Show progress on standard error; see also `on_progress`.
    random_state : int, RandomState instance or None, default=None
        Seeds the choice of rows, anchors and pairs, the first weights, and the order.

    Attributes
    ----------
    encoder_ : LinearEncoder
        The learned map; save this, not the learner.
    objective_ : ndarray of shape (n_iter_,)
        Mean squared difference over the pairs, at the end of each sweep, between the
        share of bits in which the codes differ and half the squared distance of the
        rows, as a share of the largest. It never rises.
    n_iter_ : int
        Sweeps that were done.
    n_dead_bits_ : int
        Bits that are the same for all rows; more than 0 gives a warning.
    n_features_in_ : int

    Raises
    ------
    FeatureError
        From `fit`, when every row is the same, or every one of the `n_train` drawn.

    Notes
    -----
    The kernel is linear, so the weighted sum is one product with the centred row, and
    the length of that row does not change its sign: the result is a hyperplane per bit,
    and rows need not be scaled to be encoded.

    A score of exactly 0 gives a 0. An interrupt keeps the weights reached, with a
    warning.

    References
    ----------
    Kulis and Darrell, "Learning to Hash with Binary Reconstructive Embeddings", NIPS
    2009.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.random.default_rng(0).normal(size=(200, 16))
    >>> bre = BRE(n_bits=8, n_iter=5, random_state=0).fit(X)
    >>> bre.encoder_
    LinearEncoder(16 -> 8 bits)
    >>> bool(bre.objective_[-1] < bre.objective_[0])
    True
    """

    def __init__(
        self,
        n_bits: int = 64,
        *,
        n_train: int = 1000,
        n_anchors: int = 20,
        pair_share: float = 0.05,
        n_iter: int = 50,
        tol: float = 0.0,
        checkpoint: Any = None,
        verbose: bool = False,
        random_state: Any = None,
    ) -> None:
        self.n_bits = n_bits
        self.n_train = n_train
        self.n_anchors = n_anchors
        self.pair_share = pair_share
        self.n_iter = n_iter
        self.tol = tol
        self.checkpoint = checkpoint
        self.verbose = verbose
        self.random_state = random_state

    def _check_parameters(self) -> None:
        check_n_bits(self.n_bits)
        check_integer("n_train", self.n_train, 2)
        check_integer("n_anchors", self.n_anchors, 1)
        check_number("pair_share", self.pair_share, 0, 1, above=True)
        self._check_iterations(least=0)

    def _learn(self, X: Array, y: Any) -> LinearEncoder:
        rng = check_random_state(self.random_state)
        mean = column_means(X)
        Z = _unit_rows(X, mean, self.n_train, rng)
        K = Z @ Z.T
        anchors = self._draw_anchors(len(Z), rng)
        W = _START_SCALE * rng.standard_normal(anchors.shape)
        pairs = random_pairs(K, self.pair_share, rng)
        states = partial(descend, K, anchors, pairs, rng)
        W, *_ = self._resume(states, first_sweep(K, anchors, W, pairs), X)
        # sum_q W_pq k(anchor_q, x) is linear in x for k(a, x) = a'x.
        normals = _combine(W, anchors, Z).T
        encoder = LinearEncoder(normals, bias=-mean @ normals)
        self.n_dead_bits_ = tell_constant_bits(encoder, X)
        return encoder

    def _draw_anchors(self, n: int, rng: RandomState) -> NDArray[np.intp]:
        count = min(self.n_anchors, n)
        draws = (_draw(n, count, rng) for _ in range(self.n_bits))
        return np.stack(list(draws))


def _unit_rows(
    X: Array, mean: Float64Array, count: int, rng: RandomState
) -> Float64Array:
    """Return `count` random rows, centred and scaled to length 1; zeros stay zeros."""
    rows = np.sort(_draw(len(X), min(count, len(X)), rng))
    unit = unit_rows(as_single(X[rows]) - mean)
    # The mean of equal float32 numbers is exact in float64, so zero means zero.
    if not unit.any():
        raise FeatureError(SAME_ROWS)
    return unit


def _draw(n: int, count: int, rng: RandomState) -> NDArray[np.intp]:
    drawn: NDArray[np.intp] = sample_without_replacement(n, count, random_state=rng)
    return drawn


def _combine(
    W: Float64Array, anchors: NDArray[np.intp], Z: Float64Array
) -> Float64Array:
    """Return for each bit the sum of its anchors, weighted: (n_bits, n_features)."""
    starts = np.arange(len(W) + 1) * anchors.shape[1]
    weights = csr_array((W.ravel(), anchors.ravel(), starts), (len(W), len(Z)))
    normals: Float64Array = weights @ Z
    return normals

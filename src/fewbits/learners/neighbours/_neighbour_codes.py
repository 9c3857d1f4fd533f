"""Codes that are trained to keep the neighbours of vectors."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.random import RandomState
from numpy.typing import NDArray

from fewbits._typing import Array
from fewbits.encoders import Encoder, LinearEncoder, SparseEncoder
from fewbits.errors import ArgumentError
from fewbits.learners._dead_bits import NO_WEIGHTS, tell_dead_bits
from fewbits.learners._iterative import interrupts_passed_on
from fewbits.learners._itq import ITQ
from fewbits.learners._parameters import check_integer, check_number
from fewbits.learners._progress import unheard
from fewbits.learners.neighbours._frame import Frame, plain_frame, principal_frame
from fewbits.learners.neighbours._learner import NeighbourLearner
from fewbits.learners.neighbours._maps import LinearMap, ResidualMap, SparseLinearMap

Float32Array = NDArray[np.float32]

_START_ROWS, _START_ITER = 30_000, 20


class NeighbourCodes(NeighbourLearner):
    """Learn a map whose codes have the neighbours that the vectors have.

    Parameters
    ----------
    n_bits : int, default=64
        Length of the code, from 1 to 65,536; it may exceed the number of features.
    lengths : sequence of int, default=()
        Shorter lengths at which a prefix of the code shall keep neighbours, too.
    density : float, default=1.0
        Share of the weights that is not 0, for a sparse map. They are dropped in the
        first half of the iterations, the smallest ones first.
    n_hidden : int, default=0
        Width of a hidden layer beside the linear map, which it must be dense for.
    perplexity : float, default=20.0
        Effective number of neighbours that are to be kept.
    n_neighbours : int, default=300
        Nearest rows of an anchor that batches are drawn from.
    n_anchors : int, default=20_000
        Rows whose neighbours are searched for, which takes ``n_anchors * n_rows``
        products of vectors.
    n_rows : int, default=200_000
        Rows that take part, drawn if there are more; they are held in memory.
    n_iter : int, default=30
        Iterations, each of 50 batches.
    learning_rate : float, default=0.02
        Of Adam, for rows scaled to a mean square of 1; it falls to 0.
    validation : float, default=0.05
        Share of the rows, 500 at most, that is kept aside: the iteration in which the
        codes of the others find most of their 10 nearest neighbours is kept. 0 keeps
        the last.
    tol : float, default=0.0
        Stop when an iteration lowers the objective by no more than this share of it.
    checkpoint : path or None, default=None
        File that is renewed now and then. When it is there, `fit` goes on from it and
        ends with the same result as without the interruption; then it is deleted.
    verbose : bool, default=False
        Show progress on standard error; see also `on_progress`.
    random_state : int, RandomState instance or None, default=None
        Seeds the start, the rows kept aside and the batches.

    Attributes
    ----------
    encoder_ : LinearEncoder, SparseEncoder or MLPEncoder
        The learned map; save this, not the learner.
    objective_ : ndarray of shape (n_iter_,)
        Mean cross-entropy, in nats, of the neighbours by vectors with those by codes,
        over the batches of each iteration: an estimate, so it falls with noise.
    recalls_ : ndarray of shape (n_iter_ + 1,)
        Recall of the 10 nearest rows of those kept aside, at the start and after each
        iteration; empty where none are.
    n_dead_bits_ : int
        Bits of a sparse map that no weight was left for; more than 0 gives a warning.
    n_iter_ : int
        Iterations that were done.
    n_features_in_ : int

    Notes
    -----
    A method of fewbits, not of a paper. What is minimised is the objective of
    stochastic neighbour embedding with codes in the place of points in the plane:
    ``sum_ij p_ij log(p_ij / q_ij)`` with ``p_ij`` proportional to ``exp(-beta_i |x_i -
    x_j|^2)`` and ``q_ij`` to ``exp(s h_i'h_j / b)``, the h being the signs of the
    scores. Gradients pass the signs as if they were hyperbolic tangents. Batches hold
    rows that are near each other, mined before; the start is ITQ.

    A score of exactly 0 gives a 1. An interrupt keeps the map reached, with a warning.

    References
    ----------
    Hinton and Roweis, "Stochastic Neighbor Embedding", NIPS 2002.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.random.default_rng(0).normal(size=(200, 16))
    >>> learner = NeighbourCodes(n_bits=8, n_iter=2, random_state=0).fit(X)
    >>> learner.encoder_
    LinearEncoder(16 -> 8 bits)
    """

    def __init__(
        self,
        n_bits: int = 64,
        *,
        lengths: Sequence[int] = (),
        density: float = 1.0,
        n_hidden: int = 0,
        perplexity: float = 20.0,
        n_neighbours: int = 300,
        n_anchors: int = 20_000,
        n_rows: int = 200_000,
        n_iter: int = 30,
        learning_rate: float = 0.02,
        validation: float = 0.05,
        tol: float = 0.0,
        checkpoint: Any = None,
        verbose: bool = False,
        random_state: Any = None,
    ) -> None:
        self.n_bits = n_bits
        self.lengths = lengths
        self.density = density
        self.n_hidden = n_hidden
        self.perplexity = perplexity
        self.n_neighbours = n_neighbours
        self.n_anchors = n_anchors
        self.n_rows = n_rows
        self.n_iter = n_iter
        self.learning_rate = learning_rate
        self.validation = validation
        self.tol = tol
        self.checkpoint = checkpoint
        self.verbose = verbose
        self.random_state = random_state

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_number("density", self.density, 0, 1, above=True)
        check_integer("n_hidden", self.n_hidden, 0)
        if self.n_hidden and self.density < 1:
            raise ArgumentError(
                f"density={self.density:g} needs n_hidden=0, got {self.n_hidden}"
            )

    def _learn(self, X: Array, y: Any) -> Encoder:
        encoder = super()._learn(X, y)
        self.n_dead_bits_ = tell_dead_bits(n_empty(encoder), self.n_bits, NO_WEIGHTS)
        return encoder

    def _may_stop(self, objective: list[float]) -> bool:
        # A sparse map learns until its weights are gone, and then for a while.
        sparse = self.density < 1
        early = sparse and len(objective) <= SparseLinearMap.END * self.n_iter + 1
        return not early and super()._may_stop(objective)

    def _frame(self, X: Array) -> Frame:
        return principal_frame(X) if self.density == 1 else plain_frame(X)

    def _start(self, V: Float32Array, rng: RandomState) -> LinearMap:
        """Return ITQ, its scores scaled to a variance of 1."""
        seed = rng.randint(2**31 - 1)
        itq = ITQ(self.n_bits, n_iter=_START_ITER, random_state=seed)
        with interrupts_passed_on(), unheard():
            encoder = itq.fit(V[:_START_ROWS]).encoder_
        assert isinstance(encoder, LinearEncoder)
        spread = np.maximum(encoder.project(V[:_START_ROWS]).std(axis=0), 1e-6)
        weights, bias = encoder.weights / spread, encoder.bias / spread
        if self.density < 1:
            return SparseLinearMap(weights, bias, self.density)
        if self.n_hidden:
            return ResidualMap(weights, bias, self.n_hidden, rng)
        return LinearMap(weights, bias)


def n_empty(encoder: Encoder) -> int:
    """Return the number of bits of a sparse map that have no weight."""
    if not isinstance(encoder, SparseEncoder):
        return 0
    return int(np.sum(np.diff(encoder.indptr) == 0))

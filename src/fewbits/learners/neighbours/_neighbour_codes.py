"""Codes that are trained to preserve the nearest neighbours of vectors."""

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

import numpy as np
from numpy.random import RandomState
from numpy.typing import NDArray

from fewbits._typing import CodeArray
from fewbits.codes import MAX_BITS, pack
from fewbits.encoders import Encoder, LinearEncoder
from fewbits.errors import ArgumentError
from fewbits.learners._core._device import current_backend
from fewbits.learners._core._iterative import interrupts_passed_on, warn_of_interrupt
from fewbits.learners._core._nested import Config
from fewbits.learners._core._parameters import check_integer, check_number
from fewbits.learners._core._progress import no_progress
from fewbits.learners._core._rows import Readable
from fewbits.learners._linalg._query_weights import (
    Added,
    QueryWeights,
    trained_query_weights,
)
from fewbits.learners.neighbours._config import NeighbourTraining
from fewbits.learners.neighbours._frame import Frame, plain_frame, principal_frame
from fewbits.learners.neighbours._learner import NeighbourLearner
from fewbits.learners.neighbours._maps import (
    LEAST_SPREAD,
    LinearMap,
    Map,
    NetworkMap,
    SparseLinearMap,
)
from fewbits.learners.neighbours._validation import ValidationSplit
from fewbits.learners.unsupervised._itq import ITQ

Float32Array = NDArray[np.float32]

_START_ROWS, _START_ITERATIONS = 20_000, 25


class NeighbourCodes(NeighbourLearner):
    """Learn a map whose codes preserve the nearest neighbours of the vectors.

    Parameters
    ----------
    n_bits : int, default=64
        Length of the code, from 1 to 65,536; it may exceed the number of features.
    nested_bits : sequence of int, default=()
        Shorter lengths at which a prefix of the code must preserve neighbours, too.
    density : float, default=1.0
        Share of the weights that is not 0, for a sparse map. They are dropped in the
        first half of the iterations, the smallest ones first.
    n_hidden : int, default=0
        Width of a hidden layer with ReLU, 2 to 65,536, for which the map must be dense.
        Training starts at ITQ of the first ``n_hidden // 2`` principal axes. 0 learns a
        linear map.
    tightness : float, default=0.3
        Regularisation of a dense linear map, 0 to 0.5: before every ten batches its
        weights take this share of a Newton-Schulz step towards a tight frame, in which
        all singular values are equal, as in ITQ. That preserves the distances of all
        rows, and with them what is gained for rows that come later and for re-ranking
        by scores. Has no effect on sparse maps and hidden layers.
    training : NeighbourTraining or None, default=None
        Settings of the sampling of neighbours and of the learning rate; None takes the
        defaults.
    n_iter : int, default=30
        Iterations, each of 100 batches, or of 50 where codes are longer than 128 bits.
    tol : float, default=0.0
        Stop when the mean objective of five iterations is no more than this share below
        that of the five before; 0 disables early stopping.
    checkpoint : path or None, default=None
        File to save progress to. If it exists, `fit` resumes from it and ends with the
        same result as without the interruption; then it is deleted.
    verbose : bool, default=False
        Show progress on standard error; see also `on_progress`.
    random_state : int, RandomState instance or None, default=None
        Seeds the start, the held-out rows and the batches.

    Attributes
    ----------
    encoder_ : LinearEncoder, SparseEncoder or MLPEncoder
        The learnt encoder; save this, not the learner.
    objective_ : ndarray of shape (n_iter_,)
        Mean cross-entropy, in nats, of the neighbours by vectors with those by codes,
        over the batches of each iteration: an estimate, so it falls with noise.
    recalls_ : ndarray of shape (n_iter_ + 1,)
        Share of the nearest of the held-out rows that codes find, at the start and
        after each iteration, a mean over all lengths; empty where none are held out.
    n_dead_bits_ : int
        Bits that are the same for all rows, as those without weights in a sparse map
        are; more than 0 gives a warning.
    n_iter_ : int
        Number of iterations done.
    n_features_in_ : int

    Notes
    -----
    A method of fewbits, not of a paper. What is minimised is the objective of
    stochastic neighbour embedding with codes in the place of points in the plane:
    ``sum_ij p_ij log(p_ij / q_ij)`` with ``p_ij`` proportional to ``exp(-beta_i |x_i -
    x_j|^2)`` and ``q_ij`` to ``exp(s h_i'h_j / b)``, the h being the signs of the
    scores. Gradients pass the signs straight through, with the derivative of tanh.
    Batches hold rows that are near each other, mined before; the start is ITQ.

    A score of exactly 0 is encoded as 1. An interrupt keeps the last map reached,
    with a warning.

    As of 1,000 rows, a linear map gets a second one for queries, trained to rank
    shortlists of 100 by their scores (`LinearEncoder.query_scores`), where that finds
    more neighbours of held-out rows.

    Memory: the rows that take part in float32, and about ten copies of the weights
    (gradients, two moments and the start among them); eight more for a checkpoint.

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

    configs: ClassVar[Mapping[str, type[Config]]] = {"training": NeighbourTraining}

    def __init__(
        self,
        n_bits: int = 64,
        *,
        nested_bits: Sequence[int] = (),
        density: float = 1.0,
        n_hidden: int = 0,
        tightness: float = 0.3,
        training: NeighbourTraining | None = None,
        n_iter: int = 30,
        tol: float = 0.0,
        checkpoint: Any = None,
        verbose: bool = False,
        random_state: Any = None,
    ) -> None:
        self.n_bits = n_bits
        self.nested_bits = nested_bits
        self.density = density
        self.n_hidden = n_hidden
        self.tightness = tightness
        self.training = training
        self.n_iter = n_iter
        self.tol = tol
        self.checkpoint = checkpoint
        self.verbose = verbose
        self.random_state = random_state

    @property
    def _training(self) -> NeighbourTraining:
        return self._config("training", NeighbourTraining)

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_number("density", self.density, 0, 1, above=True)
        check_integer("n_hidden", self.n_hidden, 0, MAX_BITS)
        if self.n_hidden == 1:
            raise ArgumentError("n_hidden must be 0, or 2 or more, got 1")
        if self.n_hidden and self.density < 1:
            raise ArgumentError(
                f"density={self.density:g} needs n_hidden=0, got {self.n_hidden}"
            )
        check_number("tightness", self.tightness, 0, 0.5)

    def _may_stop(self, objective: list[float]) -> bool:
        # A sparse map learns until its weights are gone, and then for a while.
        end = SparseLinearMap.END if self.density < 1 else 0
        return super()._may_stop(objective[int(end * self.n_iter) :])

    def _frame(self, X: Readable) -> Frame:
        return principal_frame(X) if self.density == 1 else plain_frame(X)

    def _encoder(
        self, trained: Map, frame: Frame, rows: Float32Array, rng: RandomState
    ) -> Encoder:
        """Train the scores of queries, too, where the map is linear."""
        if not isinstance(trained, LinearMap):
            return trained.encoder(frame)
        get = current_backend().get
        start = QueryWeights(get(trained.weights), get(trained.bias))

        def encode(some: Float32Array) -> CodeArray:
            return pack(some @ start.weights + start.bias >= 0)

        try:
            queries = trained_query_weights(rows, encode, start, Added.NOTHING, rng)
        except KeyboardInterrupt:
            when = "before scores of queries were trained"
            warn_of_interrupt(self, self.n_iter_, self.n_iter, None, when)
            return trained.encoder(frame)
        return trained.encoder(frame, queries and LinearMap(*queries))

    def _start(self, split: ValidationSplit, rng: RandomState) -> Map:
        """Return ITQ, its scores scaled to a variance of 1."""
        few = split.rows[:_START_ROWS]
        if (few == few[0]).all():  # those that differ are rare
            few = np.concatenate([split.rows, split.held_out])
        if self.n_hidden:
            few = few[:, : min(self.n_hidden // 2, self.n_bits)]
        weights, bias = scaled_itq(few, self.n_bits, rng)
        if self.n_hidden:
            shape = split.rows.shape[1], self.n_hidden
            return NetworkMap(weights, bias, few.std(axis=0), shape, rng)
        if self.density < 1:
            return SparseLinearMap(weights, bias, self.density)
        return LinearMap(weights, bias, float(self.tightness))


class _Start(ITQ):
    """ITQ whose codes are only where learning starts."""

    def _tell_one_direction(self) -> None:
        pass


def scaled_itq(
    V: Float32Array, n_bits: int, rng: RandomState
) -> tuple[Float32Array, Float32Array]:
    """Return weights and bias of ITQ whose scores have a variance of 1."""
    itq = _Start(n_bits, n_iter=_START_ITERATIONS, random_state=rng.randint(2**31 - 1))
    with interrupts_passed_on(), no_progress():
        encoder = itq.fit(V).encoder_
    assert isinstance(encoder, LinearEncoder)
    spread = np.maximum(encoder.project(V).std(axis=0), LEAST_SPREAD)
    return encoder.weights / spread, encoder.bias / spread

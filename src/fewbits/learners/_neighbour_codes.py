"""Codes that are trained to preserve the nearest neighbours of vectors."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from copy import deepcopy
from dataclasses import KW_ONLY, dataclass
from functools import partial
from typing import Any, ClassVar

import numpy as np
from numpy.random import RandomState
from numpy.typing import NDArray
from sklearn.utils import check_random_state

from fewbits._runtime import changed
from fewbits._typing import Array, CodeArray
from fewbits.codes import pack
from fewbits.encoders import Encoder, LinearEncoder
from fewbits.errors import DivergedError
from fewbits.learners._core._device import current_backend
from fewbits.learners._core._iterative import (
    Arrays,
    IterativeLearner,
    interrupts_passed_on,
    warn_of_interrupt,
)
from fewbits.learners._core._parameters import USUAL, Config, Interval, check_integers
from fewbits.learners._core._rows import ChosenRows, Readable
from fewbits.learners._itq import InnerITQ
from fewbits.learners._linalg._query_weights import (
    Added,
    QueryWeights,
    trained_query_weights,
)
from fewbits.learners._neighbour_training import (
    LEAST_SPREAD,
    Frame,
    LinearMap,
    Map,
    Training,
    ValidationSplit,
    neighbour_graph,
    principal_frame,
)

Float32Array = NDArray[np.float32]
IntArray = NDArray[np.int64]

#: Held-out rows: more than their share where this is few, of very few a quarter.
_FEWEST_HELD_OUT, _MOST_HELD_OUT = 100, 20_000
#: Fewer rows, or fewer for each feature, have principal axes that fit them alone.
_FEW, _FEW_FOR_EACH = 1000, 3
_SPAN = 5  # iterations whose mean objective `tol` compares with that of those before
_START_ROWS, _START_ITERATIONS = 20_000, 25
_MOST_RATE = 100.0  # a step of one entry, of rows whose mean square is 1


@dataclass(kw_only=True, repr=False, eq=False)
class NeighbourTraining(Config):
    """Settings of the training of `NeighbourCodes`.

    Parameters
    ----------
    perplexity : float, default=10.0
        Effective number of neighbours to preserve. More, such as 150 of 500
        `n_neighbours`, preserve wider neighbourhoods, and classes with them, at the
        cost of some recall@10.
    n_neighbours : int, default=300
        Nearest rows of an anchor that batches are drawn from.
    n_anchors : int, default=12_000
        Rows whose neighbours are searched for, which takes ``n_anchors * n_rows``
        products of vectors.
    n_rows : int, default=200_000
        Rows that take part, drawn if there are more; they are held in memory, and
        on the device, in float32.
    learning_rate : float, default=0.04
        Of Adam, for rows scaled to a mean square of 1, up to 100; it falls to 0.
    validation : float, default=0.1
        Share of the rows, 20,000 at most, that is held out and searched among itself:
        where the start finds more of their nearest neighbours, by over a standard
        error, training is undone. Where fewer than 500 are held out, training must be
        shown to find more. Of fewer than 1,000 rows 100 are, a quarter at most; of
        fewer than 100 none, and the start is the result. 0 keeps what was trained.
    """

    perplexity: float = 10.0
    n_neighbours: int = 300
    n_anchors: int = 12_000
    n_rows: int = 200_000
    learning_rate: float = 0.04
    validation: float = 0.1

    constraints: ClassVar = {
        "perplexity": [Interval(float, 1, closed="neither")],
        "n_neighbours": [Interval(int, 1)],
        "n_anchors": [Interval(int, 1)],
        "n_rows": [Interval(int, 2)],
        "learning_rate": [Interval(float, 0, _MOST_RATE, closed="right")],
        "validation": [Interval(float, 0, 0.5)],
    }


@dataclass(eq=False, repr=False)
class NeighbourLearner(IterativeLearner):
    """A learner that trains a map on the neighbours of its rows.

    Parameters
    ----------
    nested_bits : sequence of int, default=()
        Shorter lengths at which a prefix of the code must preserve neighbours, too.
    training : NeighbourTraining or None, default=None
        Settings of the sampling of neighbours and of the learning rate; None takes the
        defaults.
    n_iter : int, default=30
        Iterations, each of 100 batches, or of 50 where codes are longer than 128 bits.
    tol : float, default=0.0
        Stop when the mean objective of five iterations is this share below that of the
        five before, or less; 0: never.
    random_state : int, RandomState instance or None, default=None
        Seeds the start, the held-out rows and the batches.

    Attributes
    ----------
    objective_ : ndarray of shape (n_iter_,)
        Mean cross-entropy, in nats, of the neighbours by vectors with those by codes,
        over the batches of each iteration: an estimate, so it falls with noise.
    recalls_ : ndarray of shape (n_iter_ + 1,)
        Share of the nearest of the held-out rows that codes find, at the start and
        after each iteration, a mean over all lengths; empty where none are held out.
    """

    _: KW_ONLY
    nested_bits: Sequence[int] = ()
    training: NeighbourTraining | None = None
    n_iter: int = 30

    constraints: ClassVar = USUAL
    configs: ClassVar[Mapping[str, type[Config]]] = {"training": NeighbourTraining}
    uses_device = True
    _dead_bits = " on the training rows; a shorter code would say as much"
    #: Of fewer rows, none are held out: nothing would tell whether training gains.
    _fewest: ClassVar[int] = 100

    @property
    def _training(self) -> NeighbourTraining:
        settings = self._config("training", self.configs["training"])
        assert isinstance(settings, NeighbourTraining)
        return settings

    @abstractmethod
    def _frame(self, X: Readable) -> Frame:
        """Return the frame that turns features into rows."""

    @abstractmethod
    def _start(self, split: ValidationSplit, rng: RandomState) -> Map:
        """Return the map that training starts from, its scores of a variance of 1."""

    def _check_parameters(self) -> None:
        check_integers("nested_bits", self.nested_bits, self.n_bits)
        super()._check_parameters()

    def _learn(self, X: Array, y: Any) -> Encoder:
        rng = check_random_state(self.random_state)
        n_rows = self._training.n_rows
        if len(X) <= n_rows:
            numbers = rng.permutation(len(X))
        else:
            numbers = np.sort(rng.choice(len(X), n_rows, replace=False))
            numbers = numbers[rng.permutation(n_rows)]
        frame, split = self._split(X, numbers)
        # Drawn before the start, which differs between lengths and maps: the same seed
        # asks for the same neighbours whatever is trained on them.
        anchors = rng.permutation(len(split.rows))[: self._training.n_anchors]
        seeds = rng.randint(2**31 - 1, size=self.n_iter)
        draws = deepcopy(rng)
        training = Training(
            self._start(split, rng),
            split,
            # Plain integers: those of NumPy would make numbers float64.
            sorted({int(length) for length in (*self.nested_bits, self.n_bits)}),
            self.n_iter,
            self._training.learning_rate,
        )
        states = partial(self._states, training, anchors, seeds)
        start = training.state(copies=self.checkpoint is not None)
        training.restore(self._run(states, start, X))
        self.recalls_ = np.array(training.recalls if len(split.held_out) else [])
        trained = training.best(trusted=self._training.validation == 0)
        if training.undone and self._few(X, numbers):
            # No row has to be left out any more. By the same draws.
            frame, split = self._framed(X, numbers, 0, numbers)
            trained = self._start(split, draws)
        return self._encoder(trained, frame, split.rows, rng)

    def _encoder(
        self, trained: Map, frame: Frame, rows: Float32Array, rng: RandomState
    ) -> Encoder:
        return trained.encoder(frame)

    def _split(self, X: Array, numbers: IntArray) -> tuple[Frame, ValidationSplit]:
        """Hold out the first of these rows for validation, but none of too few."""
        # Axes of few rows hold what sets these apart, and later rows do not have: the
        # held-out ones take no part in them then, or they would look learnt, too.
        n, share = len(numbers), self._training.validation
        if not share or n < self._fewest:
            return self._framed(X, numbers, 0, numbers)
        least = min(_FEWEST_HELD_OUT, n // 4)
        n_held = min(max(int(share * n), least), _MOST_HELD_OUT)
        framed = numbers
        if self._few(X, numbers):
            learnt = X[numbers[n_held:]]
            if (learnt != learnt[0]).any():  # those that differ may all be held out
                framed = numbers[n_held:]
        return self._framed(X, numbers, n_held, framed)

    def _few(self, X: Array, numbers: IntArray) -> bool:
        return bool(len(numbers) < max(_FEW, _FEW_FOR_EACH * X.shape[1]))

    def _framed(
        self, X: Array, numbers: IntArray, n_held: int, framed: IntArray
    ) -> tuple[Frame, ValidationSplit]:
        every = len(framed) == len(X)
        frame = self._frame(X if every else ChosenRows(X, np.sort(framed)))
        V = frame.rows(X, numbers)
        return frame, ValidationSplit(V[n_held:], V[:n_held])

    def _states(
        self, training: Training, anchors: IntArray, seeds: IntArray, start: Arrays
    ) -> Iterator[tuple[Arrays, float]]:
        training.restore(start)
        split, settings = training.split, self._training
        graph = neighbour_graph(
            split.rows,
            split.rows_there,
            anchors,
            settings.n_neighbours,
            settings.perplexity,
        )
        for seed in seeds[len(training.recalls) - 1 :]:
            # Overflow is raised as an error, not as NumPy's warnings.
            with np.errstate(over="ignore", invalid="ignore"):
                loss = training.iterate(graph, RandomState(seed))
            if not np.isfinite(loss):
                raise DivergedError(
                    f"the loss is not finite in iteration {len(training.recalls) - 1}: "
                    f"lower training.learning_rate ({self._training.learning_rate:g})"
                )
            # A file must not hold half an iteration, where an interrupt came amid it.
            yield training.state(copies=self.checkpoint is not None), loss

    def _may_stop(self, objective: list[float]) -> bool:
        if len(objective) < 2 * _SPAN:
            return False
        # From one iteration to the next there is more noise than progress.
        halves = np.reshape(objective[-2 * _SPAN :], (2, _SPAN))
        return super()._may_stop(halves.mean(axis=1).tolist())


@dataclass(eq=False, repr=False)
class NeighbourCodes(NeighbourLearner):
    """Learn a map whose codes preserve the nearest neighbours of the vectors.

    Parameters
    ----------
    n_bits : int, default=64

    Attributes
    ----------
    encoder_ : LinearEncoder

    Notes
    -----
    A method of fewbits, not of a paper. What is minimised is the objective of
    stochastic neighbour embedding with codes in the place of points in the plane:
    ``sum_ij p_ij log(p_ij / q_ij)`` with ``p_ij`` proportional to ``exp(-beta_i |x_i -
    x_j|^2)`` and ``q_ij`` to ``exp(s h_i'h_j / b)``, the h being the signs of the
    scores. Gradients pass the signs straight through, with the derivative of tanh.
    Batches hold rows that are near each other; the start is ITQ. Before every ten
    batches, weights go .3 of a Newton-Schulz step towards a tight frame, in which all
    singular values are equal. A score of exactly 0 is encoded as 1.

    From 1,000 rows on, the map gets a second one for queries, trained to rank
    shortlists of 100 by their scores (`LinearEncoder.query_scores`), where that finds
    more neighbours of held-out rows.

    References
    ----------
    Hinton and Roweis, "Stochastic Neighbor Embedding", NIPS 2002.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.random.default_rng(0).normal(size=(200, 16))
    >>> NeighbourCodes(n_bits=8, n_iter=2, random_state=0).fit(X).encoder_
    LinearEncoder(16 -> 8 bits)
    """

    def _frame(self, X: Readable) -> Frame:
        return principal_frame(X)

    def _encoder(
        self, trained: Map, frame: Frame, rows: Float32Array, rng: RandomState
    ) -> Encoder:
        """Train the scores of queries, too."""
        assert isinstance(trained, LinearMap)
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
        seed = rng.randint(2**31 - 1)
        itq = InnerITQ(self.n_bits, n_iter=_START_ITERATIONS, random_state=seed)
        with interrupts_passed_on(), changed(progress=None):
            encoder = itq.fit(few).encoder_
        assert isinstance(encoder, LinearEncoder)
        spread = np.maximum(encoder.project(few).std(axis=0), LEAST_SPREAD)
        return LinearMap(encoder.weights / spread, encoder.bias / spread)

"""Base class of learners of neighbour-preserving codes."""

from abc import abstractmethod
from collections.abc import Iterator, Sequence
from copy import deepcopy
from functools import partial
from typing import Any, ClassVar

import numpy as np
from numpy.random import RandomState
from numpy.typing import NDArray
from sklearn.utils import check_random_state

from fewbits._typing import Array
from fewbits.encoders import Encoder
from fewbits.errors import DivergedError
from fewbits.learners._core._checkpoint import Arrays
from fewbits.learners._core._dead_bits import warn_constant_bits
from fewbits.learners._core._parameters import (
    check_integers,
    check_n_bits,
)
from fewbits.learners._core._resumable import ResumableLearner
from fewbits.learners._core._rows import ChosenRows, Readable
from fewbits.learners.neighbours._config import NeighbourTraining
from fewbits.learners.neighbours._frame import Frame
from fewbits.learners.neighbours._graph import neighbour_graph
from fewbits.learners.neighbours._maps import Map
from fewbits.learners.neighbours._training import Training
from fewbits.learners.neighbours._validation import ValidationSplit

Float32Array = NDArray[np.float32]
IntArray = NDArray[np.int64]

#: Held-out rows: more than their share where this is few, of very few a quarter.
_FEWEST_HELD_OUT, _MOST_HELD_OUT = 100, 20_000
#: Fewer rows, or fewer for each feature, have principal axes that fit them alone.
_FEW, _FEW_FOR_EACH = 1000, 3
_SPAN = 5  # iterations whose mean objective `tol` compares with that of those before
_DEAD = " on the training rows; a shorter code would say as much"


class NeighbourLearner(ResumableLearner):
    """A learner that trains a map on the neighbours of its rows.

    What it learns from are rows in a `Frame`; the map starts where `_start` says.
    """

    uses_device = True
    #: Of fewer rows, none are held out: nothing would tell whether training gains.
    _fewest: ClassVar[int] = 100

    n_bits: int
    nested_bits: Sequence[int]

    @property
    @abstractmethod
    def _training(self) -> NeighbourTraining:
        """Settings of the training."""

    @abstractmethod
    def _frame(self, X: Readable) -> Frame:
        """Return the frame that turns features into rows."""

    @abstractmethod
    def _start(self, split: ValidationSplit, rng: RandomState) -> Map:
        """Return the map that training starts from, its scores of a variance of 1."""

    def _check_parameters(self) -> None:
        check_n_bits(self.n_bits)
        check_integers("nested_bits", self.nested_bits, self.n_bits)
        self._check_configs()
        self._check_iterations()

    def _learn(self, X: Array, y: Any) -> Encoder:
        rng = check_random_state(self.random_state)
        numbers = self._drawn(X, rng)
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
            sorted({int(each) for each in (*self.nested_bits, self.n_bits)}),
            self.n_iter,
            self._training.learning_rate,
        )
        states = partial(self._states, training, anchors, seeds)
        training.restore(self._resume(states, self._state(training), X))
        self.recalls_ = np.array(training.recalls if len(split.held_out) else [])
        trained = training.best(trusted=self._training.validation == 0)
        if training.undone and self._few(X, numbers):
            # No row has to be left out any more. By the same draws.
            frame, split = self._framed(X, numbers, 0, numbers)
            trained = self._start(split, draws)
        encoder = self._encoder(trained, frame, split.rows, rng)
        # Of the encoder: what it computes from features is rounded otherwise.
        self.n_dead_bits_ = warn_constant_bits(encoder, X, _DEAD)
        return encoder

    def _encoder(
        self, trained: Map, frame: Frame, rows: Float32Array, rng: RandomState
    ) -> Encoder:
        """Return the encoder of features that training led to."""
        return trained.encoder(frame)

    def _drawn(self, X: Array, rng: RandomState) -> IntArray:
        """Return the numbers of the rows that take part, shuffled."""
        n_rows = self._training.n_rows
        if len(X) <= n_rows:
            return rng.permutation(len(X))
        drawn = np.sort(rng.choice(len(X), n_rows, replace=False))
        return drawn[rng.permutation(n_rows)]

    def _split(self, X: Array, numbers: IntArray) -> tuple[Frame, ValidationSplit]:
        """Hold out the first of these rows for validation, but none of too few.

        Axes of few rows hold what sets these apart, and later rows do not have: the
        held-out ones take no part in them then, or they would look learnt, too.
        """
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
        n_features: int = X.shape[1]
        return len(numbers) < max(_FEW, _FEW_FOR_EACH * n_features)

    def _framed(
        self, X: Array, numbers: IntArray, n_held: int, framed: IntArray
    ) -> tuple[Frame, ValidationSplit]:
        """Return the rows of these numbers, in the frame of some of them."""
        of = X if len(framed) == len(X) else ChosenRows(X, np.sort(framed))
        frame = self._frame(of)
        V = frame.rows(X, numbers)
        return frame, ValidationSplit(V[n_held:], V[:n_held])

    def _states(
        self,
        training: Training,
        anchors: IntArray,
        seeds: IntArray,
        start: Arrays,
    ) -> Iterator[tuple[Arrays, float]]:
        """Yield the states after the iterations that follow `start`.

        Each draws from its own seed, so that any can be the first.
        """
        training.restore(start)
        rows, there = training.split.rows, training.split.rows_there
        chosen = anchors, self._training.n_neighbours, self._training.perplexity
        graph = neighbour_graph(rows, *chosen, there=there)
        for seed in seeds[len(training.recalls) - 1 :]:
            # Overflow is raised as an error, not as NumPy's warnings.
            with np.errstate(over="ignore", invalid="ignore"):
                loss = training.iterate(graph, RandomState(seed))
            if not np.isfinite(loss):
                raise DivergedError(
                    f"the loss is not finite in iteration {len(training.recalls) - 1}: "
                    f"lower training.learning_rate ({self._training.learning_rate:g})"
                )
            yield self._state(training), loss

    def _state(self, training: Training) -> Arrays:
        # A file must not hold half an iteration, where an interrupt came amid it.
        return training.state(copies=self.checkpoint is not None)

    def _may_stop(self, objective: list[float]) -> bool:
        if len(objective) < 2 * _SPAN:
            return False
        # From one iteration to the next there is more noise than progress.
        halves = np.reshape(objective[-2 * _SPAN :], (2, _SPAN))
        return super()._may_stop(halves.mean(axis=1).tolist())

"""Base class of learners of neighbour-preserving codes."""

from abc import abstractmethod
from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any

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
from fewbits.learners.neighbours._training import (
    Training,
    ValidationSplit,
)

Float32Array = NDArray[np.float32]

_FEWEST_HELD_OUT, _MOST_HELD_OUT, _MOST_CHOOSING = 50, 20_000, 2000
_SPAN = 5  # iterations whose mean objective `tol` compares with that of those before
_DEAD = " on the training rows; a shorter code would say as much"


class NeighbourLearner(ResumableLearner):
    """A learner that trains a map on the neighbours of its rows.

    What it learns from are rows in a `Frame`; the map starts where `_start` says.
    """

    uses_device = True

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
        frame, V = self._rows(X, rng)
        split = self._split(V)
        # Drawn before the start, which differs between lengths and maps: the same seed
        # asks for the same neighbours whatever is trained on them.
        anchors = rng.permutation(len(split.rows))[: self._training.n_anchors]
        seeds = rng.randint(2**31 - 1, size=self.n_iter)
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
        encoder = self._encoder(training.best(), frame, split.rows, rng)
        # Of the encoder: what it computes from features is rounded otherwise.
        self.n_dead_bits_ = warn_constant_bits(encoder, X, _DEAD)
        return encoder

    def _encoder(
        self, trained: Map, frame: Frame, rows: Float32Array, rng: RandomState
    ) -> Encoder:
        """Return the encoder of features that training led to."""
        return trained.encoder(frame)

    def _split(self, V: Float32Array) -> ValidationSplit:
        """Hold out rows for validation; of few rows, validate on training rows."""
        share = self._training.validation
        n = min(_MOST_HELD_OUT, int(share * len(V)))
        if share and n < _FEWEST_HELD_OUT:
            return ValidationSplit(V, V[:_MOST_CHOOSING])
        return ValidationSplit(V[n:], V[:n])

    def _rows(self, X: Array, rng: RandomState) -> tuple[Frame, Float32Array]:
        """Return the rows that take part, shuffled, and the frame that they are in."""
        taking_part: Readable = X
        n_rows = self._training.n_rows
        if len(X) > n_rows:
            drawn = np.sort(rng.choice(len(X), n_rows, replace=False))
            taking_part = ChosenRows(X, drawn)
        frame = self._frame(taking_part)
        return frame, frame.rows(taking_part, rng.permutation(len(taking_part)))

    def _states(
        self,
        training: Training,
        anchors: NDArray[np.int64],
        seeds: NDArray[np.int64],
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

"""What learners of codes that keep neighbours have in common: how they train."""

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
from fewbits.learners._checkpoint import Arrays
from fewbits.learners._parameters import (
    check_integer,
    check_integers,
    check_n_bits,
    check_number,
)
from fewbits.learners._resumable import ResumableLearner
from fewbits.learners.neighbours._frame import Frame
from fewbits.learners.neighbours._graph import neighbour_graph
from fewbits.learners.neighbours._maps import Map
from fewbits.learners.neighbours._training import Training, ValidationSplit

Float32Array = NDArray[np.float32]

_MOST_ASIDE = 500


class NeighbourLearner(ResumableLearner):
    """A learner that trains a map on the neighbours of its rows.

    What it learns from are rows in a `Frame`; the map starts where `_start` says.
    """

    n_bits: int
    lengths: Sequence[int]
    perplexity: float
    n_neighbours: int
    n_anchors: int
    n_rows: int
    learning_rate: float
    validation: float

    @abstractmethod
    def _frame(self, X: Array) -> Frame:
        """Return how features become rows."""

    @abstractmethod
    def _start(self, V: Float32Array, rng: RandomState) -> Map:
        """Return the map that training starts from, its scores of a variance of 1."""

    def _check_parameters(self) -> None:
        check_n_bits(self.n_bits)
        check_integers("lengths", self.lengths, self.n_bits)
        check_number("perplexity", self.perplexity, 1, above=True)
        check_integer("n_neighbours", self.n_neighbours, 1)
        check_integer("n_anchors", self.n_anchors, 1)
        check_integer("n_rows", self.n_rows, 2)
        check_number("learning_rate", self.learning_rate, 0, above=True)
        check_number("validation", self.validation, 0, 0.5)
        self._check_iterations()

    def _learn(self, X: Array, y: Any) -> Encoder:
        rng = check_random_state(self.random_state)
        some = X
        if len(X) > self.n_rows:
            some = X[np.sort(rng.choice(len(X), self.n_rows, replace=False))]
        frame = self._frame(some)
        order = rng.permutation(len(some))
        n_aside = min(_MOST_ASIDE, int(self.validation * len(some)), len(some) - 2)
        V = frame.rows(some, order)
        split = ValidationSplit(V[n_aside:], V[:n_aside])
        # Drawn before the start, which differs between lengths and maps: the same seed
        # asks for the same neighbours whatever is trained on them.
        anchors = rng.permutation(len(split.rows))[: self.n_anchors]
        seeds = rng.randint(2**31 - 1, size=self.n_iter)
        training = Training(
            self._start(split.rows, rng),
            split,
            sorted({*self.lengths, self.n_bits}),
            self.n_iter,
            self.learning_rate,
        )
        states = partial(self._states, training, anchors, seeds)
        training.restore(self._resume(states, training.state(), X))
        self.recalls_ = np.array(training.recalls if n_aside else [])
        found = training.best() if self.validation else training.latest()
        return found.encoder(frame)

    def _states(
        self,
        training: Training,
        anchors: NDArray[np.int64],
        seeds: NDArray[np.int64],
        start: Arrays,
    ) -> Iterator[tuple[Arrays, float]]:
        """Yield what the iterations after `start` reach.

        Each draws from its own seed, so that any can be the first.
        """
        training.restore(start)
        V = training.split.rows
        graph = neighbour_graph(V, anchors, self.n_neighbours, self.perplexity)
        for seed in seeds[len(training.recalls) - 1 :]:
            loss = training.iterate(graph, RandomState(seed))
            yield training.state(), loss

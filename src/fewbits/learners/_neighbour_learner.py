"""What learners of codes that keep neighbours have in common: how they train."""

from abc import abstractmethod
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.random import RandomState
from numpy.typing import NDArray
from sklearn.utils import check_random_state

from fewbits._typing import Array
from fewbits.codes import pack
from fewbits.encoders import Encoder
from fewbits.evaluation import exact_neighbours, neighbour_recall
from fewbits.learners._adam import Adam
from fewbits.learners._iterative import IterativeLearner
from fewbits.learners._neighbour_frame import Frame
from fewbits.learners._neighbour_graph import Batch, neighbour_graph
from fewbits.learners._neighbour_loss import divergence, neighbour_shares
from fewbits.learners._neighbour_maps import Map
from fewbits.learners._parameters import check_integer, check_n_bits, check_number

Float32Array = NDArray[np.float32]

_BATCHES = 50
#: Of a batch: anchors, near neighbours of each, rows from anywhere.
_ANCHORS, _NEAR, _FAR = 8, 40, 40
_SCALE_PER_BIT = 0.25
_MOST_ASIDE, _RECALL_AT = 500, 10


class NeighbourLearner(IterativeLearner):
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
    random_state: Any

    @abstractmethod
    def _frame(self, X: Array) -> Frame:
        """Return how features become rows."""

    @abstractmethod
    def _start(self, V: Float32Array, rng: RandomState) -> Map:
        """Return the map that training starts from, its scores of a variance of 1."""

    def _check_parameters(self) -> None:
        check_n_bits(self.n_bits)
        for length in self.lengths:
            check_integer("a length", length, 1, self.n_bits)
        check_number("perplexity", self.perplexity, 1, above=True)
        check_integer("n_neighbours", self.n_neighbours, 1)
        check_integer("n_anchors", self.n_anchors, 1)
        check_integer("n_rows", self.n_rows, 2)
        check_number("learning_rate", self.learning_rate, 0, above=True)
        check_number("validation", self.validation, 0, 0.5)
        self._check_iterations()

    def _learn(self, X: Array, y: Any) -> Encoder:
        rng = check_random_state(self.random_state)
        if len(X) > self.n_rows:
            X = X[np.sort(rng.choice(len(X), self.n_rows, replace=False))]
        frame = self._frame(X)
        V = frame.rows(X)
        order = rng.permutation(len(V))
        n_aside = min(_MOST_ASIDE, int(self.validation * len(V)))
        states = self._states(V[order[n_aside:]], V[order[:n_aside]], rng)
        first = next(states)[0]
        found = self._run(states, start=first)
        if self.validation:
            found.restore(self._best)
        del self._best
        return found.encoder(frame)

    def _states(
        self, V: Float32Array, aside: Float32Array, rng: RandomState
    ) -> Iterator[tuple[Map, float]]:
        """Yield the start, and the map after each iteration, with its objective."""
        lengths = sorted({*self.lengths, self.n_bits})
        log_scale = np.log(_SCALE_PER_BIT * np.array(lengths, np.float32))
        found, watch = self._start(V, rng), _Watch(V, aside)
        recalls = [watch.recall(found)]
        best, self._best = recalls[0] if found.ready else -1.0, found.kept()
        yield found, np.inf
        anchors = rng.permutation(len(V))[: self.n_anchors]
        graph = neighbour_graph(V, anchors, self.n_neighbours, self.perplexity)
        parameters = [*found.parameters, log_scale]
        adam = Adam(parameters, self.n_iter * _BATCHES, self.learning_rate)
        while True:
            found.prepare(len(recalls) / self.n_iter)
            losses = []
            for _ in range(_BATCHES):
                batch = graph.draw(_ANCHORS, _NEAR, _FAR, rng)
                losses.append(step(found, V, batch, lengths, log_scale, adam))
            recalls.append(watch.recall(found))
            self.recalls_ = np.array(recalls if len(aside) else [])
            if found.ready and recalls[-1] >= best:
                best, self._best = recalls[-1], found.kept()
            yield found, float(np.mean(losses))


class _Watch:
    """Rows kept aside, and which of the others are their nearest."""

    def __init__(self, V: Float32Array, aside: Float32Array) -> None:
        self.V, self.aside = V, aside
        k = min(_RECALL_AT, len(V))
        self.nearest = exact_neighbours(aside, V, k).ids if len(aside) else None

    def recall(self, found: Map) -> float:
        """Return the share of them that codes find; 0 when nothing is kept aside."""
        if self.nearest is None:
            return 0.0
        queries, items = (
            pack(found.scores(rows) >= 0) for rows in (self.aside, self.V)
        )
        k = self.nearest.shape[1]
        return float(neighbour_recall(queries, items, self.nearest, k).value)


def step(
    found: Map,
    V: Float32Array,
    batch: Batch,
    lengths: Sequence[int],
    log_scale: Float32Array,
    adam: Adam,
) -> float:
    """Make a step on a batch, and return its loss."""
    rows = V[batch.rows]
    scores = found.scores(rows)
    bits = np.where(scores >= 0, np.float32(1), np.float32(-1))
    shares = neighbour_shares(rows, batch)
    loss = divergence(bits, shares, batch.anchors, lengths, log_scale)
    slopes = loss.bits * (1 - np.tanh(scores) ** 2)  # as if bits were tanh(scores)
    adam.step([*found.gradients(rows, slopes), loss.log_scale])
    found.settle()
    return loss.value

"""Training of a map on the neighbours of its rows, iteration by iteration."""

from collections.abc import Sequence

import numpy as np
from numpy.random import RandomState

from fewbits.learners._core._checkpoint import Arrays
from fewbits.learners._core._device import Matrix, current_backend, namespace
from fewbits.learners._core._threads import threads_for
from fewbits.learners._linalg._adam import Adam
from fewbits.learners.neighbours._graph import Batch, NeighbourGraph
from fewbits.learners.neighbours._loss import divergence, neighbour_probabilities
from fewbits.learners.neighbours._maps import Map
from fewbits.learners.neighbours._validation import ValidationSplit, gained

#: Of an iteration, where codes are long: shorter ones gain from twice as many.
_BATCHES, _LONG = 50, 129
_PREPARED = 10  # batches between what is done to the map
#: Of a batch: anchors, near neighbours of each, rows from anywhere.
_ANCHORS, _NEAR, _FAR = 8, 40, 40
#: Of agreements, at first; whatever the length, it ends at 10 to 30. When it started at
#: a quarter for each bit, one near row had all of the probability where codes are long.
_SCALE = 16.0


class Training:
    """A map in training, and all else that its next iteration depends on.

    Parameters
    ----------
    map : Map
        Changed in place.
    split : ValidationSplit
    lengths : sequence of int
        Of the prefixes that must preserve neighbours, rising; the last is all bits.
    n_iter : int
        Iterations that are planned.
    rate : float
        Of the first step; it falls to 0 along half a cosine.

    Attributes
    ----------
    recalls : list of float
        Of the held-out rows, at the start and after each iteration: means over the
        lengths, else a nested code would be judged as if it were never cut.
    undone : bool
        Whether `best` went back to the start.
    """

    def __init__(
        self,
        map: Map,
        split: ValidationSplit,
        lengths: Sequence[int],
        n_iter: int,
        rate: float,
    ) -> None:
        self.map, self.split, self.lengths = map, split, lengths
        self.n_iter, self.rate = n_iter, rate
        self._n_batches = _BATCHES if lengths[-1] >= _LONG else 2 * _BATCHES
        scales = np.full(len(lengths), np.log(_SCALE), np.float32)
        self._log_scale = current_backend().put(scales)
        self._adam = Adam([*map.parameters, self._log_scale])
        self._start = map.kept() if map.ready else None
        self._last = map.kept()
        self.recalls, self.undone = [split.recall(map, lengths)], False

    def iterate(self, graph: NeighbourGraph, rng: RandomState) -> float:
        """Train for an iteration, and return its mean loss."""
        n_rows = _ANCHORS * (1 + _NEAR) + _FAR
        losses = []
        with threads_for(n_rows, self.split.rows.shape[1], self.lengths[-1]):
            for i in range(self._n_batches):
                if i % _PREPARED == 0:
                    self.map.prepare(len(self.recalls) / self.n_iter)
                losses.append(self._step(graph.draw(_ANCHORS, _NEAR, _FAR, rng)))
        self.recalls.append(self.split.recall(self.map, self.lengths))
        for kept, own in zip(self._last, self.map.arrays, strict=True):
            kept[...] = own
        return float(np.mean(losses))

    def _step(self, batch: Batch) -> float:
        batch = Batch(*map(current_backend().put, batch))
        rows = self.split.rows_there[batch.rows]
        scores = self.map.scores(rows)
        bits = current_backend().signs(scores)
        targets = neighbour_probabilities(rows, batch)
        loss = divergence(bits, targets, batch.anchors, self.lengths, self._log_scale)
        # As if bits were hyperbolic tangents.
        by_scores = loss.grad_bits * (1 - namespace(scores).tanh(scores) ** 2)
        way = self._adam.n_steps / (self.n_iter * self._n_batches)
        rate = self.rate * (1 + np.cos(np.pi * way)) / 2
        gradients = [*self.map.gradients(rows, by_scores), loss.grad_log_scale]
        self._adam.step(gradients, float(rate))
        self.map.settle()
        return loss.value

    def best(self, *, trusted: bool = False) -> Map:
        """Return the map after the last iteration, or the start if that is better.

        Steps get smaller until the end: an iteration amid them that finds more does so
        by chance. Where no rows are held out, the end counts as better if `trusted`.
        """
        known = self.split.nearest is not None
        if self._start and not (self._pays(self._start) if known else trusted):
            self.undone = True
            self.map.restore(self._start)
        else:
            self.map.restore(self._last)
        if not self.map.ready:  # training ended before
            self.map.prepare(1.0)
            self.map.settle()
        return self.map

    def _pays(self, start: list[Matrix]) -> bool:
        """Return whether held-out rows speak for what was trained.

        It must find no less of them, beyond the error. What few rows teach is mostly
        lost on others: it must be shown to find more, too.
        """
        lost = self.recalls[0] - self.recalls[-1]
        if lost > self.split.error(self.recalls[0]):
            return False
        if not self.split.few:
            return True
        found = []
        for kept in (start, self._last):
            self.map.restore(kept)
            found.append(self.split.found(self.map, self.lengths))
        return gained(*found)

    def state(self, *, copies: bool = True) -> Arrays:
        """Return all that changes; what is not a copy goes on changing."""
        arrays = self._arrays()
        if copies:
            arrays = [np.array(current_backend().get(each)) for each in arrays]
        return (*arrays, np.array(self.recalls))

    def restore(self, state: Arrays) -> None:
        """Go on from there."""
        *arrays, recalls = state
        for own, kept in zip(self._arrays(), arrays, strict=True):
            own[...] = (
                current_backend().put(kept) if isinstance(kept, np.ndarray) else kept
            )
        self.recalls = recalls.tolist()
        self._adam.n_steps = self._n_batches * (len(self.recalls) - 1)

    def _arrays(self) -> list[Matrix]:
        moments = [*self._adam.means, *self._adam.squares]
        return [*self.map.arrays, self._log_scale, *moments, *self._last]

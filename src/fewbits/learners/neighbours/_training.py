"""Training of a map on the neighbours of its rows, iteration by iteration."""

from collections.abc import Sequence

import numpy as np
from numpy.random import RandomState
from numpy.typing import NDArray

from fewbits._typing import CodeArray, IdArray
from fewbits.codes import hamming_topk, pack, prefix
from fewbits.evaluation import exact_neighbours, search_recall
from fewbits.learners._core._checkpoint import Arrays
from fewbits.learners._core._device import Matrix, current_backend, namespace
from fewbits.learners._core._rows import parts
from fewbits.learners._core._threads import threads_for
from fewbits.learners._linalg._adam import Adam
from fewbits.learners.neighbours._graph import Batch, NeighbourGraph
from fewbits.learners.neighbours._loss import divergence, neighbour_probabilities
from fewbits.learners.neighbours._maps import Map

Float32Array = NDArray[np.float32]

#: Of an iteration, where codes are long: shorter ones gain from twice as many.
_BATCHES, _LONG = 50, 129
_PREPARED = 10  # batches between what is done to the map
#: Of a batch: anchors, near neighbours of each, rows from anywhere.
_ANCHORS, _NEAR, _FAR = 8, 40, 40
#: Of agreements, at first; whatever the length, it ends at 10 to 30. When it started at
#: a quarter for each bit, one near row had all of the probability where codes are long.
_SCALE = 16.0
_RECALL_AT = 10
_MOST_QUERIES, _COMPARISONS = 5000, 4000  # of the held-out rows


class ValidationSplit:
    """Training rows, and held-out rows that are searched among themselves.

    A later search ranks rows that were not learnt from for queries that were not
    either: rows that were would be found too easily. Held-out rows are fewer than those
    that are searched later, and the tenth nearest of few is farther away than codes
    have to see: only as many count as 4,000 comparisons need, ten at most, and no more
    than a twentieth of the rows.

    Parameters
    ----------
    rows : ndarray of shape (n, n_inputs)
        Shuffled.
    held_out : ndarray of shape (m, n_inputs)
        There may be none; of few rows, they are among those that are learnt from.

    Attributes
    ----------
    rows_there : ndarray or Tensor
        The same where they are computed with.
    nearest : ndarray of shape (n_queries, k) or None
        The nearest held-out rows of the first ones.
    """

    def __init__(self, rows: Float32Array, held_out: Float32Array) -> None:
        self.rows, self.held_out = rows, held_out
        self.rows_there = current_backend().put(rows)
        self.nearest: IdArray | None = None
        if len(held_out) > 1:
            asked = held_out[:_MOST_QUERIES]
            wanted, most = -(-_COMPARISONS // len(asked)), len(held_out) // 20
            k = min(_RECALL_AT, wanted, max(1, most))
            found = exact_neighbours(asked, held_out, k + 1)
            self.nearest = without_itself(found.ids)
            self._held_out_there = current_backend().put(held_out)

    def recall(self, map: Map, lengths: Sequence[int]) -> float:
        """Return the share of them that codes find, a mean over the lengths.

        It is 0 when nothing is held out. Ties are broken by place, which is a chance,
        as rows are shuffled: their expectation takes ten times as long.
        """
        if self.nearest is None:
            return 0.0
        whole, found = codes_of(map, self._held_out_there), []
        n, k = self.nearest.shape
        for length in lengths:
            codes = prefix(whole, length)
            first = without_itself(hamming_topk(codes[:n], codes, k + 1).ids)
            found.append(search_recall(first, self.nearest).value)
        return float(np.mean(found))

    def error(self, recall: float) -> float:
        """Return the standard error of a recall."""
        n = 1 if self.nearest is None else self.nearest.size
        return float(np.sqrt(recall * (1 - recall) / n))


def without_itself(ids: IdArray) -> IdArray:
    """Return lines without their own numbers, or the last, where these are not there.

    They are not where more rows than are asked for are the same.
    """
    own = ids == np.arange(len(ids))[:, None]
    own[:, -1] |= ~own.any(axis=1)
    found: IdArray = ids[~own].reshape(len(ids), -1)
    return found


def codes_of(map: Map, rows: Matrix) -> CodeArray:
    """Return the codes of rows, some at a time: their scores may be many."""
    n_bits = map.scores(rows[:1]).shape[1]
    some = parts(len(rows), max(n_bits, rows.shape[1]))
    scores = (map.scores(rows[each]) for each in some)
    return np.concatenate([pack(current_backend().get(each >= 0)) for each in scores])


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
        self.recalls = [split.recall(map, lengths)]

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

    def best(self) -> Map:
        """Return the map after the last iteration, or the start if that finds more.

        That is more than the error of what few rows find. Steps get smaller until the
        end: an iteration amid them that finds more does so by chance.
        """
        lost = self.recalls[0] - self.recalls[-1]
        if self._start and lost > self.split.error(self.recalls[0]):
            self.map.restore(self._start)
        else:
            self.map.restore(self._last)
        if not self.map.ready:  # training ended before
            self.map.prepare(1.0)
            self.map.settle()
        return self.map

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

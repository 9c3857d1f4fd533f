"""Maps with hand-written gradients, and their training on neighbours of rows."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.random import RandomState
from numpy.typing import NDArray

from fewbits._typing import FeatureArray, IdArray
from fewbits.codes import hamming_topk, pack, prefix
from fewbits.encoders import Encoder, LinearEncoder
from fewbits.errors import FeatureError
from fewbits.evaluation import exact_neighbours, search_recall
from fewbits.learners._core._device import (
    Matrix,
    current_backend,
    namespace,
    threads_for,
)
from fewbits.learners._core._iterative import Arrays, cached_step
from fewbits.learners._core._rows import (
    SAME_ROWS,
    Readable,
    Rows,
    checksum,
    column_means,
    parts,
)
from fewbits.learners._linalg._adam import Adam
from fewbits.learners._linalg._orthogonal import principal_axes

Float32Array = NDArray[np.float32]
Float64Array = NDArray[np.float64]

LEAST_SPREAD = 1e-6  # of what rows are scaled by that have a mean square of 1
#: Beyond the numbers of float32 that have all of their digits.
LEAST = float(np.finfo(np.float32).tiny)


class Frame(NamedTuple):
    """Rows are ``scale * (X - mean) @ axes``."""

    mean: NDArray[np.float64]
    scale: float  # gives the rows a mean square of 1
    axes: FeatureArray | None = None  # None for the features themselves

    def rows(self, X: Readable, order: NDArray[np.intp]) -> Float32Array:
        rows = Rows(X, self.mean, self.axes, np.float32, keep=False)
        gathered, start = np.empty((len(order), rows.shape[1]), np.float32), 0
        for block in rows.blocks_of(order):
            np.multiply(block, self.scale, gathered[start : start + len(block)])
            start += len(block)
        return gathered


def principal_frame(X: Readable) -> Frame:
    """Return rows along the principal axes, where equal steps change scores alike."""
    axes = principal_axes(X)
    return Frame(axes.mean, _unit(len(X), float(axes.scatter.sum())), axes.directions)


def plain_frame(X: Readable) -> Frame:
    mean = column_means(X)
    blocks = Rows(X, mean, keep=False)
    return Frame(mean, _unit(len(X), sum(float(np.vdot(b, b)) for b in blocks)))


def _unit(n: int, scatter: float) -> float:
    if not scatter > 0:
        raise FeatureError(SAME_ROWS)
    scale = float(np.sqrt(n / scatter))
    if not LEAST <= scale <= 1 / LEAST:
        size = "small" if scale > 1 else "large"
        raise FeatureError(f"the features of X are too {size} for float32: scale them")
    return scale


class Map(ABC):
    parameters: list[Matrix]  # changed in place by training

    @abstractmethod
    def prepare(self) -> None:
        """Regularise the parameters, before some batches."""

    @abstractmethod
    def scores(self, V: Matrix) -> Matrix:
        """Return the scores of rows."""

    @abstractmethod
    def gradients(self, V: Matrix, by_scores: Matrix) -> list[Matrix]:
        """Return the gradients by the parameters, given those by the scores of rows."""

    @abstractmethod
    def encoder(self, frame: Frame) -> Encoder:
        """Return the map of features."""

    def copies(self) -> list[Matrix]:
        return [namespace(each).asarray(each, copy=True) for each in self.parameters]

    def restore(self, copies: list[Matrix]) -> None:
        for parameter, copy in zip(self.parameters, copies, strict=True):
            parameter[...] = copy


_TIGHTNESS = 0.3  # share of a Newton-Schulz step towards a tight frame


class LinearMap(Map):
    def __init__(self, weights: Float32Array, bias: Float32Array) -> None:
        put = current_backend().put
        self.weights, self.bias = self.parameters = [put(weights), put(bias)]

    def scores(self, V: Matrix) -> Matrix:
        return V @ self.weights + self.bias

    def gradients(self, V: Matrix, by_scores: Matrix) -> list[Matrix]:
        return [V.T @ by_scores, by_scores.sum(axis=0)]

    def prepare(self) -> None:
        """Go towards a tight frame, whose singular values are all alike, as in ITQ."""
        # One step of Newton and Schulz's: a value s goes by ``s (1 - s^2 / m) / 2``,
        # where m is the mean of the squares. That preserves the distances of all rows,
        # and with them what is gained for rows that come later and for re-ranking.
        W, n = self.weights, min(self.weights.shape)
        squares = namespace(W).dot(W.ravel(), W.ravel())
        size = max(float(squares) / n, LEAST)
        small = W.T @ W if W.shape[1] == n else W @ W.T
        small *= -0.5 / size
        small.ravel()[:: n + 1] += 0.5
        W += _TIGHTNESS * (W @ small if W.shape[1] == n else small @ W)

    def of_features(self, frame: Frame) -> tuple[Float64Array, Float64Array]:
        W = current_backend().get(self.weights).astype(np.float64)
        W = (W if frame.axes is None else frame.axes @ W) * frame.scale
        return W, current_backend().get(self.bias) - frame.mean @ W

    def encoder(self, frame: Frame, queries: LinearMap | None = None) -> Encoder:
        options = {}
        if queries is not None:
            names = "query_weights", "query_bias"
            options = dict(zip(names, queries.of_features(frame), strict=True))
        return LinearEncoder(*self.of_features(frame), **options, zero_bit=1)


IntArray = NDArray[np.int64]

#: Of an iteration, where codes are long: shorter ones gain from twice as many.
_BATCHES, _LONG = 50, 129
_PREPARED = 10  # batches between what is done to the map
#: Of a batch: anchors, near neighbours of each, rows from anywhere.
_ANCHORS, _NEAR, _FAR = 8, 40, 40
#: Of agreements, at first; whatever the length, it ends at 10 to 30. When it started at
#: a quarter for each bit, one near row had all of the probability where codes are long.
_SCALE = 16.0


class Training:
    """A map in training, and all else that its next iteration depends on."""

    # `lengths` are those of the prefixes that must preserve neighbours, rising; the
    # last is all bits. The `rate` of the first step falls to 0 along half a cosine.

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
        self._start, self._last = map.copies(), map.copies()
        # Of the held-out rows, at the start and after each iteration: means over the
        # lengths, else a nested code would be judged as if it were never cut.
        self.recalls = [split.recall(map, lengths)]
        self.undone = False  # whether `best` went back to the start

    def iterate(self, graph: NeighbourGraph, rng: RandomState) -> float:
        n_rows = _ANCHORS * (1 + _NEAR) + _FAR
        losses = []
        with threads_for(n_rows, self.split.rows.shape[1], self.lengths[-1]):
            for i in range(self._n_batches):
                if i % _PREPARED == 0:
                    self.map.prepare()
                losses.append(self._step(graph.draw(_ANCHORS, _NEAR, _FAR, rng)))
        self.recalls.append(self.split.recall(self.map, self.lengths))
        for copy, parameter in zip(self._last, self.map.parameters, strict=True):
            copy[...] = parameter
        return float(np.mean(losses))

    def _step(self, batch: Batch) -> float:
        batch = Batch(*map(current_backend().put, batch))
        rows = self.split.rows_there[batch.rows]
        scores = self.map.scores(rows)
        bits = current_backend().signs(scores)
        targets = neighbour_probabilities(rows, batch)
        value, by_bits, by_log_scale = divergence(
            bits, targets, batch.anchors, self.lengths, self._log_scale
        )
        # As if bits were hyperbolic tangents.
        by_scores = by_bits * (1 - namespace(scores).tanh(scores) ** 2)
        way = self._adam.n_steps / (self.n_iter * self._n_batches)
        rate = self.rate * (1 + np.cos(np.pi * way)) / 2
        gradients = [*self.map.gradients(rows, by_scores), by_log_scale]
        self._adam.step(gradients, float(rate))
        return value

    def best(self, *, trusted: bool = False) -> Map:
        """Return the map after the last iteration, or the start if that is better."""
        # Steps get smaller until the end: an iteration amid them that finds more does
        # so by chance. Where no rows are held out, the end counts as better if
        # `trusted`.
        if self.split.nearest is not None:
            trusted = self._pays()
        self.undone = not trusted
        self.map.restore(self._last if trusted else self._start)
        return self.map

    def _pays(self) -> bool:
        """Return whether held-out rows speak for what was trained."""
        # It must find no less of them, beyond the error. What few rows teach is mostly
        # lost on others: it must be shown to find more, too.
        before, after = self.recalls[0], self.recalls[-1]
        assert self.split.nearest is not None
        error = np.sqrt(before * (1 - before) / self.split.nearest.size)
        if before - after > error:
            return False
        if len(self.split.held_out) >= _MANY:
            return True
        recalls = []
        for copies in (self._start, self._last):
            self.map.restore(copies)
            recalls.append(self.split.recall_of_few(self.map, self.lengths))
        by_codes, by_scores = recalls[1] - recalls[0]
        error = by_codes.std() / np.sqrt(len(by_codes))
        return bool(by_codes.mean() > error and by_scores.mean() >= 0)

    def state(self, *, copies: bool = True) -> Arrays:
        """Return all that changes; what is not a copy goes on changing."""
        arrays = self._arrays()
        if copies:
            arrays = [np.array(current_backend().get(array)) for array in arrays]
        return (*arrays, np.array(self.recalls))

    def restore(self, state: Arrays) -> None:
        *arrays, recalls = state
        put = current_backend().put
        for own, array in zip(self._arrays(), arrays, strict=True):
            own[...] = put(array) if isinstance(array, np.ndarray) else array
        self.recalls = recalls.tolist()
        self._adam.n_steps = self._n_batches * (len(self.recalls) - 1)

    def _arrays(self) -> list[Matrix]:
        moments = [*self._adam.means, *self._adam.squares]
        return [*self.map.parameters, self._log_scale, *moments, *self._last]


_HALVINGS = 30  # of factors from 1e-6 to 1e6, to the precision of float32
_BLOCK = 1 << 24  # distances that are computed at a time
_GROUP = 32  # numbers of which the least bounds the smallest ones


class Batch(NamedTuple):
    """Rows whose distances to each other are compared."""

    rows: Matrix  # (m,), each once
    anchors: Matrix  # (a,), the places in `rows` whose neighbours are to be kept
    precision: Matrix  # (a,), of each anchor, for `neighbour_probabilities`


@dataclass(frozen=True, eq=False)
class NeighbourGraph:
    n_rows: int
    anchors: IntArray  # (n_anchors,), the rows whose neighbours are known
    ids: IntArray  # (n_anchors, k), nearest first, themselves left out
    #: How steeply the share of a neighbour falls with its squared distance.
    precision: Float32Array

    def draw(
        self, n_anchors: int, n_near: int, n_far: int, rng: np.random.RandomState
    ) -> Batch:
        """Draw anchors, near neighbours of each, and rows from anywhere."""
        # The nearest quarter of the neighbours is taken whole, of the others the nearer
        # ones more often. All but the rows from anywhere count as anchors: the
        # neighbours of a row are near each other. They borrow the precision of the row
        # that brought them.
        drawn = rng.randint(len(self.anchors), size=n_anchors)
        k = self.ids.shape[1]
        first = np.arange(min(k, n_near // 4))
        others = rng.random_sample((n_anchors, max(0, n_near - len(first)))) ** 2
        later = len(first) + (others * (k - len(first))).astype(np.int64)
        if k == len(first):
            later = later[:, :0]
        whole = np.broadcast_to(first, (n_anchors, len(first)))
        places = np.concatenate([whole, later], axis=1)
        near = np.take_along_axis(self.ids[drawn], places, axis=1)
        far = rng.randint(self.n_rows, size=n_far)
        own = self.precision[drawn]
        rows, first = np.unique(
            np.concatenate([self.anchors[drawn], near.ravel(), far]), return_index=True
        )
        precision = np.concatenate([own, own.repeat(near.shape[1])])
        anchors = np.flatnonzero(first < len(precision))
        return Batch(rows, anchors, precision[first[anchors]])


def neighbour_graph(
    X: Float32Array,
    V: Matrix,
    anchors: IntArray,
    n_neighbours: int,
    perplexity: float,
) -> NeighbourGraph:
    """Find the nearest rows of the anchors among all rows, which are V on a device."""
    backend, k = current_backend(), min(n_neighbours, len(X) - 1)

    def searched() -> NeighbourGraph:
        xp = namespace(V)
        squares = xp.einsum("ij,ij->i", V, V)
        ids = np.empty((len(anchors), k), np.int64)
        precision = np.empty(len(anchors), np.float32)
        step = min(len(anchors), max(16, _BLOCK // len(V)))
        products = xp.empty((step, len(V)), dtype=V.dtype, device=V.device)
        for start in range(0, len(anchors), step):
            rows = backend.put(anchors[start : start + step])
            # Up to |a|^2, which is the same for all distances of an anchor.
            distances = xp.matmul(-2 * V[rows], V.T, out=products[: len(rows)])
            distances += squares
            distances[xp.arange(len(rows), device=V.device), rows] = np.inf
            span = slice(start, start + len(rows))
            ids[span], nearest = map(backend.get, smallest(distances, k))
            precision[span] = precisions(nearest, perplexity)
        return NeighbourGraph(len(V), anchors, ids, precision)

    return cached_step(
        ("neighbours", X[:1].tobytes()),  # of the features, or along their axes
        lambda: (checksum(X), anchors.tobytes(), k, perplexity, backend.name),
        searched,
    )


def smallest(distances: Matrix, k: int) -> tuple[Matrix, Matrix]:
    """Return the places of the `k` smallest numbers of each row, and those, rising."""
    # The k-th smallest of the least numbers of groups is a bound that few others are
    # below: finding it and them takes less time than a partition of all.
    if not isinstance(distances, np.ndarray):
        values, ids = distances.topk(k, largest=False)
        return ids, values
    n_rows, n = distances.shape
    size = max(1, min(_GROUP, n // (4 * k)))
    groups = distances[:, : n // size * size].reshape(n_rows, size, -1)
    bounds = np.partition(groups.min(axis=1), k - 1, axis=1)[:, k - 1]
    ids = np.empty((n_rows, k), np.int64)
    values = np.empty((n_rows, k), np.float32)
    for i, row in enumerate(distances):
        few = np.flatnonzero(row <= bounds[i])
        order = np.argsort(row[few], kind="stable")[:k]
        ids[i] = few[order]
        values[i] = row[ids[i]]
    return ids, values


def precisions(squared: Float32Array, perplexity: float) -> Float32Array:
    """Return the precision at which rows of distances have this perplexity."""
    beyond = (squared - squared[:, :1]).astype(np.float64)
    mean = beyond.mean(axis=1)
    scale = np.where(mean > 0, mean, 1.0)
    beyond /= scale[:, None]
    low, high = np.full(len(beyond), 1e-6), np.full(len(beyond), 1e6)
    target = np.log(min(perplexity, 0.9 * squared.shape[1]))
    for _ in range(_HALVINGS):
        middle = np.sqrt(low * high)
        shares = np.exp(-beyond * middle[:, None])
        shares /= shares.sum(axis=1, keepdims=True)
        entropy = -np.sum(shares * np.log(shares + 1e-30), axis=1)
        flat = entropy > target
        low, high = np.where(flat, middle, low), np.where(flat, high, middle)
    return np.asarray(np.sqrt(low * high) / scale, np.float32)


def neighbour_probabilities(X: Matrix, batch: Batch) -> Matrix:
    """Return the probability of each row of the batch as a neighbour of each anchor."""
    squares = namespace(X).einsum("ij,ij->i", X, X)
    products = X[batch.anchors] @ X.T
    distances = (squares[batch.anchors, None] + squares - 2 * products).clip(min=0)
    return _softmax(-batch.precision[:, None] * distances, batch.anchors)[0]


def divergence(
    bits: Matrix,
    targets: Matrix,
    anchors: Matrix,
    lengths: Sequence[int],
    log_scale: Matrix,
) -> tuple[float, Matrix, Matrix]:
    """Return the cross-entropy of probabilities by vectors with those by codes."""
    # With the gradients by the bits (m, n_bits), as -1 and 1, and by the logarithms of
    # the scales (n_lengths,).
    xp, mine = namespace(bits), bits[anchors]
    grad_bits, grad_log_scale = xp.zeros_like(bits), xp.zeros_like(log_scale)
    agreement, start, value = xp.zeros_like(targets), 0, 0.0
    weight = 1 / (len(anchors) * len(lengths))
    for i, length in enumerate(lengths):
        agreement += mine[:, start:length] @ bits[:, start:length].T
        start = length
        factor = xp.exp(log_scale[i]) / length
        shares, logarithms = _softmax(factor * agreement, anchors)
        value -= float(weight * xp.dot(targets.ravel(), logarithms.ravel()))
        gradient = weight * (shares - targets)
        grad_log_scale[i] = factor * xp.dot(gradient.ravel(), agreement.ravel())
        grad_bits[:, :length] += factor * (gradient.T @ mine[:, :length])
        grad_bits[anchors, :length] += factor * (gradient @ bits[:, :length])
    return value, grad_bits, grad_log_scale


def _softmax(logits: Matrix, itself: Matrix) -> tuple[Matrix, Matrix]:
    """Return the softmax of each row and its logarithm; 0 and 0 for the row itself."""
    xp = namespace(logits)
    place = xp.arange(len(logits), device=logits.device), itself
    logits[place] = -np.inf
    logits -= xp.amax(logits, axis=1, keepdims=True)
    probabilities = xp.exp(logits)
    total = probabilities.sum(axis=1, keepdims=True)
    probabilities /= total
    logits -= xp.log(total)
    logits[place] = 0
    return probabilities, logits


_RECALL_AT = 10
_MOST_QUERIES, _COMPARISONS = 5000, 4000  # of the held-out rows
#: Fewer held-out rows come with few rows to learn from, which is where training loses.
_MANY = 500
#: Of these. The fifth nearest of 100 rows is no neighbour: on CIFAR-10 training found
#: more of such, and lost a quarter of recall@10 among 8,000.
_NEAREST_OF_FEW = 2


class ValidationSplit:
    """Training rows, and held-out rows that are searched among themselves."""

    # A later search ranks rows that were not learnt from for queries that were not
    # either: rows that were would be found too easily. Held-out rows are fewer than
    # those that are searched later, and the tenth nearest of few is farther away than
    # codes have to see: only as many count as 4,000 comparisons need, ten at most, and
    # no more than a twentieth of the rows.

    def __init__(self, rows: Float32Array, held_out: Float32Array) -> None:
        self.rows, self.held_out = rows, held_out  # both shuffled
        self.rows_there = current_backend().put(rows)
        #: (n_queries, k), the nearest held-out rows of the first ones.
        self.nearest: IdArray | None = None
        if len(held_out) > 1:
            queries = held_out[:_MOST_QUERIES]
            needed, most = -(-_COMPARISONS // len(queries)), len(held_out) // 20
            k = min(_RECALL_AT, needed, max(1, most))
            nearest = exact_neighbours(queries, held_out, k + 1)
            self.nearest = without_itself(nearest.ids)
            self._held_out_there = current_backend().put(held_out)

    def recall(self, map: Map, lengths: Sequence[int]) -> float:
        """Return the share of them that codes find, a mean over the lengths."""
        if self.nearest is None:
            return 0.0
        rows, n_bits = self._held_out_there, lengths[-1]  # whose scores may be many
        some = parts(len(rows), max(n_bits, rows.shape[1]))
        scores = (map.scores(rows[span]) for span in some)
        get = current_backend().get
        whole = np.concatenate([pack(get(part >= 0)) for part in scores])
        recalls, (n, k) = [], self.nearest.shape
        for length in lengths:
            codes = prefix(whole, length)
            first = without_itself(hamming_topk(codes[:n], codes, k + 1).ids)
            recalls.append(search_recall(first, self.nearest).value)
        return float(np.mean(recalls))

    def recall_of_few(self, map: Map, lengths: Sequence[int]) -> Float64Array:
        """Return what each query finds by codes and by scores, (2, n_queries)."""
        # Among few rows; means over the lengths.
        assert self.nearest is not None
        nearest = self.nearest[:, :_NEAREST_OF_FEW]
        n, k = nearest.shape
        scores = current_backend().get(map.scores(self._held_out_there))
        signs = np.where(scores >= 0, np.float32(1), np.float32(-1))
        recalls = []
        for length in lengths:
            for queries in (signs, scores):
                alike = queries[:n, :length] @ signs[:, :length].T
                first = np.argsort(-alike, axis=1, kind="stable")[:, : k + 1]
                recall = search_recall(without_itself(first), nearest)
                recalls.append(recall.per_query)
        return np.asarray(np.reshape(recalls, (len(lengths), 2, n)).mean(axis=0))


def without_itself(ids: IdArray) -> IdArray:
    """Return lines without their own numbers; of many equal rows without the last."""
    itself = ids == np.arange(len(ids))[:, None]
    itself[:, -1] |= ~itself.any(axis=1)
    return np.asarray(ids[~itself].reshape(len(ids), -1))

"""Codes that are trained to keep the neighbours of vectors."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_random_state

from fewbits._typing import Array
from fewbits.codes import pack
from fewbits.encoders import LinearEncoder
from fewbits.evaluation import exact_neighbours, neighbour_recall
from fewbits.learners._adam import Adam
from fewbits.learners._axes import PrincipalAxes, principal_axes
from fewbits.learners._iterative import IterativeLearner
from fewbits.learners._itq import ITQ
from fewbits.learners._neighbour_graph import NeighbourGraph, neighbour_graph
from fewbits.learners._neighbour_loss import divergence, neighbour_shares
from fewbits.learners._parameters import check_integer, check_n_bits, check_number
from fewbits.learners._rows import Rows

Float32Array = NDArray[np.float32]

_START_ROWS, _START_ITER = 30_000, 20
_BATCHES = 50
#: Of a batch: anchors, near neighbours of each, rows from anywhere.
_ANCHORS, _NEAR, _FAR = 8, 40, 40
_SCALE_PER_BIT = 0.25
_MOST_ASIDE, _RECALL_AT = 500, 10


@dataclass
class Plane:
    """A linear map from principal components to scores, while it is trained.

    Attributes
    ----------
    weights : ndarray of shape (n_components, n_bits)
    bias : ndarray of shape (n_bits,)
    log_scale : ndarray of shape (n_lengths,)
        How much the agreement of two codes counts, for each length.
    """

    weights: Float32Array
    bias: Float32Array
    log_scale: Float32Array

    def scores(self, V: Float32Array) -> Float32Array:
        """Return the scores of rows."""
        found: Float32Array = V @ self.weights + self.bias
        return found

    def copy(self) -> "Plane":
        """Return what later steps leave as it is."""
        return Plane(self.weights.copy(), self.bias.copy(), self.log_scale.copy())


class NeighbourCodes(IterativeLearner):
    """Learn a linear map whose codes have the neighbours that the vectors have.

    Parameters
    ----------
    n_bits : int, default=64
        Length of the code, from 1 to 65,536; it may exceed the number of features.
    lengths : sequence of int, default=()
        Shorter lengths at which a prefix of the code shall keep neighbours, too.
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
    verbose : bool, default=False
        Show progress on standard error; see also `on_progress`.
    random_state : int, RandomState instance or None, default=None
        Seeds the start, the rows kept aside and the batches.

    Attributes
    ----------
    encoder_ : LinearEncoder
        The learned map; save this, not the learner.
    objective_ : ndarray of shape (n_iter_,)
        Mean cross-entropy, in nats, of the neighbours by vectors with those by codes,
        over the batches of each iteration: an estimate, so it falls with noise.
    recalls_ : ndarray of shape (n_iter_ + 1,)
        Recall of the 10 nearest rows of those kept aside, at the start and after each
        iteration; empty where none are.
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
        perplexity: float = 20.0,
        n_neighbours: int = 300,
        n_anchors: int = 20_000,
        n_rows: int = 200_000,
        n_iter: int = 30,
        learning_rate: float = 0.02,
        validation: float = 0.05,
        tol: float = 0.0,
        verbose: bool = False,
        random_state: Any = None,
    ) -> None:
        self.n_bits = n_bits
        self.lengths = lengths
        self.perplexity = perplexity
        self.n_neighbours = n_neighbours
        self.n_anchors = n_anchors
        self.n_rows = n_rows
        self.n_iter = n_iter
        self.learning_rate = learning_rate
        self.validation = validation
        self.tol = tol
        self.verbose = verbose
        self.random_state = random_state

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

    def _learn(self, X: Array, y: Any) -> LinearEncoder:
        rng = check_random_state(self.random_state)
        if len(X) > self.n_rows:
            X = X[np.sort(rng.choice(len(X), self.n_rows, replace=False))]
        axes = principal_axes(X)
        scale = float(np.sqrt(len(X) / axes.scatter.sum()))
        V = components(X, axes, scale)
        order = rng.permutation(len(V))
        n_aside = min(_MOST_ASIDE, int(self.validation * len(V)))
        aside, V = V[order[:n_aside]], V[order[n_aside:]]
        states = self._states(V, aside, rng)
        first = next(states)[0]
        plane = self._kept(self._run(states, start=first))
        P = axes.directions * scale
        W = P @ plane.weights
        return LinearEncoder(W, bias=plane.bias - axes.mean @ W, zero_bit=1)

    def _states(
        self, V: Float32Array, aside: Float32Array, rng: np.random.RandomState
    ) -> Iterator[tuple[Plane, float]]:
        """Yield the start, and the map after each iteration, with its objective."""
        lengths = sorted({*self.lengths, self.n_bits})
        plane = self._start(V, lengths, rng)
        watch = _Watch(V, aside)
        self._best = watch.recall(plane), plane.copy()
        recalls = [self._best[0]]
        yield plane, np.inf
        anchors = rng.permutation(len(V))[: self.n_anchors]
        graph = neighbour_graph(V, anchors, self.n_neighbours, self.perplexity)
        parameters = [plane.weights, plane.bias, plane.log_scale]
        adam = Adam(parameters, self.n_iter * _BATCHES, self.learning_rate)
        while True:
            losses = [
                step(plane, V, graph, lengths, adam, rng) for _ in range(_BATCHES)
            ]
            recalls.append(watch.recall(plane))
            self.recalls_ = np.array(recalls if len(aside) else [])
            if recalls[-1] >= self._best[0]:
                self._best = recalls[-1], plane.copy()
            yield plane, float(np.mean(losses))

    def _start(
        self, V: Float32Array, lengths: Sequence[int], rng: np.random.RandomState
    ) -> Plane:
        """Return ITQ, its scores scaled to a variance of 1."""
        seed = rng.randint(2**31 - 1)
        itq = ITQ(self.n_bits, n_iter=_START_ITER, random_state=seed)
        encoder = itq.fit(V[:_START_ROWS]).encoder_
        assert isinstance(encoder, LinearEncoder)
        plane = Plane(
            encoder.weights.copy(),
            encoder.bias.copy(),
            np.log(_SCALE_PER_BIT * np.array(lengths, np.float32)),
        )
        spread = np.maximum(plane.scores(V[:_START_ROWS]).std(axis=0), 1e-6)
        plane.weights /= spread
        plane.bias /= spread
        return plane

    def _kept(self, last: Plane) -> Plane:
        """Return the best map on the rows kept aside, or the last."""
        found = self._best[1]
        del self._best
        return found if self.validation else last


class _Watch:
    """Rows kept aside, and which of the others are their nearest."""

    def __init__(self, V: Float32Array, aside: Float32Array) -> None:
        self.V, self.aside = V, aside
        k = min(_RECALL_AT, len(V))
        self.nearest = exact_neighbours(aside, V, k).ids if len(aside) else None

    def recall(self, plane: Plane) -> float:
        """Return the share of them that codes find; 0 when nothing is kept aside."""
        if self.nearest is None:
            return 0.0
        queries, items = (
            pack(plane.scores(rows) >= 0) for rows in (self.aside, self.V)
        )
        k = self.nearest.shape[1]
        return float(neighbour_recall(queries, items, self.nearest, k).value)


def components(X: Array, axes: PrincipalAxes, scale: float) -> Float32Array:
    """Return the principal components of the rows, scaled, in memory."""
    rows = Rows(X, axes.mean, axes.directions * scale, np.float32, keep=False)
    return np.concatenate(list(rows)).astype(np.float32, copy=False)


def step(
    plane: Plane,
    V: Float32Array,
    graph: NeighbourGraph,
    lengths: Sequence[int],
    adam: Adam,
    rng: np.random.RandomState,
) -> float:
    """Make a step on a batch, and return its loss."""
    batch = graph.draw(_ANCHORS, _NEAR, _FAR, rng)
    rows = V[batch.rows]
    scores = plane.scores(rows)
    bits = np.where(scores >= 0, np.float32(1), np.float32(-1))
    shares = neighbour_shares(rows, batch)
    found = divergence(bits, shares, batch.anchors, lengths, plane.log_scale)
    slopes = found.bits * (1 - np.tanh(scores) ** 2)  # as if bits were tanh(scores)
    adam.step([rows.T @ slopes, slopes.sum(axis=0), found.log_scale])
    return found.value

"""Codes that are trained to keep the neighbours of vectors."""

import warnings
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_random_state

from fewbits._typing import Array
from fewbits.codes import pack
from fewbits.encoders import Encoder, LinearEncoder
from fewbits.errors import ArgumentError
from fewbits.evaluation import exact_neighbours, neighbour_recall
from fewbits.learners._adam import Adam
from fewbits.learners._axes import principal_axes
from fewbits.learners._iterative import IterativeLearner
from fewbits.learners._itq import ITQ
from fewbits.learners._neighbour_graph import Batch, neighbour_graph
from fewbits.learners._neighbour_loss import divergence, neighbour_shares
from fewbits.learners._neighbour_maps import Network, Plane, SparsePlane
from fewbits.learners._parameters import check_integer, check_n_bits, check_number
from fewbits.learners._rows import Rows

Float32Array = NDArray[np.float32]

_START_ROWS, _START_ITER = 30_000, 20
_BATCHES = 50
#: Of a batch: anchors, near neighbours of each, rows from anywhere.
_ANCHORS, _NEAR, _FAR = 8, 40, 40
_SCALE_PER_BIT = 0.25
_MOST_ASIDE, _RECALL_AT = 500, 10


class NeighbourCodes(IterativeLearner):
    """Learn a map whose codes have the neighbours that the vectors have.

    Parameters
    ----------
    n_bits : int, default=64
        Length of the code, from 1 to 65,536; it may exceed the number of features.
    lengths : sequence of int, default=()
        Shorter lengths at which a prefix of the code shall keep neighbours, too.
    density : float, default=1.0
        Share of the weights that is not 0, for a sparse map. They are dropped in the
        first half of the iterations, the smallest ones first.
    n_hidden : int, default=0
        Width of a hidden layer beside the linear map, which it must be dense for.
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
    encoder_ : LinearEncoder, SparseEncoder or MLPEncoder
        The learned map; save this, not the learner.
    objective_ : ndarray of shape (n_iter_,)
        Mean cross-entropy, in nats, of the neighbours by vectors with those by codes,
        over the batches of each iteration: an estimate, so it falls with noise.
    recalls_ : ndarray of shape (n_iter_ + 1,)
        Recall of the 10 nearest rows of those kept aside, at the start and after each
        iteration; empty where none are.
    n_dead_bits_ : int
        Bits of a sparse map that no weight was left for; more than 0 gives a warning.
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
        density: float = 1.0,
        n_hidden: int = 0,
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
        self.density = density
        self.n_hidden = n_hidden
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
        check_number("density", self.density, 0, 1, above=True)
        check_integer("n_hidden", self.n_hidden, 0)
        if self.n_hidden and self.density < 1:
            raise ArgumentError(
                f"density={self.density:g} needs n_hidden=0, got {self.n_hidden}"
            )
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
        axes = principal_axes(X)
        basis = axes.directions if self.density == 1 else np.eye(X.shape[1])
        basis = basis * np.sqrt(len(X) / axes.scatter.sum())
        V = rows_in(X, axes.mean, basis)
        order = rng.permutation(len(V))
        n_aside = min(_MOST_ASIDE, int(self.validation * len(V)))
        states = self._states(V[order[n_aside:]], V[order[:n_aside]], rng)
        first = next(states)[0]
        found = self._run(states, start=first)
        if self.validation:
            found.restore(self._best)
        del self._best
        self._count_dead_bits(found)
        return found.encoder(basis, axes.mean)

    def _count_dead_bits(self, found: Plane) -> None:
        self.n_dead_bits_ = int(np.sum(~found.weights.any(axis=0)))
        if self.n_dead_bits_:
            warnings.warn(
                f"{self.n_dead_bits_} of {self.n_bits} bits are constant, as none of "
                "their weights was kept; raise density",
                stacklevel=4,
            )

    def _states(
        self, V: Float32Array, aside: Float32Array, rng: np.random.RandomState
    ) -> Iterator[tuple[Plane, float]]:
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

    def _start(self, V: Float32Array, rng: np.random.RandomState) -> Plane:
        """Return ITQ, its scores scaled to a variance of 1."""
        seed = rng.randint(2**31 - 1)
        itq = ITQ(self.n_bits, n_iter=_START_ITER, random_state=seed)
        encoder = itq.fit(V[:_START_ROWS]).encoder_
        assert isinstance(encoder, LinearEncoder)
        spread = np.maximum(encoder.project(V[:_START_ROWS]).std(axis=0), 1e-6)
        weights, bias = encoder.weights / spread, encoder.bias / spread
        if self.density < 1:
            return SparsePlane(weights, bias, self.density)
        if self.n_hidden:
            return Network(weights, bias, self.n_hidden, rng)
        return Plane(weights, bias)


class _Watch:
    """Rows kept aside, and which of the others are their nearest."""

    def __init__(self, V: Float32Array, aside: Float32Array) -> None:
        self.V, self.aside = V, aside
        k = min(_RECALL_AT, len(V))
        self.nearest = exact_neighbours(aside, V, k).ids if len(aside) else None

    def recall(self, found: Plane) -> float:
        """Return the share of them that codes find; 0 when nothing is kept aside."""
        if self.nearest is None:
            return 0.0
        queries, items = (
            pack(found.scores(rows) >= 0) for rows in (self.aside, self.V)
        )
        k = self.nearest.shape[1]
        return float(neighbour_recall(queries, items, self.nearest, k).value)


def rows_in(
    X: Array, mean: NDArray[np.float64], basis: NDArray[np.float64]
) -> Float32Array:
    """Return the centred rows in a basis, in memory."""
    rows = Rows(X, mean, basis, np.float32, keep=False)
    return np.concatenate(list(rows)).astype(np.float32, copy=False)


def step(
    found: Plane,
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

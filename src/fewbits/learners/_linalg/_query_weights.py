"""Scores of queries, trained to rank the shortlists that Hamming distance returns."""

from collections.abc import Callable
from enum import Enum
from typing import NamedTuple

import numpy as np
from numpy.random import RandomState
from numpy.typing import NDArray
from scipy.special import softmax

from fewbits._typing import CodeArray, FeatureArray
from fewbits.codes import unpack
from fewbits.index import FlatIndex
from fewbits.learners._linalg._adam import Adam

Float32Array = NDArray[np.float32]
IntArray = NDArray[np.int64]

_STEPS, _QUERIES, _SHORTLIST, _NEAREST = 200, 64, 100, 10
#: Of the root mean square of the weights.
_RATE = 0.003
#: Of softmax, in the squared distance of the tenth nearest row of a shortlist.
_TEMPERATURE = 0.1
#: Of fewer rows, shortlists are most of them, and what is learnt is these rows.
_FEWEST, _MOST = 1000, 20_000
_ENTRIES = 1 << 21  # of the bits of a batch
_FACTORS_EVERY = 50  # steps
#: Of the size of rows, and of distances between rows of size 1.
_LEAST = 1e-15


class Offsets(Enum):
    """What is added to the products of queries with bits.

    NOTHING, or the squared length of the sum of vectors that a code stands for, or that
    of the row, with products times a factor.
    """

    NOTHING = 0
    OF_CODES = 1
    OF_ROWS = 2


class QueryWeights(NamedTuple):
    """The score of a query q for each bit: ``q @ weights + bias``."""

    weights: Float32Array
    bias: Float32Array


def trained_query_weights(
    V: FeatureArray,
    encode: Callable[[Float32Array], CodeArray],
    start: QueryWeights,
    offsets: Offsets,
    rng: RandomState,
) -> QueryWeights:
    """Return weights that rank shortlists more as distances of rows do.

    Rows ask for their shortlists by Hamming distance among the other rows. What falls
    is the cross-entropy of softmax over the squared distances of vectors with softmax
    over the estimates of them, both of the same temperature.

    Parameters
    ----------
    V : ndarray of shape (n, k)
        Centred rows, of which 20,000 at most take part, and of few none.
    encode : callable
        Returns the codes of some of them.
    start : QueryWeights
        Of V. Without offsets any multiple of it ranks alike.
    offsets : Offsets
    rng : RandomState
    """
    if len(V) < _FEWEST:
        return start
    drawn = np.sort(rng.permutation(len(V))[:_MOST])
    rows = V[drawn].astype(np.float32)
    codes = encode(rows)
    size = np.sqrt(np.einsum("ij,ij->", rows, rows, dtype=np.float64) / rows.size)
    if not _LEAST <= size <= 1 / _LEAST:
        return start
    rows /= np.float32(size)
    shortlists = _Shortlists(rows, codes, len(start.bias), rng)
    own = QueryWeights(start.weights / np.float32(size), start.bias / size**2)
    scale = 1.0 if offsets is not Offsets.NOTHING else shortlists.fitted(own)
    trained = _Training(shortlists, own, scale, offsets).run(rng)
    weights, bias = trained.weights * (size / scale), trained.bias * (size**2 / scale)
    if not (np.isfinite(weights).all() and np.isfinite(bias).all()):
        return start
    return QueryWeights(weights.astype(np.float32), bias.astype(np.float32))


class _Shortlists:
    """Rows, the nearest codes of some of them, and how near those rows are."""

    def __init__(
        self, V: Float32Array, codes: CodeArray, n_bits: int, rng: RandomState
    ) -> None:
        self.V, self.codes, self.n_bits = V, codes, n_bits
        self.squares = np.einsum("ij,ij->i", V, V)
        self.length = min(_SHORTLIST, len(V) - 1)
        room = _ENTRIES // (self.length * n_bits)
        self.n_at_once = min(max(room, 8), _QUERIES)
        self.asking = rng.permutation(len(V))[: self.n_at_once * _STEPS]
        found = FlatIndex(codes).search(codes[self.asking], self.length + 1).ids
        itself = found == self.asking[:, None]
        itself[~itself.any(axis=1), -1] = True
        self.rows: IntArray = found[~itself].reshape(-1, self.length)
        self.distances = self._distances()
        nearest = np.partition(self.distances, _NEAREST, axis=1)[:, _NEAREST]
        # Of rows that are there many times, all distances may be 0.
        nearest = np.maximum(nearest, max(1e-3 * float(nearest.mean()), _LEAST))
        self.temperatures = _TEMPERATURE * nearest[:, None]

    def _distances(self) -> Float32Array:
        found = np.empty(self.rows.shape, np.float32)
        for i in range(0, len(found), self.n_at_once):
            asking, rows = self.asking[i : i + self.n_at_once], self.rows[i:]
            rows = rows[: len(asking)]
            products = np.matmul(self.V[rows], self.V[asking][:, :, None])[:, :, 0]
            sums = self.squares[rows] + self.squares[asking, None]
            found[i : i + len(asking)] = sums - 2 * products
        return found.clip(min=0)

    def signs(self, rows: IntArray) -> Float32Array:
        """Return the bits of rows as -1 and 1."""
        bits = unpack(self.codes[rows.ravel()], self.n_bits).astype(np.float32)
        return (2 * bits - 1).reshape(*rows.shape, self.n_bits)

    def fitted(self, start: QueryWeights) -> float:
        """Return the factor that brings products nearest to distances."""
        some = slice(0, self.n_at_once)
        scores = self.V[self.asking[some]] @ start.weights + start.bias
        products = np.matmul(self.signs(self.rows[some]), scores[:, :, None])[:, :, 0]
        products -= products.mean(axis=1, keepdims=True)
        there = float(np.vdot(products, products))
        falls = float(-np.vdot(products, self.distances[some]))
        return falls / there / 2 if there > 0 and falls > 0 else 1.0


class _Training:
    """Steps that lower the cross-entropy."""

    def __init__(
        self,
        shortlists: _Shortlists,
        start: QueryWeights,
        scale: float,
        offsets: Offsets,
    ) -> None:
        self.of, self.offsets = shortlists, offsets
        self.weights, self.bias = ((scale * each).astype(np.float32) for each in start)
        self.factors = np.ones(len(shortlists.V), np.float32)

    def run(self, rng: RandomState) -> QueryWeights:
        n = self.of.n_at_once
        adam = Adam([self.weights, self.bias])
        rate = _RATE * float(np.sqrt(np.square(self.weights).mean()))
        order = np.zeros(0, np.int64)
        for step in range(_STEPS):
            if self.offsets is Offsets.OF_ROWS and step % _FACTORS_EVERY == 0:
                self._set_factors()
            if len(order) < n:
                order = rng.permutation(len(self.of.asking))
            batch, order = order[:n], order[n:]
            # Down to nothing in the second half.
            adam.step(self._gradients(batch), rate * min(1.0, 2 * (1 - step / _STEPS)))
        return QueryWeights(self.weights, self.bias)

    def _gradients(self, batch: IntArray) -> list[Float32Array]:
        rows, temperature = self.of.rows[batch], self.of.temperatures[batch]
        queries, signs = self.of.V[self.of.asking[batch]], self.of.signs(rows)
        scores = queries @ self.weights + self.bias
        factors = self.factors[rows]
        found = -2 * factors * np.matmul(signs, scores[:, :, None])[:, :, 0]
        flat = signs.reshape(-1, self.of.n_bits)
        if self.offsets is Offsets.OF_CODES:
            sums = flat @ (self.weights.T @ self.weights)
            found += np.einsum("ij,ij->i", sums, flat).reshape(found.shape)
        elif self.offsets is Offsets.OF_ROWS:
            found += self.of.squares[rows]
        wanted = softmax(-self.of.distances[batch] / temperature, axis=1)
        slopes = (wanted - softmax(-found / temperature, axis=1)) / temperature
        by_scores = np.matmul((-2 * factors * slopes)[:, None], signs)[:, 0]
        by_weights = queries.T @ by_scores
        if self.offsets is Offsets.OF_CODES:
            by_weights += 2 * self.weights @ (flat.T @ (slopes.reshape(-1, 1) * flat))
        return [by_weights, by_scores.sum(axis=0)]

    def _set_factors(self) -> None:
        """Let factors be those of corrections, see `AdditiveEncoder`."""
        every = np.arange(len(self.of.V))
        gram = self.weights.T @ self.weights
        for i in range(0, len(every), 1024):
            some = every[i : i + 1024]
            signs = self.of.signs(some)
            scores = self.of.V[some] @ self.weights + self.bias
            along = np.einsum("ij,ij->i", scores, signs)
            lengths = np.einsum("ij,ij->i", signs @ gram, signs)
            with np.errstate(divide="ignore", invalid="ignore"):
                row = self.of.squares[some]
                factors = np.sqrt(row / along * np.sqrt(row / lengths))
            there = (along > 0) & (lengths > 0)
            self.factors[some] = np.where(there, factors, np.float32(1))

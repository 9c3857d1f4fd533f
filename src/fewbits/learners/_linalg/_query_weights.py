"""Scores of queries, trained to rank the shortlists that Hamming distance returns."""

from collections.abc import Callable
from enum import Enum
from typing import NamedTuple

import numpy as np
from numpy.random import RandomState
from numpy.typing import NDArray
from scipy.special import softmax

from fewbits._spans import spans
from fewbits._typing import CodeArray, FeatureArray
from fewbits.codes import unpack
from fewbits.index import FlatIndex
from fewbits.learners._linalg._adam import Adam

Float32Array = NDArray[np.float32]
IntArray = NDArray[np.int64]

_STEPS, _CHECKS = 200, 40
#: Of the root mean square of the weights.
_RATE = 0.003
#: Of fewer rows, shortlists are most of them, and what is learnt is these rows.
_FEWEST, _MOST = 1000, 20_000
#: A share of the rows that decides whether anything was gained.
_HELD_OUT = 0.2
_FACTORS_EVERY = 50  # steps
_LEAST = 1e-15  # size of rows, and of distances


class Added(Enum):
    """The term of an estimated distance beside the product of query and code."""

    # NOTHING; OF_CODES, the squared length of the sum of vectors that a code stands
    # for; or OF_ROWS, that of the row, where products are times a factor.

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
    added: Added,
    rng: RandomState,
) -> QueryWeights | None:
    """Return weights that rank shortlists more as distances of rows do."""
    # Rows of V, which are centred, ask for their shortlists by Hamming distance among
    # the other rows. What falls is the cross-entropy of softmax over squared distances
    # of vectors with softmax over the estimates of them. None where these weights find
    # no more neighbours of held-out rows than `start` does.
    if len(V) < _FEWEST:
        return None
    drawn = rng.permutation(len(V))[:_MOST]
    rows = V[drawn].astype(np.float32)
    codes = encode(rows)
    size = np.sqrt(np.einsum("ij,ij->", rows, rows, dtype=np.float64) / rows.size)
    if not _LEAST <= size <= 1 / _LEAST:
        return None
    rows /= np.float32(size)
    n_held, n_bits = int(_HELD_OUT * len(rows)), len(start.bias)
    held_out = Shortlists(rows[:n_held], codes[:n_held], n_bits, _CHECKS, rng)
    learnt = Shortlists(rows[n_held:], codes[n_held:], n_bits, _STEPS, rng)
    before = QueryWeights(start.weights / np.float32(size), start.bias / size**2)
    scale = 1.0
    if added is Added.NOTHING:  # that of the least squares of a batch
        some = learnt.batches()[0]
        scores = learnt.V[learnt.asking[some]] @ before.weights + before.bias
        signs = learnt.signs(learnt.rows[some])
        products = np.matmul(signs, scores[:, :, None])[:, :, 0]
        products -= products.mean(axis=1, keepdims=True)
        there = float(np.vdot(products, products))
        falls = float(-np.vdot(products, learnt.distances[some]))
        scale = falls / there / 2 if there > 0 and falls > 0 else 1.0
    before = QueryWeights(*((scale * each).astype(np.float32) for each in before))
    after = trained(learnt, before, added, rng)
    gained = found_by(held_out, after, added) - found_by(held_out, before, added)
    if gained.sum() <= 0:
        return None
    weights, bias = after.weights * (size / scale), after.bias * (size**2 / scale)
    return QueryWeights(weights.astype(np.float32), bias.astype(np.float32))


#: Rows of a shortlist, and those of them that are to come first.
LENGTH, NEAREST = 100, 10
_QUERIES, _FEWEST_QUERIES, _ENTRIES = 64, 8, 1 << 21
#: Of softmax, in the squared distance of the last row that is to come first.
_TEMPERATURE = 0.1


class Shortlists:
    """The nearest codes of some rows, among the other rows, with true distances."""

    # Of rows V with a mean square of about 1, those of `asking` ask, `n_at_once` in a
    # batch, whose bits take some megabytes, and in `n_batches` at most. Line i of
    # `rows` is the shortlist of the i-th, without itself; `distances` are squared.

    def __init__(
        self,
        V: Float32Array,
        codes: CodeArray,
        n_bits: int,
        n_batches: int,
        rng: RandomState,
    ) -> None:
        self.V, self.codes, self.n_bits = V, codes, n_bits
        self.squares = np.einsum("ij,ij->i", V, V)
        length = min(LENGTH, len(V) - 1)
        room = _ENTRIES // (length * n_bits)
        self.n_at_once = min(max(room, _FEWEST_QUERIES), _QUERIES)
        self.asking = rng.permutation(len(V))[: self.n_at_once * n_batches]
        ids = FlatIndex(codes).search(codes[self.asking], length + 1).ids
        itself = ids == self.asking[:, None]
        itself[~itself.any(axis=1), -1] = True
        self.rows: IntArray = ids[~itself].reshape(-1, length)
        distances = np.empty(self.rows.shape, np.float32)
        for some in spans(len(distances), _ENTRIES // (length * V.shape[1])):
            asking, rows = self.asking[some], self.rows[some]
            products = np.matmul(V[rows], V[asking][:, :, None])[:, :, 0]
            sums = self.squares[rows] + self.squares[asking, None]
            distances[some] = sums - 2 * products
        self.distances: Float32Array = distances.clip(min=0)
        nearest = np.partition(self.distances, NEAREST, axis=1)[:, NEAREST]
        # Of rows that are there many times, all distances may be 0.
        nearest = np.maximum(nearest, max(1e-3 * float(nearest.mean()), _LEAST))
        self.temperatures = _TEMPERATURE * nearest[:, None]

    def batches(self) -> list[IntArray]:
        step = self.n_at_once
        every = np.arange(len(self.asking))
        return [every[i : i + step] for i in range(0, len(every), step)]

    def signs(self, rows: IntArray) -> Float32Array:
        bits = unpack(self.codes[rows.ravel()], self.n_bits).astype(np.float32)
        return (2 * bits - 1).reshape(*rows.shape, self.n_bits)


def trained(
    of: Shortlists, start: QueryWeights, added: Added, rng: RandomState
) -> QueryWeights:
    estimates = Estimates(of, start, added)
    adam = Adam([estimates.weights, estimates.bias])
    rate = _RATE * float(np.sqrt(np.square(start.weights).mean()))
    n, order = of.n_at_once, np.zeros(0, np.int64)
    for step in range(_STEPS):
        if step % _FACTORS_EVERY == 0:
            estimates.fit_factors()
        if len(order) < n:
            order = rng.permutation(len(of.asking))
        batch, order = order[:n], order[n:]
        # Down to nothing in the second half.
        share = min(1.0, 2 * (1 - step / _STEPS))
        adam.step(estimates.gradients(batch), rate * share)
    return QueryWeights(estimates.weights, estimates.bias)


def found_by(of: Shortlists, queries: QueryWeights, added: Added) -> NDArray[np.int64]:
    """Return how many of the nearest rows of each shortlist the estimates put first."""
    estimates = Estimates(of, queries, added)
    estimates.fit_factors()
    hits = []
    for batch in of.batches():
        values, distances = estimates.of_distances(batch)[0], of.distances[batch]
        first = np.argpartition(values, NEAREST - 1, axis=1)[:, :NEAREST]
        last = np.partition(distances, NEAREST - 1, axis=1)[:, NEAREST - 1 : NEAREST]
        hits.append((np.take_along_axis(distances, first, 1) <= last).sum(axis=1))
    return np.concatenate(hits)


class Estimates:
    def __init__(self, of: Shortlists, start: QueryWeights, added: Added) -> None:
        self.of, self.added = of, added
        self.weights, self.bias = start.weights.copy(), start.bias.copy()
        self.factors = np.ones(len(of.V), np.float32)

    def of_distances(self, batch: IntArray) -> tuple[Float32Array, Float32Array]:
        rows = self.of.rows[batch]
        signs = self.of.signs(rows)
        scores = self.of.V[self.of.asking[batch]] @ self.weights + self.bias
        products = np.matmul(signs, scores[:, :, None])[:, :, 0]
        estimates = -2 * self.factors[rows] * products
        if self.added is Added.OF_CODES:
            estimates += self._lengths(signs)
        elif self.added is Added.OF_ROWS:
            estimates += self.of.squares[rows]
        return estimates, signs

    def gradients(self, batch: IntArray) -> list[Float32Array]:
        rows, temperature = self.of.rows[batch], self.of.temperatures[batch]
        estimates, signs = self.of_distances(batch)
        targets = softmax(-self.of.distances[batch] / temperature, axis=1)
        slopes = (targets - softmax(-estimates / temperature, axis=1)) / temperature
        of_scores = -2 * self.factors[rows] * slopes
        by_scores = np.matmul(of_scores[:, None], signs)[:, 0]
        by_weights = self.of.V[self.of.asking[batch]].T @ by_scores
        if self.added is Added.OF_CODES:
            by_weights += self._by_lengths(signs, slopes)
        return [by_weights, by_scores.sum(axis=0)]

    def fit_factors(self) -> None:
        """Let factors be those of corrections, see `AdditiveEncoder`."""
        if self.added is not Added.OF_ROWS:
            return
        every = np.arange(len(self.of.V))
        for i in range(0, len(every), 1024):
            some = every[i : i + 1024]
            signs, row = self.of.signs(some), self.of.squares[some]
            scores = self.of.V[some] @ self.weights + self.bias
            along = np.einsum("ij,ij->i", scores, signs)
            lengths = self._lengths(signs[None])[0]
            with np.errstate(divide="ignore", invalid="ignore"):
                factors = np.sqrt(row / along * np.sqrt(row / lengths))
            there = (along > 0) & (lengths > 0)
            self.factors[some] = np.where(there, factors, np.float32(1))

    # Sums of vectors, or products of vectors: whichever is the smaller matrix.

    def _lengths(self, signs: Float32Array) -> Float32Array:
        flat = signs.reshape(-1, self.of.n_bits)
        if len(self.weights) < self.of.n_bits:
            sums = flat @ self.weights.T
            lengths = np.einsum("ij,ij->i", sums, sums)
        else:
            lengths = np.einsum(
                "ij,ij->i", flat @ (self.weights.T @ self.weights), flat
            )
        return np.asarray(lengths.reshape(signs.shape[:2]))

    def _by_lengths(self, signs: Float32Array, slopes: Float32Array) -> Float32Array:
        flat, column = signs.reshape(-1, self.of.n_bits), slopes.reshape(-1, 1)
        if len(self.weights) < self.of.n_bits:
            sums = flat @ self.weights.T
            return np.asarray(2 * (column * sums).T @ flat)
        return np.asarray(2 * self.weights @ (flat.T @ (column * flat)))

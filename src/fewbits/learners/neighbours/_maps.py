"""What codes that keep neighbours are made by: maps with gradients of their own."""

from abc import ABC, abstractmethod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fewbits.encoders import Encoder, LinearEncoder, MLPEncoder, SparseEncoder
from fewbits.learners.neighbours._frame import Frame

Float32Array = NDArray[np.float32]

LEAST_SPREAD = 1e-6  # of what rows are scaled by that have a mean square of 1


class Map(ABC):
    """A map of rows to scores that training changes.

    Attributes
    ----------
    parameters : list of ndarray
        Changed in place by training.
    """

    parameters: list[Float32Array]

    @abstractmethod
    def scores(self, V: Float32Array) -> Float32Array:
        """Return the scores of rows."""

    @abstractmethod
    def gradients(self, V: Float32Array, by_scores: Float32Array) -> list[Float32Array]:
        """Return the gradients by the parameters, given those by the scores of rows."""

    @abstractmethod
    def encoder(self, frame: Frame) -> Encoder:
        """Return the map of features."""

    @property
    def ready(self) -> bool:
        """Whether this may be the result of training."""
        return True

    @property
    def arrays(self) -> list[NDArray[Any]]:
        """All that training changes, in place."""
        return [*self.parameters]

    def prepare(self, progress: float) -> None:  # noqa: B027 - for those who need it
        """Do what is done before an iteration; `progress` is 1 before the last."""

    def settle(self) -> None:  # noqa: B027
        """Do what is done after a step."""

    def kept(self) -> list[NDArray[Any]]:
        """Return a copy of it."""
        return [each.copy() for each in self.arrays]

    def restore(self, kept: list[NDArray[Any]]) -> None:
        """Go back to a copy."""
        for own, each in zip(self.arrays, kept, strict=True):
            own[...] = each


class LinearMap(Map):
    """``V W + c``; other maps are planes with something more.

    Parameters
    ----------
    weights : ndarray of shape (n_inputs, n_bits)
    bias : ndarray of shape (n_bits,)
    tightness : float, default=0
        How far the weights are pulled towards a tight frame before an iteration.
    """

    def __init__(
        self, weights: Float32Array, bias: Float32Array, tightness: float = 0.0
    ) -> None:
        self.weights, self.bias, self.tightness = weights, bias, tightness
        self.parameters = [weights, bias]

    def prepare(self, progress: float) -> None:
        if self.tightness:
            way = np.float32(self.tightness) * towards_tight(self.weights)
            np.add(self.weights, way, out=self.weights)

    def scores(self, V: Float32Array) -> Float32Array:
        found: Float32Array = V @ self.weights + self.bias
        return found

    def gradients(self, V: Float32Array, by_scores: Float32Array) -> list[Float32Array]:
        return [V.T @ by_scores, by_scores.sum(axis=0)]

    def encoder(self, frame: Frame) -> Encoder:
        W = frame.weights(self.weights)
        return LinearEncoder(W, bias=self.bias - frame.mean @ W, zero_bit=1)


def towards_tight(W: Float32Array) -> Float32Array:
    """Return the way to a tight frame, whose singular values are all alike.

    One step of Newton and Schulz's: a value s goes by ``s (1 - s^2 / m) / 2``, where m
    is the mean of the squares.
    """
    n = min(W.shape)
    size = max(float(np.vdot(W, W)) / n, np.finfo(np.float32).tiny)
    small: Float32Array = W.T @ W if W.shape[1] == n else W @ W.T
    small *= np.float32(-0.5 / size)
    small.flat[:: n + 1] += np.float32(0.5)
    way: Float32Array = W @ small if W.shape[1] == n else small @ W
    return way


class SparseLinearMap(LinearMap):
    """A plane that keeps fewer and fewer of its weights, and then learns with those.

    Parameters
    ----------
    density : float
        Share of the weights that is left after half of the way. They are those that
        were largest on the way there; each iteration drops some.
    """

    #: Of the planned iterations: after which share weights begin to go, and are gone.
    START, END = 0.1, 0.5

    def __init__(
        self, weights: Float32Array, bias: Float32Array, density: float
    ) -> None:
        super().__init__(weights, bias)
        self.density = density
        self.mask = np.ones(weights.shape, np.bool_)

    @property
    def arrays(self) -> list[NDArray[Any]]:
        return [*self.parameters, self.mask]

    @property
    def ready(self) -> bool:
        return bool(np.count_nonzero(self.mask) <= self._n_left(1.0))

    def prepare(self, progress: float) -> None:
        n_left = self._n_left(progress)
        if n_left < np.count_nonzero(self.mask):
            sizes = np.abs(self.weights) * self.mask
            order = np.argsort(-sizes, axis=None, kind="stable")
            self.mask.flat[order[n_left:]] = False
            self.settle()

    def _n_left(self, progress: float) -> int:
        way = (progress - self.START) / (self.END - self.START)
        way = min(max(way, 0.0), 1.0)
        share = self.density + (1 - self.density) * (1 - way) ** 3
        return max(1, round(share * self.weights.size))

    def settle(self) -> None:
        self.weights *= self.mask

    def encoder(self, frame: Frame) -> Encoder:
        W = frame.weights(self.weights)
        bias = self.bias - frame.mean @ W
        return SparseEncoder.from_dense(W, bias=bias, zero_bit=1)


class NetworkMap(Map):
    """A hidden layer with ReLU: ``relu(V A + a) O / sqrt(n_hidden) + c``.

    It starts as a plane of the first inputs: two units pass the halves of each of them.
    The other units are drawn, and what they are worth starts at 0.

    Parameters
    ----------
    weights : ndarray of shape (k, n_bits)
        Of the plane; at least two units for each input.
    bias : ndarray of shape (n_bits,)
    spread : ndarray of shape (k,)
        Standard deviation of these inputs.
    shape : pair of int
        Inputs and hidden units.
    rng : RandomState
    """

    def __init__(
        self,
        weights: Float32Array,
        bias: Float32Array,
        spread: Float32Array,
        shape: tuple[int, int],
        rng: np.random.RandomState,
    ) -> None:
        k, n_hidden = len(weights), shape[1]
        # Rows have a mean square of 1: this gives each unit inputs of a variance of 1.
        spread = np.maximum(spread, LEAST_SPREAD)
        halves = np.diag(1 / spread)
        self.inner = rng.standard_normal(shape).astype(np.float32)
        self.inner[:, : 2 * k] = 0
        self.inner[:k, : 2 * k] = np.hstack([halves, -halves])
        self.inner_bias = np.zeros(n_hidden, np.float32)
        # No parameter: else Adam's equal steps of all units would add up in the scores.
        self.scale = np.float32(n_hidden**-0.5)
        plane = weights * spread[:, None] / self.scale
        self.outer = np.zeros((n_hidden, len(bias)), np.float32)
        self.outer[: 2 * k] = np.vstack([plane, -plane])
        self.bias = bias
        self.parameters = [self.inner, self.inner_bias, self.outer, self.bias]

    def scores(self, V: Float32Array) -> Float32Array:
        found: Float32Array = self._hidden(V) @ self.outer + self.bias
        return found

    def gradients(self, V: Float32Array, by_scores: Float32Array) -> list[Float32Array]:
        hidden = self._hidden(V)
        inner = (self.scale * by_scores @ self.outer.T) * (hidden > 0)
        sums = inner.sum(axis=0), by_scores.sum(axis=0)
        return [V.T @ inner, sums[0], hidden.T @ by_scores, sums[1]]

    def encoder(self, frame: Frame) -> Encoder:
        A = frame.weights(self.inner)
        return MLPEncoder(
            [A, self.scale * self.outer],
            [self.inner_bias - frame.mean @ A, self.bias],
            zero_bit=1,
        )

    def _hidden(self, V: Float32Array) -> Float32Array:
        """Return what the units give, scaled."""
        inputs = V @ self.inner + self.inner_bias
        found: Float32Array = self.scale * np.maximum(inputs, 0)
        return found

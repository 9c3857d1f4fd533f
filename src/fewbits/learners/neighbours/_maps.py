"""What codes that keep neighbours are made by: maps with gradients of their own."""

from abc import ABC, abstractmethod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fewbits.encoders import Encoder, LinearEncoder, MLPEncoder, SparseEncoder
from fewbits.learners.neighbours._frame import Frame

Float32Array = NDArray[np.float32]


class Map(ABC):
    """A map of rows to scores that training changes.

    Attributes
    ----------
    parameters : list of ndarray
        Changed in place by training.
    ready : bool
        Whether this may be the result of training.
    """

    parameters: list[Float32Array]
    ready = True

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
    """

    def __init__(self, weights: Float32Array, bias: Float32Array) -> None:
        self.weights, self.bias = weights, bias
        self.parameters = [weights, bias]

    def scores(self, V: Float32Array) -> Float32Array:
        found: Float32Array = V @ self.weights + self.bias
        return found

    def gradients(self, V: Float32Array, by_scores: Float32Array) -> list[Float32Array]:
        return [V.T @ by_scores, by_scores.sum(axis=0)]

    def encoder(self, frame: Frame) -> Encoder:
        W = frame.weights(self.weights)
        return LinearEncoder(W, bias=self.bias - frame.mean @ W, zero_bit=1)


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
    def ready(self) -> bool:  # type: ignore[override]
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


class ResidualMap(LinearMap):
    """A plane, and a hidden layer with ReLU beside it: ``V W + c + relu(V A + a) O``.

    O is 0 at the start, so that training starts at the plane.

    Parameters
    ----------
    n_hidden : int
    rng : RandomState
        Draws A.
    """

    def __init__(
        self,
        weights: Float32Array,
        bias: Float32Array,
        n_hidden: int,
        rng: np.random.RandomState,
    ) -> None:
        super().__init__(weights, bias)
        # Rows have a mean square of 1, so this gives each unit an input of about 1.
        self.inner = rng.standard_normal((len(weights), n_hidden)).astype(np.float32)
        self.inner_bias = np.zeros(n_hidden, np.float32)
        self.outer = np.zeros((n_hidden, len(bias)), np.float32)
        self.parameters += [self.inner, self.inner_bias, self.outer]

    def scores(self, V: Float32Array) -> Float32Array:
        found: Float32Array = super().scores(V) + self._hidden(V) @ self.outer
        return found

    def gradients(self, V: Float32Array, by_scores: Float32Array) -> list[Float32Array]:
        hidden = self._hidden(V)
        inner = (by_scores @ self.outer.T) * (hidden > 0)
        plane = super().gradients(V, by_scores)
        return [*plane, V.T @ inner, inner.sum(axis=0), hidden.T @ by_scores]

    def encoder(self, frame: Frame) -> Encoder:
        """Return one chain of layers: the plane passes ReLU as two halves."""
        A, W = frame.weights(self.inner), frame.weights(self.weights)
        bias, inner = self.bias - frame.mean @ W, self.inner_bias - frame.mean @ A
        one = np.eye(len(bias))
        return MLPEncoder(
            [np.hstack([A, W, -W]), np.vstack([self.outer, one, -one])],
            [np.hstack([inner, bias, -bias]), np.zeros(len(bias))],
            zero_bit=1,
        )

    def _hidden(self, V: Float32Array) -> Float32Array:
        found: Float32Array = np.maximum(V @ self.inner + self.inner_bias, 0)
        return found

"""Maps with hand-written gradients that make neighbour-preserving codes."""

from abc import ABC, abstractmethod
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fewbits._typing import FeatureArray
from fewbits.encoders import Encoder, LinearEncoder, MLPEncoder, SparseEncoder
from fewbits.errors import FeatureError
from fewbits.learners._core._device import Matrix, current_backend, namespace
from fewbits.learners._core._rows import SAME_ROWS, Readable, Rows, column_means
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
        """Return the rows of these numbers, in memory once."""
        rows = Rows(X, self.mean, self.axes, np.float32, keep=False)
        gathered, start = np.empty((len(order), rows.shape[1]), np.float32), 0
        for block in rows.some(order):
            np.multiply(block, self.scale, gathered[start : start + len(block)])
            start += len(block)
        return gathered

    def weights(self, W: NDArray[Any]) -> NDArray[np.float64]:
        turned = W.astype(np.float64) if self.axes is None else self.axes @ W
        return turned * self.scale


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
    def scores(self, V: Matrix) -> Matrix:
        """Return the scores of rows."""

    @abstractmethod
    def gradients(self, V: Matrix, by_scores: Matrix) -> list[Matrix]:
        """Return the gradients by the parameters, given those by the scores of rows."""

    @abstractmethod
    def encoder(self, frame: Frame) -> Encoder:
        """Return the map of features."""

    @property
    def ready(self) -> bool:
        """Return whether this may be the result of training."""
        return True

    @property
    def arrays(self) -> list[Matrix]:
        """All that training changes, in place."""
        return [*self.parameters]

    def prepare(self, progress: float) -> None:  # noqa: B027 - for those who need it
        """Do what is done before batches; `progress` is 1 in the last iteration."""

    def settle(self) -> None:  # noqa: B027
        """Do what is done after a step."""

    def kept(self) -> list[Matrix]:
        return [namespace(each).asarray(each, copy=True) for each in self.arrays]

    def restore(self, kept: list[Matrix]) -> None:
        for own, each in zip(self.arrays, kept, strict=True):
            own[...] = each


class PlaneMap(Map):
    def __init__(self, weights: Float32Array, bias: Float32Array) -> None:
        self.weights, self.bias = (
            current_backend().put(weights),
            current_backend().put(bias),
        )
        self.parameters = [self.weights, self.bias]

    def scores(self, V: Matrix) -> Matrix:
        return V @ self.weights + self.bias

    def gradients(self, V: Matrix, by_scores: Matrix) -> list[Matrix]:
        return [V.T @ by_scores, by_scores.sum(axis=0)]

    def of_features(self, frame: Frame) -> tuple[Float64Array, Float64Array]:
        W = frame.weights(current_backend().get(self.weights))
        return W, current_backend().get(self.bias) - frame.mean @ W


class LinearMap(PlaneMap):
    """A plane that is pulled towards a tight frame."""

    def __init__(
        self, weights: Float32Array, bias: Float32Array, tightness: float = 0.0
    ) -> None:
        super().__init__(weights, bias)
        self.tightness = tightness

    def prepare(self, progress: float) -> None:
        if self.tightness:
            self.weights += self.tightness * towards_tight(self.weights)

    def encoder(self, frame: Frame, queries: PlaneMap | None = None) -> Encoder:
        W, bias = self.of_features(frame)
        if queries is None:
            return LinearEncoder(W, bias, zero_bit=1)
        names = "query_weights", "query_bias"
        options = dict(zip(names, queries.of_features(frame), strict=True))
        return LinearEncoder(W, bias, **options, zero_bit=1)


def towards_tight(W: Matrix) -> Matrix:
    """Return the way to a tight frame, whose singular values are all alike."""
    # One step of Newton and Schulz's: a value s goes by ``s (1 - s^2 / m) / 2``, where
    # m is the mean of the squares.
    n = min(W.shape)
    squares = namespace(W).dot(W.ravel(), W.ravel())
    size = max(float(squares) / n, float(np.finfo(np.float32).tiny))
    small = W.T @ W if W.shape[1] == n else W @ W.T
    small *= -0.5 / size
    small.ravel()[:: n + 1] += 0.5
    return W @ small if W.shape[1] == n else small @ W


class SparseLinearMap(PlaneMap):
    """A plane that keeps fewer and fewer of its weights, and then learns with those."""

    #: Of the planned iterations: after which share weights begin to go, and are gone.
    START, END = 0.1, 0.5

    def __init__(
        self, weights: Float32Array, bias: Float32Array, density: float
    ) -> None:
        super().__init__(weights, bias)
        self.density = density
        self.mask = current_backend().put(np.ones(weights.shape, np.bool_))

    @property
    def arrays(self) -> list[Matrix]:
        return [*self.parameters, self.mask]

    @property
    def ready(self) -> bool:
        return self._n_kept() <= self._n_left(1.0)

    def prepare(self, progress: float) -> None:
        n_left = self._n_left(progress)
        if n_left < self._n_kept():
            xp = namespace(self.weights)
            sizes = xp.abs(self.weights) * self.mask
            order = xp.argsort(-sizes.ravel(), stable=True)
            self.mask.ravel()[order[n_left:]] = False
            self.settle()

    def _n_kept(self) -> int:
        return int(namespace(self.mask).count_nonzero(self.mask))

    def _n_left(self, progress: float) -> int:
        way = (progress - self.START) / (self.END - self.START)
        way = min(max(way, 0.0), 1.0)
        share = self.density + (1 - self.density) * (1 - way) ** 3
        size: int = np.prod(self.weights.shape).item()
        return max(1, round(share * size))

    def settle(self) -> None:
        self.weights *= self.mask

    def encoder(self, frame: Frame) -> Encoder:
        W, bias = self.of_features(frame)
        return SparseEncoder.from_dense(W, bias=bias, zero_bit=1)


class NetworkMap(Map):
    """A hidden layer with ReLU: ``relu(V A + a) O / sqrt(n_hidden) + c``."""

    # It starts as a plane of the first inputs: two units pass the halves of each of
    # them. The other units are drawn, and what they are worth starts at 0.

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
        inner = rng.standard_normal(shape).astype(np.float32)
        inner[:, : 2 * k] = 0
        inner[:k, : 2 * k] = np.hstack([halves, -halves])
        inner_bias = np.zeros(n_hidden, np.float32)
        # No parameter: else Adam's equal steps of all units would add up in the scores.
        self.scale: float = n_hidden**-0.5
        plane = weights * spread[:, None] / np.float32(self.scale)
        outer = np.zeros((n_hidden, len(bias)), np.float32)
        outer[: 2 * k] = np.vstack([plane, -plane])
        self.parameters = [
            current_backend().put(x) for x in (inner, inner_bias, outer, bias)
        ]
        self.inner, self.inner_bias, self.outer, self.bias = self.parameters

    def scores(self, V: Matrix) -> Matrix:
        return self._hidden(V) @ self.outer + self.bias

    def gradients(self, V: Matrix, by_scores: Matrix) -> list[Matrix]:
        hidden = self._hidden(V)
        inner = (self.scale * by_scores @ self.outer.T) * (hidden > 0)
        sums = inner.sum(axis=0), by_scores.sum(axis=0)
        return [V.T @ inner, sums[0], hidden.T @ by_scores, sums[1]]

    def encoder(self, frame: Frame) -> Encoder:
        inner, inner_bias, outer, bias = map(current_backend().get, self.parameters)
        A = frame.weights(inner)
        return MLPEncoder(
            [A, self.scale * outer], [inner_bias - frame.mean @ A, bias], zero_bit=1
        )

    def _hidden(self, V: Matrix) -> Matrix:
        inputs = V @ self.inner + self.inner_bias
        return self.scale * inputs.clip(min=0)

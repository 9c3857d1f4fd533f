"""Sign of a small network: layers with ReLU between them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import ClassVar, Self, final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fewbits import _kernels
from fewbits._checks import check_zero_bit
from fewbits._spans import spans
from fewbits._typing import CodeArray, ScoreArray
from fewbits.encoders._base import Encoder, Tensors, frozen
from fewbits.encoders._linear import check_affine
from fewbits.errors import ArgumentError, FeatureError

MAX_LAYERS = 64
#: Values of a hidden layer that are held at a time, 16 MB.
_BLOCK_ENTRIES = 1 << 22

Layers = tuple[NDArray[np.float32], ...]


@final
class MLPEncoder(Encoder):
    """A chain of affine maps with ReLU between them, and the sign of the last.

    Heads that deep methods train deploy as this class, behind whatever backbone gave
    the features.

    Parameters
    ----------
    weights : sequence of array-like of shape (n_in, n_out)
        One matrix for each layer, 1 to 64 of them. The first takes the features, each
        other takes what the one before gives, the last gives the scores. No layer is
        wider than 65,536.
    biases : sequence of array-like of shape (n_out,)
        One vector for each layer.

    Raises
    ------
    FeatureError
        When a hidden layer overflows float32 for a row that is encoded.

    Notes
    -----
    Only the last layer decides how many bits there are: a prefix keeps all hidden
    layers. A file holds the tensors ``weights.0``, ``biases.0``, ``weights.1``, ...

    Examples
    --------
    >>> encoder = MLPEncoder([[[1.0, -1.0]], [[1.0], [1.0]]], [[0.0, 0.0], [-2.0]])
    >>> encoder
    MLPEncoder(1 -> 1 bits)
    >>> encoder.project([[-3.0], [0.5], [3.0]])  # |x| - 2
    array([[ 1. ],
           [-1.5],
           [ 1. ]], dtype=float32)
    """

    kind: ClassVar[str] = "mlp"

    def __init__(
        self,
        weights: Sequence[ArrayLike],
        biases: Sequence[ArrayLike],
        *,
        zero_bit: int = 0,
    ) -> None:
        if len(weights) != len(biases) or not 1 <= len(weights) <= MAX_LAYERS:
            raise ArgumentError(
                f"need 1 to {MAX_LAYERS} layers, a matrix and a bias for each, got "
                f"{len(weights)} matrices and {len(biases)} biases"
            )
        self.weights: Layers = tuple(map(frozen, weights))
        self.biases: Layers = tuple(map(frozen, biases))
        self.zero_bit = check_zero_bit(zero_bit)
        layers = zip(self.weights, self.biases, strict=True)
        for number, (matrix, bias) in enumerate(layers, 1):
            try:
                check_affine(matrix.shape, matrix, bias)
            except ArgumentError as error:
                raise ArgumentError(f"layer {number}: {error}") from None
        for number, (before, after) in enumerate(pairwise(self.weights), 1):
            if before.shape[1] != len(after):
                raise ArgumentError(
                    f"layer {number} gives {before.shape[1]} values, but layer "
                    f"{number + 1} takes {len(after)}"
                )

        self.n_features, self.n_bits = len(self.weights[0]), len(self.biases[-1])

    @classmethod
    def from_tensors(cls, tensors: Tensors, zero_bit: int) -> Self:
        numbers = range(len(tensors) // 2)
        weights = [f"weights.{i}" for i in numbers]
        biases = [f"biases.{i}" for i in numbers]
        if set(tensors) != {*weights, *biases}:
            raise ArgumentError(
                "need tensors weights.N and biases.N of layers N = 0, 1, ..., got "
                f"{', '.join(sorted(tensors)[:4])}"
            )
        return cls(
            [tensors[name] for name in weights],
            [tensors[name] for name in biases],
            zero_bit=zero_bit,
        )

    def tensors(self) -> Tensors:
        tensors: Tensors = {}
        for i, layer in enumerate(zip(self.weights, self.biases, strict=True)):
            tensors[f"weights.{i}"], tensors[f"biases.{i}"] = layer
        return tensors

    def _project(self, X: NDArray[np.float32], scores: ScoreArray) -> None:
        for span, inputs in self._last_inputs(X):
            _kernels.linear_scores(
                inputs,
                self.weights[-1],
                self.biases[-1],
                scores[span],
                _kernels.num_threads(),
            )

    def _encode(self, X: NDArray[np.float32], codes: CodeArray) -> None:
        for span, inputs in self._last_inputs(X):
            _kernels.linear_encode(
                inputs,
                self.weights[-1],
                self.biases[-1],
                self.zero_bit,
                codes[span],
                _kernels.num_threads(),
            )

    def _last_inputs(
        self, X: NDArray[np.float32]
    ) -> Iterator[tuple[slice, NDArray[np.float32]]]:
        """Yield the inputs of the last layer, block by block."""
        hidden = list(zip(self.weights[:-1], self.biases[:-1], strict=True))
        widest = max((len(bias) for _, bias in hidden), default=1)
        for span in spans(len(X), _BLOCK_ENTRIES // widest):
            values = X[span]
            for number, (weights, bias) in enumerate(hidden, 1):
                outputs = np.empty((len(values), len(bias)), np.float32)
                threads = _kernels.num_threads()
                _kernels.linear_scores(values, weights, bias, outputs, threads)
                # Below, infinity times zero would be NaN.
                if not np.isfinite(outputs).all():
                    raise FeatureError(
                        f"hidden layer {number} overflows float32 for a row of these "
                        "features; scale them as those that the encoder was trained on"
                    )
                # The larger of 0 and -0 differs between processors: it becomes 0.
                values = np.maximum(outputs, 0, out=outputs)
                values += 0
            yield span, values

    def _prefix(self, n_bits: int) -> Self:
        return type(self)(
            [*self.weights[:-1], self.weights[-1][:, :n_bits]],
            [*self.biases[:-1], self.biases[-1][:n_bits]],
            zero_bit=self.zero_bit,
        )

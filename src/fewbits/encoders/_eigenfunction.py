"""Sign of a sine along an axis."""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar, Self, final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fewbits import _kernels
from fewbits._checks import check_zero_bit
from fewbits._spans import spans
from fewbits._typing import CodeArray, ScoreArray
from fewbits.encoders._base import Encoder, Tensors, frozen
from fewbits.encoders._elementary import sine_of
from fewbits.encoders._linear import check_affine
from fewbits.errors import ArgumentError

#: Numbers in flight at a time: in float64 they fit in the cache of one core.
_BLOCK_ENTRIES = 1 << 16


@final
class EigenfunctionEncoder(Encoder):
    """One wave per bit, along one of a few directions.

    The score of bit ``j`` is ``sin(pi * (modes[j] * (x @ weights[:, axes[j]]) +
    bias[j]))``. Spectral hashing deploys as this class, with a bias that makes the sine
    a cosine which starts at the lower end of each axis.

    Parameters
    ----------
    weights : array-like of shape (n_features, n_axes)
    axes : array-like of int32, shape (n_bits,)
        The column of `weights` that each bit looks at.
    modes : array-like of int32, shape (n_bits,)
        Half periods per unit of that axis, 1 or more.
    bias : array-like of shape (n_bits,)
        In half periods.

    References
    ----------
    Weiss, Torralba and Fergus, "Spectral Hashing", NIPS 2008.

    Examples
    --------
    >>> encoder = EigenfunctionEncoder([[1.0]], axes=[0, 0], modes=[1, 2], bias=[0, 0])
    >>> encoder
    EigenfunctionEncoder(1 -> 2 bits)
    >>> encoder.project([[0.5], [0.75], [1.25]])
    array([[ 1.        ,  0.        ],
           [ 0.70710677, -1.        ],
           [-0.70710677,  1.        ]], dtype=float32)
    """

    kind: ClassVar[str] = "eigenfunction"

    def __init__(
        self,
        weights: ArrayLike,
        axes: ArrayLike,
        modes: ArrayLike,
        bias: ArrayLike,
        *,
        zero_bit: int = 0,
    ) -> None:
        self.weights, self.bias = frozen(weights), frozen(bias)
        self.axes, self.modes = frozen(axes, np.int32), frozen(modes, np.int32)
        self.zero_bit = check_zero_bit(zero_bit)
        weights, axes, modes, bias = self.weights, self.axes, self.modes, self.bias
        shapes = weights.shape, axes.shape, modes.shape, bias.shape
        if [len(shape) for shape in shapes] != [2, 1, 1, 1] or len(set(shapes[1:])) > 1:
            raise ArgumentError(
                "need weights (n_features, n_axes) and one axis, mode and bias per "
                "bit, got weights {}, axes {}, modes {} and bias {}".format(*shapes)
            )
        check_affine((len(weights), len(bias)), weights, bias)
        self.n_features, self.n_bits = len(weights), len(bias)
        n_axes = weights.shape[1]
        if not n_axes or axes.min() < 0 or axes.max() >= n_axes:
            raise ArgumentError(
                f"each of axes must be one of {n_axes} columns, from 0 on"
            )
        if modes.min() < 1:
            raise ArgumentError(f"modes must be 1 or more, got {modes.min()}")

    def tensors(self) -> Tensors:
        return {
            "weights": self.weights,
            "axes": self.axes,
            "modes": self.modes,
            "bias": self.bias,
        }

    def _project(self, X: NDArray[np.float32], scores: ScoreArray) -> None:
        for span, nodes in self._nodes(X):
            scores[span] = sine_of(nodes)

    def _encode(self, X: NDArray[np.float32], codes: CodeArray) -> None:
        # The sine has the sign of its argument, also in float32: an argument other than
        # 0 is no smaller than the smallest float32.
        for span, nodes in self._nodes(X):
            bits = nodes >= 0 if self.zero_bit else nodes > 0
            codes[span] = np.packbits(bits, axis=1)

    def _nodes(
        self, X: NDArray[np.float32]
    ) -> Iterator[tuple[slice, NDArray[np.float64]]]:
        """Yield w in [-1/2, 1/2] such that a score is ``sin(pi w)``, block by block."""
        n_axes = self.weights.shape[1]
        zeros = np.zeros(n_axes, np.float32)
        for span in spans(len(X), _BLOCK_ENTRIES // max(n_axes, self.n_bits)):
            rows = X[span]
            along = np.empty((len(rows), n_axes), np.float32)
            _kernels.linear_scores(
                rows, self.weights, zeros, along, _kernels.num_threads()
            )
            # A float64 holds the product of a float32 and any mode below 2^29.
            angles = np.multiply(along.take(self.axes, axis=1), self.modes, dtype=float)
            angles += self.bias
            yield span, _reduced(angles)

    def _prefix(self, n_bits: int) -> Self:
        axes = self.axes[:n_bits]
        return type(self)(
            self.weights[:, : axes.max() + 1],
            axes,
            self.modes[:n_bits],
            self.bias[:n_bits],
            zero_bit=self.zero_bit,
        )


def _reduced(angles: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return w in [-1/2, 1/2] with sin(pi w) = sin(pi angle), in place of `angles`."""
    # Taking off a multiple of 2 is exact, and so is folding at +-1/2 wherever the sine
    # is near zero: the sign of w is the sign of the sine. An infinite angle gives NaN.
    turns = np.rint(0.5 * angles)
    turns *= 2
    with np.errstate(invalid="ignore"):
        angles -= turns
    np.minimum(angles, 1 - angles, out=angles)
    return np.maximum(angles, -1 - angles, out=angles)

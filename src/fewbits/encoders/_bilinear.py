"""Sign of products with a matrix on either side."""

from typing import ClassVar, Self, final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fewbits import _kernels
from fewbits._typing import CodeArray, ScoreArray
from fewbits.codes import n_bytes
from fewbits.encoders._base import Tensors, frozen
from fewbits.encoders._sized import SizedEncoder
from fewbits.errors import ArgumentError

Float32Array = NDArray[np.float32]


@final
class BilinearEncoder(SizedEncoder):
    """Features as a matrix, multiplied from the left and from the right.

    The features, padded with zeros, fill a matrix Z of d1 rows and d2 columns row by
    row. The score of bit ``j`` is entry ``(j % b1, j // b1)`` of ``left' Z right``,
    plus ``bias[j]``. It takes two small products instead of one with ``d1 * d2 *
    n_bits`` weights.

    Parameters
    ----------
    left : array-like of shape (d1, b1)
    right : array-like of shape (d2, b2)
        With ``b2 = ceil(n_bits / b1)``: the last column may give too many bits.
    bias : array-like of shape (n_bits,)
    n_features : int
        At most ``d1 * d2``, and more than ``d1 * d2 - d2``.
    zero_bit : {0, 1}, default=0
        The bit of a score of exactly zero.

    Attributes
    ----------
    left : ndarray of shape (d1, b1), dtype float32
        Read-only, as are `right` and `bias`.
    right : ndarray of shape (d2, b2), dtype float32
    bias : ndarray of shape (n_bits,), dtype float32

    Raises
    ------
    ArgumentError
        When the shapes do not match or a number is not finite in float32.

    Notes
    -----
    Each number of both products is one chain of fused multiply-adds, right before left.
    The bias is added last.

    References
    ----------
    Gong, Kumar, Rowley and Lazebnik, "Learning Binary Codes for High-Dimensional Data
    Using Bilinear Projections", CVPR 2013.

    Examples
    --------
    >>> encoder = BilinearEncoder([[1.0], [-1.0]], [[1.0], [2.0]], [0.5], n_features=4)
    >>> encoder
    BilinearEncoder(4 -> 1 bits)
    >>> encoder.project([[1.0, 2.0, 3.0, 4.0]])
    array([[-5.5]], dtype=float32)
    """

    kind: ClassVar[str] = "bilinear"

    def __init__(
        self,
        left: ArrayLike,
        right: ArrayLike,
        bias: ArrayLike,
        n_features: ArrayLike,
        *,
        zero_bit: int = 0,
    ) -> None:
        super().__init__(bias, n_features, zero_bit)
        self.left, self.right = frozen(left), frozen(right)
        _check_sides(self.left, self.right, self.bias, self._n_features)

    def tensors(self) -> Tensors:
        return {
            "left": self.left,
            "right": self.right,
            **super().tensors(),
        }

    def _project(self, X: Float32Array, scores: ScoreArray) -> None:
        threads = _kernels.num_threads()
        _kernels.bilinear_scores(X, self.left, self.right, self.bias, scores, threads)

    def _encode(self, X: Float32Array, codes: CodeArray) -> None:
        _kernels.bilinear_encode(
            *(X, self.left, self.right, self.bias, self.zero_bit),
            *(codes, _kernels.num_threads()),
        )

    def _prefix(self, n_bits: int) -> Self:
        b2 = -(-n_bits // self.left.shape[1])
        return type(self)(
            self.left,
            self.right[:, :b2],
            self.bias[:n_bits],
            self.n_features,
            zero_bit=self.zero_bit,
        )


def _check_sides(
    left: Float32Array, right: Float32Array, bias: Float32Array, n_features: int
) -> None:
    if left.ndim != 2 or right.ndim != 2 or bias.ndim != 1 or not left.size:
        raise ArgumentError(
            "need left (d1, b1), right (d2, b2) and one bias for each bit, got left "
            f"{left.shape}, right {right.shape} and bias {bias.shape}"
        )
    n_bytes(len(bias))
    (d1, b1), (d2, b2) = left.shape, right.shape
    if not d1 * d2 - d2 < n_features <= d1 * d2:
        raise ArgumentError(
            f"{n_features} features do not fill {d1} rows of {d2}: left {left.shape} "
            f"and right {right.shape} need {d1 * d2 - d2 + 1} to {d1 * d2}"
        )
    if b2 != -(-len(bias) // b1):
        raise ArgumentError(
            f"{len(bias)} bits behind {b1} columns of left need {-(-len(bias) // b1)} "
            f"columns of right, got {b2}"
        )
    if not all(np.isfinite(array).all() for array in (left, right, bias)):
        raise ArgumentError("matrices and bias must be finite in float32")

"""Sign of rounds of small dense blocks and Walsh-Hadamard transforms."""

from typing import ClassVar, Self, final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fewbits import _kernels
from fewbits._typing import CodeArray, ScoreArray
from fewbits.codes import n_bytes
from fewbits.encoders._base import Encoder, Tensors, as_zero_bit, frozen
from fewbits.encoders._hadamard import MAX_ROUNDS, padded_size
from fewbits.errors import ArgumentError

WIDTHS = (1, 16)


@final
class BlockHadamardEncoder(Encoder):
    """Rounds of a block-diagonal matrix and a Walsh-Hadamard transform, and the sign.

    What `HadamardEncoder` is for random signs, this is for weights that are learned: a
    round multiplies neighbouring numbers by a small dense matrix of their own, and the
    transform spreads each result over all numbers. A round has ``size * width`` weights
    and takes as many multiply-adds, beside ``size * log2(size)`` additions; `size` is
    the power of 2, at least 16, that `n_features` is padded to with zeros. A series of
    rounds gives `size` outputs; longer codes take several series, and the last one
    drops the outputs that are too many.

    Parameters
    ----------
    weights : array-like of shape (n_series, n_rounds, size, width)
        Row i of a round is what number i is worth to each of the `width` numbers of its
        block; `width` is 16, or 1 for diagonal matrices.
    bias : array-like of shape (n_bits,)
        Added to the outputs; as many as `n_series` series are needed for.
    n_features : int
    zero_bit : {0, 1}, default=0
        The bit of a score of exactly zero.

    Raises
    ------
    ArgumentError
        When the shapes do not match or a number is not finite in float32.

    Notes
    -----
    The transform is that of Sylvester's matrix of 1 and -1, which is not scaled: where
    it shall be orthogonal, the weights hold the factor ``size ** -0.5``. A score is
    defined to the last bit, so that a row has the same scores everywhere.

    Examples
    --------
    >>> import numpy as np
    >>> encoder = BlockHadamardEncoder(np.ones((1, 1, 16, 1)), np.zeros(4), 3)
    >>> encoder
    BlockHadamardEncoder(3 -> 4 bits)
    >>> encoder.project([[4.0, 8.0, 0.0]])
    array([[12., -4., 12., -4.]], dtype=float32)
    """

    kind: ClassVar[str] = "block-hadamard"

    def __init__(
        self,
        weights: ArrayLike,
        bias: ArrayLike,
        n_features: ArrayLike,
        *,
        zero_bit: int = 0,
    ) -> None:
        self.weights, self.bias = frozen(weights), frozen(bias)
        self._n_features = int(frozen(n_features, np.int64).item())
        self.zero_bit = as_zero_bit(zero_bit)
        _check_rounds(self.weights, self.bias, self._n_features)

    @property
    def n_features(self) -> int:
        return self._n_features

    @property
    def n_bits(self) -> int:
        return len(self.bias)

    @property
    def n_rounds(self) -> int:
        return int(self.weights.shape[1])

    def tensors(self) -> Tensors:
        return {
            "weights": self.weights,
            "bias": self.bias,
            "n_features": np.array([self.n_features], np.int64),
        }

    def _project(self, X: NDArray[np.float32], scores: ScoreArray) -> None:
        _kernels.hadamard_scores(
            X, self.weights, self.bias, scores, _kernels.num_threads()
        )

    def _encode(self, X: NDArray[np.float32], codes: CodeArray) -> None:
        _kernels.hadamard_encode(
            X, self.weights, self.bias, self.zero_bit, codes, _kernels.num_threads()
        )

    def _prefix(self, n_bits: int) -> Self:
        n_series = -(-n_bits // padded_size(self.n_features))
        return type(self)(
            self.weights[:n_series],
            self.bias[:n_bits],
            self.n_features,
            zero_bit=self.zero_bit,
        )


def _check_rounds(
    weights: NDArray[np.float32], bias: NDArray[np.float32], n_features: int
) -> None:
    size = padded_size(n_features)
    if bias.ndim != 1 or not np.isfinite(bias).all():
        raise ArgumentError(
            f"need one finite bias for each bit, got an array of shape {bias.shape}"
        )
    n_bytes(len(bias))
    n_series = -(-len(bias) // size)
    if (
        weights.ndim != 4
        or weights.shape[::2] != (n_series, size)
        or not 1 <= weights.shape[1] <= MAX_ROUNDS
        or weights.shape[3] not in WIDTHS
    ):
        raise ArgumentError(
            f"{len(bias)} bits of {n_features} features need weights of shape "
            f"({n_series}, 1 to {MAX_ROUNDS} rounds, {size}, 1 or 16), "
            f"got {weights.shape}"
        )
    if not np.isfinite(weights).all():
        raise ArgumentError("weights must be finite in float32")

"""Sign of randomly signed Walsh-Hadamard transforms."""

from functools import cached_property
from typing import Any, ClassVar, Self, final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fewbits import _kernels
from fewbits._typing import CodeArray, ScoreArray
from fewbits.codes import n_bytes
from fewbits.encoders._base import Encoder, Tensors, as_zero_bit, frozen
from fewbits.errors import ArgumentError

#: No transform is smaller: one register of the widest instruction set.
_MIN_SIZE = 16
_MAX_FEATURES = 1 << 24
MAX_ROUNDS = 16


@final
class HadamardEncoder(Encoder):
    """Rounds of random signs and a Walsh-Hadamard transform, and the sign of the last.

    A round flips the signs of some numbers and multiplies by the Hadamard matrix of
    Sylvester, scaled to be orthogonal. That takes ``size * log2(size)`` additions and
    no weights: `size` is the power of 2, at least 16, that `n_features` is padded to
    with zeros. A block of rounds gives `size` outputs; longer codes take several
    blocks, and the last one drops the outputs that are too many.

    Parameters
    ----------
    signs : array-like of uint8, shape (n_blocks, n_rounds, size / 8)
        One bit for each number of each round, packed as codes are; a set bit makes the
        number negative.
    bias : array-like of shape (n_bits,)
        Added to the outputs; as many as `n_blocks` blocks are needed for.
    n_features : int
    zero_bit : {0, 1}, default=0
        The bit of a score of exactly zero.

    Raises
    ------
    ArgumentError
        When the shapes do not match or a number is not finite in float32.

    Notes
    -----
    Each stage of a transform adds or subtracts pairs of float32 numbers, in one fixed
    order of stages, so that a row has the same scores everywhere.

    Examples
    --------
    >>> import numpy as np
    >>> encoder = HadamardEncoder(np.zeros((1, 1, 2)), np.zeros(4), n_features=3)
    >>> encoder
    HadamardEncoder(3 -> 4 bits)
    >>> encoder.project([[4.0, 8.0, 0.0]])
    array([[ 3., -1.,  3., -1.]], dtype=float32)
    """

    kind: ClassVar[str] = "hadamard"

    def __init__(
        self,
        signs: ArrayLike,
        bias: ArrayLike,
        n_features: ArrayLike,
        *,
        zero_bit: int = 0,
    ) -> None:
        whole = np.asarray(signs).astype(np.int64, copy=False)
        self.signs, self.bias = frozen(whole, np.uint8), frozen(bias)
        self._n_features = int(frozen(n_features, np.int64).item())
        self.zero_bit = as_zero_bit(zero_bit)
        _check_rounds(self.signs, self.bias, self._n_features)

    @property
    def n_features(self) -> int:
        return self._n_features

    @property
    def n_bits(self) -> int:
        return len(self.bias)

    @property
    def n_rounds(self) -> int:
        return int(self.signs.shape[1])

    def tensors(self) -> Tensors:
        return {
            "signs": self.signs,
            "bias": self.bias,
            "n_features": np.array([self.n_features], np.int64),
        }

    @cached_property
    def _diagonals(self) -> NDArray[np.float32]:
        """The signs as numbers, which make the transform behind them orthogonal."""
        bits = np.unpackbits(self.signs, axis=2)[..., None]
        scale = np.float32(bits.shape[2] ** -0.5)
        return np.where(bits, -scale, scale)

    def __getstate__(self) -> dict[str, Any]:
        return {k: x for k, x in self.__dict__.items() if k != "_diagonals"}

    def _project(self, X: NDArray[np.float32], scores: ScoreArray) -> None:
        _kernels.hadamard_scores(
            X, self._diagonals, self.bias, scores, _kernels.num_threads()
        )

    def _encode(self, X: NDArray[np.float32], codes: CodeArray) -> None:
        _kernels.hadamard_encode(
            X, self._diagonals, self.bias, self.zero_bit, codes, _kernels.num_threads()
        )

    def _prefix(self, n_bits: int) -> Self:
        n_blocks = -(-n_bits // padded_size(self.n_features))
        return type(self)(
            self.signs[:n_blocks],
            self.bias[:n_bits],
            self.n_features,
            zero_bit=self.zero_bit,
        )


def padded_size(n_features: int) -> int:
    """Return the size of the transform that takes `n_features` numbers."""
    if not 1 <= n_features <= _MAX_FEATURES:
        raise ArgumentError(
            f"need 1 to {_MAX_FEATURES} features for a transform, got {n_features}"
        )
    return max(_MIN_SIZE, 1 << (n_features - 1).bit_length())


def _check_rounds(
    signs: NDArray[np.uint8], bias: NDArray[np.float32], n_features: int
) -> None:
    size = padded_size(n_features)
    if bias.ndim != 1 or not np.isfinite(bias).all():
        raise ArgumentError(
            f"need one finite bias for each bit, got an array of shape {bias.shape}"
        )
    n_bytes(len(bias))
    n_blocks = -(-len(bias) // size)
    if (
        signs.ndim != 3
        or signs.shape[::2] != (n_blocks, size // 8)
        or not 1 <= signs.shape[1] <= MAX_ROUNDS
    ):
        raise ArgumentError(
            f"{len(bias)} bits of {n_features} features need signs of shape "
            f"({n_blocks}, 1 to {MAX_ROUNDS} rounds, {size // 8}), got {signs.shape}"
        )

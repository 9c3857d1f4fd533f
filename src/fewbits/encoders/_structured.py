"""Signs of products with structured matrices: fewer weights, and less to compute."""

from __future__ import annotations

from abc import abstractmethod
from functools import cached_property, lru_cache
from typing import Any, ClassVar, Self, final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fewbits import _kernels
from fewbits._checks import check_zero_bit
from fewbits._frozen import frozen_array
from fewbits._kernels import ring
from fewbits.codes import n_bytes
from fewbits.encoders._base import (
    KernelEncoder,
    SizedEncoder,
    Tensors,
    check_finite,
    frozen,
)
from fewbits.encoders._elementary import cosine_and_sine
from fewbits.errors import ArgumentError

Float32Array = NDArray[np.float32]

#: No transform is smaller: one register of the widest instruction set.
_MIN_SIZE = 16
_MAX_FEATURES = 1 << 24
#: Transforms that a vector passes, at most.
MAX_ROUNDS = 16


class RoundsEncoder(SizedEncoder):
    """Series of rounds, each a block-diagonal matrix and a Walsh-Hadamard transform."""

    #: The name of what makes the matrices, whose first axes are series and rounds.
    stored: ClassVar[str]
    _scores_kernel = staticmethod(_kernels.hadamard_scores)
    _codes_kernel = staticmethod(_kernels.hadamard_encode)

    def __init__(
        self,
        rounds: NDArray[Any],
        bias: ArrayLike,
        n_features: ArrayLike,
        zero_bit: int,
    ) -> None:
        super().__init__(bias, n_features, zero_bit)
        self._rounds, bias, shape = rounds, self.bias, rounds.shape
        if bias.ndim != 1:
            raise ArgumentError(
                f"need one bias for each bit, got an array of shape {bias.shape}"
            )
        check_finite("bias", bias)
        n_bytes(len(bias))
        size = padded_size(self.n_features)
        n_series, tails = -(-len(bias) // size), self._tails(size)
        fits = len(shape) > 2 and shape[0] == n_series and shape[2:] in tails
        if not (fits and 1 <= shape[1] <= MAX_ROUNDS):
            named = " or ".join(", ".join(map(str, tail)) for tail in tails)
            raise ArgumentError(
                f"{len(bias)} bits of {self.n_features} features need {self.stored} of "
                f"shape ({n_series}, 1 to {MAX_ROUNDS} rounds, {named}), got {shape}"
            )

    @property
    @abstractmethod
    def _matrices(self) -> NDArray[np.float32]:
        """The blocks, of shape (n_series, n_rounds, size, width)."""

    @staticmethod
    @abstractmethod
    def _tails(size: int) -> list[tuple[int, ...]]:
        """Return the shapes that a round may be stored in."""

    @property
    def n_rounds(self) -> int:
        """Transforms that a vector passes, each behind its blocks."""
        return int(self._rounds.shape[1])

    def tensors(self) -> Tensors:
        return {self.stored: self._rounds, **super().tensors()}

    @property
    def _arrays(self) -> tuple[Any, ...]:
        return self._matrices, self.bias

    def _prefix(self, n_bits: int) -> Self:
        n_series = -(-n_bits // padded_size(self.n_features))
        parts = {self.stored: self._rounds[:n_series], "bias": self.bias[:n_bits]}
        return self.from_tensors(self.tensors() | parts, self.zero_bit)


def padded_size(n_features: int) -> int:
    """Return the size of a transform: the next power of two, 16 at least."""
    if not 1 <= n_features <= _MAX_FEATURES:
        raise ArgumentError(
            f"need 1 to {_MAX_FEATURES} features for a transform, got {n_features}"
        )
    return max(_MIN_SIZE, 1 << (n_features - 1).bit_length())


@final
class HadamardEncoder(RoundsEncoder):
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

    References
    ----------
    Andoni, Indyk, Laarhoven, Razenshteyn and Schmidt, "Practical and Optimal LSH for
    Angular Distance", NIPS 2015, for three rounds of signs in the place of a rotation.

    Examples
    --------
    >>> import numpy as np
    >>> signs = np.zeros((1, 1, 2), dtype=np.uint8)
    >>> encoder = HadamardEncoder(signs, np.zeros(4), n_features=3)
    >>> encoder
    HadamardEncoder(3 -> 4 bits)
    >>> encoder.project([[4.0, 8.0, 0.0]])
    array([[ 3., -1.,  3., -1.]], dtype=float32)
    """

    kind: ClassVar[str] = "hadamard"
    stored: ClassVar[str] = "signs"

    def __init__(
        self,
        signs: ArrayLike,
        bias: ArrayLike,
        n_features: ArrayLike,
        *,
        zero_bit: int = 0,
    ) -> None:
        self.signs = frozen(signs, np.uint8)
        super().__init__(self.signs, bias, n_features, zero_bit)

    @staticmethod
    def _tails(size: int) -> list[tuple[int, ...]]:
        return [(size // 8,)]

    @cached_property
    def _matrices(self) -> NDArray[np.float32]:
        """The signs as numbers, which make the transform behind them orthogonal."""
        bits = np.unpackbits(self.signs, axis=2)[..., None]
        scale = np.float32(bits.shape[2] ** -0.5)
        return frozen_array(np.where(bits, -scale, scale))


#: Widths of blocks: diagonal matrices, and one register of the widest instruction set.
BLOCK_WIDTHS = (1, 16)


@final
class BlockHadamardEncoder(RoundsEncoder):
    """Rounds of a block-diagonal matrix and a Walsh-Hadamard transform, and the sign.

    The counterpart of `HadamardEncoder` with learnt weights instead of random signs: a
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

    Notes
    -----
    The transform is that of Sylvester's matrix of 1 and -1, which is not scaled: where
    it must be orthogonal, the weights hold the factor ``size ** -0.5``.

    References
    ----------
    Yang, Moczulski, Denil, de Freitas, Smola, Song and Wang, "Deep Fried Convnets",
    ICCV 2015, for diagonal matrices.

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
    stored: ClassVar[str] = "weights"

    def __init__(
        self,
        weights: ArrayLike,
        bias: ArrayLike,
        n_features: ArrayLike,
        *,
        zero_bit: int = 0,
    ) -> None:
        self.weights = frozen(weights)
        super().__init__(self.weights, bias, n_features, zero_bit)
        check_finite("weights", self.weights)

    @staticmethod
    def _tails(size: int) -> list[tuple[int, ...]]:
        return [(size, width) for width in BLOCK_WIDTHS]

    @property
    def _matrices(self) -> NDArray[np.float32]:
        return self.weights


@final
class CirculantEncoder(KernelEncoder):
    """Signs, then one or more circulant matrices, and the sign of the result.

    The score of bit ``j`` is ``sum_i columns[k, (j - i) % d] * s[i] * x[i]`` plus
    ``bias[j]``, where d is `n_features`, `s` is -1 where a sign bit is set and else 1,
    and ``k = j // d``: each matrix gives d outputs, and the last one drops those that
    are too many.

    Parameters
    ----------
    columns : array-like of shape (n_blocks, n_features)
        The first column of each matrix, as many matrices as the bits need.
    signs : array-like of uint8, shape (ceil(n_features / 8),)
        One bit for each feature, packed as codes are.
    bias : array-like of shape (n_bits,)

    Notes
    -----
    The product is one of polynomials, by a transform of our own, which does the same
    operations in the same order everywhere; a score may differ from that of a matrix
    product by a few units of 1e-7 of the lengths of the row and the column.

    References
    ----------
    Yu, Kumar, Gong and Chang, "Circulant Binary Embedding", ICML 2014.

    Examples
    --------
    >>> encoder = CirculantEncoder([[1.0, 2.0, 0.0]], [0], [0.0, 0.0, 0.0])
    >>> encoder
    CirculantEncoder(3 -> 3 bits)
    >>> encoder.project([[1.0, 0.0, 10.0]]).round(3)
    array([[21.,  2., 10.]], dtype=float32)
    """

    kind: ClassVar[str] = "circulant"
    _scores_kernel = staticmethod(_kernels.circulant_scores)
    _codes_kernel = staticmethod(_kernels.circulant_encode)

    def __init__(
        self,
        columns: ArrayLike,
        signs: ArrayLike,
        bias: ArrayLike,
        *,
        zero_bit: int = 0,
    ) -> None:
        self.columns, self.bias = frozen(columns), frozen(bias)
        self.signs = frozen(signs, np.uint8)
        self.zero_bit = check_zero_bit(zero_bit)
        columns, signs, bias = self.columns, self.signs, self.bias
        if columns.ndim != 2 or not columns.shape[1] or bias.ndim != 1:
            raise ArgumentError(
                "need columns (n_blocks, n_features) and one bias for each bit, got "
                f"columns {columns.shape} and bias {bias.shape}"
            )
        n_bytes(len(bias))
        d = columns.shape[1]
        padded_size(d)
        if len(columns) != -(-len(bias) // d) or signs.shape != (-(-d // 8),):
            raise ArgumentError(
                f"{len(bias)} bits of {d} features need {-(-len(bias) // d)} columns "
                f"and {-(-d // 8)} bytes of signs, got {len(columns)} and shape "
                f"{signs.shape}"
            )
        check_finite("columns and bias", columns, bias)
        self.n_features, self.n_bits = d, len(bias)

    def tensors(self) -> Tensors:
        return {"columns": self.columns, "signs": self.signs, "bias": self.bias}

    @cached_property
    def _diagonal(self) -> NDArray[np.float32]:
        bits = np.unpackbits(self.signs, count=self.n_features)
        return frozen_array(np.where(bits, np.float32(-1), np.float32(1)))

    @cached_property
    def _spectra(self) -> NDArray[np.float32]:
        """Transforms of the matrices as polynomials, with a factor for the way back."""
        # Row minus column, from 1 - d to d - 1, is the power of X; below zero it is
        # taken modulo X^(2 size) + 1, which makes the coefficient negative.
        d, size = self.n_features, padded_size(self.n_features)
        re, im = np.zeros((2, len(self.columns), size))
        re[:, :d] = self.columns
        im[:, size - d + 1 :] = -self.columns[:, 1:]
        parts = ring.forward((re, im), _roots(size))
        return frozen_array((np.stack(parts, axis=1) / size).astype(np.float32))

    @property
    def _arrays(self) -> tuple[Any, ...]:
        roots = _single_roots(padded_size(self.n_features))
        return self._diagonal, roots, self._spectra, self.bias

    def _prefix(self, n_bits: int) -> Self:
        n_blocks = -(-n_bits // self.n_features)
        return type(self)(
            self.columns[:n_blocks],
            self.signs,
            self.bias[:n_bits],
            zero_bit=self.zero_bit,
        )


def _roots(size: int) -> NDArray[np.float64]:
    return np.stack(cosine_and_sine(ring.turns(size)))


@lru_cache(maxsize=8)
def _single_roots(size: int) -> NDArray[np.float32]:
    return _roots(size).astype(np.float32)


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
    _scores_kernel = staticmethod(_kernels.bilinear_scores)
    _codes_kernel = staticmethod(_kernels.bilinear_encode)

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
        left, right, bias = self.left, self.right, self.bias
        if left.ndim != 2 or right.ndim != 2 or bias.ndim != 1 or not left.size:
            raise ArgumentError(
                "need left (d1, b1), right (d2, b2) and one bias for each bit, got "
                f"left {left.shape}, right {right.shape} and bias {bias.shape}"
            )
        n_bytes(len(bias))
        (d1, b1), (d2, b2) = left.shape, right.shape
        if not d1 * d2 - d2 < self.n_features <= d1 * d2:
            raise ArgumentError(
                f"{self.n_features} features do not fill {d1} rows of {d2}: left "
                f"{left.shape} and right {right.shape} need {d1 * d2 - d2 + 1} to "
                f"{d1 * d2}"
            )
        if b2 != -(-len(bias) // b1):
            raise ArgumentError(
                f"{len(bias)} bits behind {b1} columns of left need "
                f"{-(-len(bias) // b1)} columns of right, got {b2}"
            )
        check_finite("matrices and bias", left, right, bias)

    def tensors(self) -> Tensors:
        return {"left": self.left, "right": self.right, **super().tensors()}

    @property
    def _arrays(self) -> tuple[Any, ...]:
        return self.left, self.right, self.bias

    def _prefix(self, n_bits: int) -> Self:
        b2 = -(-n_bits // self.left.shape[1])
        return type(self)(
            self.left,
            self.right[:, :b2],
            self.bias[:n_bits],
            self.n_features,
            zero_bit=self.zero_bit,
        )

"""Sign of products with circulant matrices."""

from functools import cached_property, lru_cache
from typing import ClassVar, Self, final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fewbits import _kernels
from fewbits._frozen import frozen_array
from fewbits._kernels import ring
from fewbits._typing import CodeArray, ScoreArray
from fewbits.codes import n_bytes
from fewbits.encoders._base import Encoder, Tensors, as_zero_bit, frozen
from fewbits.encoders._elementary import cosine_and_sine
from fewbits.encoders._rounds import padded_size
from fewbits.errors import ArgumentError

Float32Array = NDArray[np.float32]


@final
class CirculantEncoder(Encoder):
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
    zero_bit : {0, 1}, default=0
        The bit of a score of exactly zero.

    Attributes
    ----------
    columns : ndarray of shape (n_blocks, n_features), dtype float32
        Read-only, as are `signs` and `bias`.
    signs : ndarray of shape (ceil(n_features / 8),), dtype uint8
    bias : ndarray of shape (n_bits,), dtype float32

    Raises
    ------
    ArgumentError
        When the shapes do not match or a number is not finite in float32.

    Notes
    -----
    The product is one of polynomials, by a transform of the features padded to a power
    of 2 and one back for each matrix. SciPy's and NumPy's transforms are not used: how
    they round depends on how they were compiled and on whether rows come alone, and
    their roots of unity on the machine's sine. Ours does the same operations in the
    same order everywhere; a score may differ from that of a matrix product by a few
    units of 1e-7 of the lengths of the row and the column.

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
        self.zero_bit = as_zero_bit(zero_bit)
        _check_circulant(self.columns, self.signs, self.bias)

    @property
    def n_features(self) -> int:
        return int(self.columns.shape[1])

    @property
    def n_bits(self) -> int:
        return len(self.bias)

    def tensors(self) -> Tensors:
        return {"columns": self.columns, "signs": self.signs, "bias": self.bias}

    @cached_property
    def _diagonal(self) -> NDArray[np.float32]:
        bits = np.unpackbits(self.signs, count=self.n_features)
        return frozen_array(np.where(bits, np.float32(-1), np.float32(1)))

    @cached_property
    def _spectra(self) -> NDArray[np.float32]:
        """Transforms of the matrices as polynomials, with the factor of the way back.

        Row minus column, from ``1 - d`` to ``d - 1``, is the power of X; below zero it
        is taken modulo ``X^(2 size) + 1``, which makes the coefficient negative.
        """
        d, size = self.n_features, padded_size(self.n_features)
        re, im = np.zeros((2, len(self.columns), size))
        re[:, :d] = self.columns
        im[:, size - d + 1 :] = -self.columns[:, 1:]
        parts = ring.forward((re, im), _roots(size))
        return frozen_array((np.stack(parts, axis=1) / size).astype(np.float32))

    @property
    def _arrays(self) -> tuple[Float32Array, Float32Array, Float32Array, Float32Array]:
        roots = _single_roots(padded_size(self.n_features))
        return self._diagonal, roots, self._spectra, self.bias

    def _project(self, X: Float32Array, scores: ScoreArray) -> None:
        _kernels.circulant_scores(X, *self._arrays, scores, _kernels.num_threads())

    def _encode(self, X: Float32Array, codes: CodeArray) -> None:
        _kernels.circulant_encode(
            X, *self._arrays, self.zero_bit, codes, _kernels.num_threads()
        )

    def _prefix(self, n_bits: int) -> Self:
        n_blocks = -(-n_bits // self.n_features)
        return type(self)(
            self.columns[:n_blocks],
            self.signs,
            self.bias[:n_bits],
            zero_bit=self.zero_bit,
        )


def _roots(size: int) -> NDArray[np.float64]:
    """Return real and imaginary parts of the root of each node."""
    return np.stack(cosine_and_sine(ring.turns(size)))


@lru_cache(maxsize=8)
def _single_roots(size: int) -> NDArray[np.float32]:
    return _roots(size).astype(np.float32)


def _check_circulant(
    columns: NDArray[np.float32], signs: NDArray[np.uint8], bias: NDArray[np.float32]
) -> None:
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
            f"{len(bias)} bits of {d} features need {-(-len(bias) // d)} columns and "
            f"{-(-d // 8)} bytes of signs, got {len(columns)} and shape {signs.shape}"
        )
    if not (np.isfinite(columns).all() and np.isfinite(bias).all()):
        raise ArgumentError("columns and bias must be finite in float32")

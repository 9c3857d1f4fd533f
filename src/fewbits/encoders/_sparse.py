"""Sign of a sparse affine map."""

from functools import cached_property
from typing import ClassVar, Self, final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fewbits import _kernels
from fewbits._typing import CodeArray, ScoreArray
from fewbits.encoders._base import Tensors, frozen
from fewbits.encoders._linear import check_affine
from fewbits.encoders._sized import SizedEncoder
from fewbits.errors import ArgumentError


@final
class SparseEncoder(SizedEncoder):
    """One hyperplane per bit, most of whose weights are zero.

    The map of bit ``j`` is row ``j`` of a CSR matrix (n_bits, n_features): features
    ``indices[indptr[j]:indptr[j + 1]]`` in rising order with weights `values`.

    Parameters
    ----------
    indptr : array-like of shape (n_bits + 1,)
    indices : array-like of shape (n_nonzero,)
        Feature numbers, strictly rising within each bit.
    values : array-like of shape (n_nonzero,)
    bias : array-like of shape (n_bits,)
    n_features : int
    zero_bit : {0, 1}, default=0
        The bit of a score of exactly zero.

    Attributes
    ----------
    indptr, indices, values, bias : ndarray, dtype int64, int32, float32 and float32
        Read-only.

    Raises
    ------
    ArgumentError
        When the arrays are not a CSR matrix, or a number is not finite in float32.

    References
    ----------
    Xia, He, Kohli and Sun, "Sparse Projections for High-Dimensional Binary Codes", CVPR
    2015.

    Examples
    --------
    >>> encoder = SparseEncoder.from_dense([[1.0, 0.0], [0.0, -2.0]], [0.0, 0.0])
    >>> encoder
    SparseEncoder(2 -> 2 bits)
    >>> encoder.density
    0.5
    >>> encoder.encode([[3.0, 4.0]])
    array([[128]], dtype=uint8)
    """

    kind: ClassVar[str] = "sparse"

    def __init__(
        self,
        indptr: ArrayLike,
        indices: ArrayLike,
        values: ArrayLike,
        bias: ArrayLike,
        n_features: ArrayLike,
        *,
        zero_bit: int = 0,
    ) -> None:
        super().__init__(bias, n_features, zero_bit)
        self.indptr, self.indices = frozen(indptr, np.int64), frozen(indices, np.int32)
        self.values = frozen(values)
        shape = (self._n_features, self.indptr.size - 1)
        check_affine(shape, self.values, self.bias)
        _check_csr(self.indptr, self.indices, self.values, self._n_features)

    @classmethod
    def from_dense(
        cls, weights: ArrayLike, bias: ArrayLike, *, zero_bit: int = 0
    ) -> Self:
        """Keep the non-zero entries of `weights` (n_features, n_bits).

        Parameters
        ----------
        weights : array-like of shape (n_features, n_bits)
        bias : array-like of shape (n_bits,)
        zero_bit : {0, 1}, default=0
            The bit of a score of exactly zero.

        Returns
        -------
        SparseEncoder
            It gives the codes that a `LinearEncoder` of the same arrays gives.
        """
        dense = frozen(weights)
        check_affine(dense.shape, dense, frozen(bias))
        bits, features = np.nonzero(dense.T)
        indptr = np.searchsorted(bits, np.arange(dense.shape[1] + 1))
        values = dense[features, bits]
        return cls(indptr, features, values, bias, len(dense), zero_bit=zero_bit)

    @property
    def density(self) -> float:
        """Share of the weights that are not zero."""
        return len(self.values) / (self.n_features * self.n_bits)

    def tensors(self) -> Tensors:
        return {
            "indptr": self.indptr,
            "indices": self.indices,
            "values": self.values,
            **super().tensors(),
        }

    @cached_property
    def _map(self) -> _kernels.SparseMap:
        arrays = self.indptr, self.indices, self.values, self.bias
        return _kernels.SparseMap(*arrays, self.n_features)

    def _project(self, X: NDArray[np.float32], scores: ScoreArray) -> None:
        _kernels.sparse_scores(X, self._map, scores, _kernels.num_threads())

    def _encode(self, X: NDArray[np.float32], codes: CodeArray) -> None:
        _kernels.sparse_encode(
            X, self._map, self.zero_bit, codes, _kernels.num_threads()
        )

    def _prefix(self, n_bits: int) -> Self:
        end = self.indptr[n_bits]
        return type(self)(
            self.indptr[: n_bits + 1],
            self.indices[:end],
            self.values[:end],
            self.bias[:n_bits],
            self.n_features,
            zero_bit=self.zero_bit,
        )


def _check_csr(
    indptr: NDArray[np.int64],
    indices: NDArray[np.int32],
    values: NDArray[np.float32],
    n_features: int,
) -> None:
    """Refuse what the kernels, which trust these arrays, would read out of bounds."""
    if indptr.ndim != 1 or indices.ndim != 1 or indices.shape != values.shape:
        raise ArgumentError(
            "need vectors with one index per value, got indptr "
            f"{indptr.shape}, indices {indices.shape} and values {values.shape}"
        )
    if indptr[0] != 0 or indptr[-1] != len(indices) or (np.diff(indptr) < 0).any():
        raise ArgumentError("indptr must rise from 0 to the number of values")
    if len(indices) and not (indices.min() >= 0 and indices.max() < n_features):
        raise ArgumentError(f"indices must lie between 0 and {n_features - 1}")
    starts = np.zeros(len(indices), bool)
    starts[indptr[:-1][indptr[:-1] < len(indices)]] = True
    if not (starts[1:] | (np.diff(indices) > 0)).all():
        raise ArgumentError("the indices of each bit must rise strictly")

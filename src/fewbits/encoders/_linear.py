"""Signs of affine maps: dense, sparse, and in blocks."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from typing import Any, ClassVar, Self, final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fewbits import _kernels
from fewbits._checks import check_zero_bit
from fewbits._features import as_rows
from fewbits._typing import ScoreArray
from fewbits.codes import MAX_BITS
from fewbits.encoders._base import (
    KernelEncoder,
    SizedEncoder,
    Tensors,
    check_finite,
    frozen,
)
from fewbits.errors import ArgumentError

_BEYOND = 16  # numbers behind the weights that kernels read, and ignore


@final
class LinearEncoder(KernelEncoder):
    """One hyperplane per bit.

    Every learner whose result is a hyperplane per bit (LSH, PCA, ITQ, linear
    supervised methods) deploys as this class.

    Parameters
    ----------
    weights : array-like of shape (n_features, n_bits)
    bias : array-like of shape (n_bits,)
    query_weights, query_bias : array-like, default=None
        Of the shapes of `weights` and `bias`: what `query_scores` takes in their place.
        A prefix goes without them.

    Examples
    --------
    >>> import numpy as np
    >>> encoder = LinearEncoder(np.eye(2), np.zeros(2))
    >>> encoder
    LinearEncoder(2 -> 2 bits)
    >>> encoder.encode([[1.0, -1.0], [1.0, 1.0]])
    array([[128],
           [192]], dtype=uint8)
    """

    kind: ClassVar[str] = "linear"
    _scores_kernel = staticmethod(_kernels.linear_scores)
    _codes_kernel = staticmethod(_kernels.linear_encode)

    def __init__(
        self,
        weights: ArrayLike,
        bias: ArrayLike,
        *,
        query_weights: ArrayLike | None = None,
        query_bias: ArrayLike | None = None,
        zero_bit: int = 0,
    ) -> None:
        self.weights, self.bias = frozen(weights), frozen(bias)
        self.zero_bit = check_zero_bit(zero_bit)
        shape = self.weights.shape
        check_affine(shape, self.weights, self.bias)
        self.n_features, self.n_bits = shape
        self._queries: LinearEncoder | None = as_query_encoder(
            query_weights, query_bias, shape
        )

    def tensors(self) -> Tensors:
        tensors = {"weights": self.weights, "bias": self.bias}
        if self._queries is not None:
            more = self._queries.tensors().items()
            tensors |= {f"query_{name}": tensor for name, tensor in more}
        return tensors

    def query_scores(self, X: ArrayLike) -> ScoreArray:
        features = as_rows(X, self.n_features, self.feature_names)
        return (self._queries or self).project(features)

    @property
    def _arrays(self) -> tuple[Any, ...]:
        return self.weights, self.bias

    def _prefix(self, n_bits: int) -> Self:
        # Weights of queries were trained for whole codes.
        return type(self)(
            self.weights[:, :n_bits], self.bias[:n_bits], zero_bit=self.zero_bit
        )


@final
class SparseEncoder(SizedEncoder):
    """One hyperplane per bit, most of whose weights are zero.

    The map of bit ``j`` is row ``j`` of a CSR matrix (n_bits, n_features): features
    ``indices[indptr[j]:indptr[j + 1]]`` in rising order with weights `values`.

    Parameters
    ----------
    indptr : array-like of int64, shape (n_bits + 1,)
    indices : array-like of int32, shape (n_nonzero,)
        Feature numbers, strictly rising within each bit.
    values : array-like of shape (n_nonzero,)
    bias : array-like of shape (n_bits,)
    n_features : int

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
    _scores_kernel = staticmethod(_kernels.sparse_scores)
    _codes_kernel = staticmethod(_kernels.sparse_encode)

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
        shape = (self.n_features, self.indptr.size - 1)
        check_affine(shape, self.values, self.bias)
        # The kernels trust these arrays, and would read out of bounds.
        indptr, indices, values = self.indptr, self.indices, self.values
        if indptr.ndim != 1 or indices.ndim != 1 or indices.shape != values.shape:
            raise ArgumentError(
                "need vectors with one index per value, got indptr "
                f"{indptr.shape}, indices {indices.shape} and values {values.shape}"
            )
        if indptr[0] != 0 or indptr[-1] != len(indices) or (np.diff(indptr) < 0).any():
            raise ArgumentError("indptr must rise from 0 to the number of values")
        if len(indices) and not (
            indices.min() >= 0 and indices.max() < self.n_features
        ):
            raise ArgumentError(f"indices must lie between 0 and {self.n_features - 1}")
        if not _rise(indices, indptr[:-1]):
            raise ArgumentError("the indices of each bit must rise strictly")

    @classmethod
    def from_dense(
        cls, weights: ArrayLike, bias: ArrayLike, *, zero_bit: int = 0
    ) -> Self:
        """Keep the non-zero entries of `weights`.

        Parameters are those of `LinearEncoder`, which gives the same codes.
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
    def _arrays(self) -> tuple[Any, ...]:
        arrays = self.indptr, self.indices, self.values, self.bias
        return (_kernels.SparseMap(*arrays, self.n_features),)

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


@final
class BlockDiagonalEncoder(SizedEncoder):
    """Hyperplanes in blocks: those of a block see the same few features.

    Block ``b`` maps features ``features[feature_starts[b]:feature_starts[b + 1]]`` to
    bits ``bit_starts[b]`` up to ``bit_starts[b + 1]`` by a small dense matrix, whose
    numbers lie together: ten blocks of equal sizes take a tenth of the weights and of
    the multiply-adds of a `LinearEncoder`, without an index for each weight as
    `SparseEncoder` has.

    Parameters
    ----------
    features : array-like of int32, shape (n_listed,)
        Numbers of features, strictly rising within each block; a feature may be in
        several blocks, or in none.
    feature_starts, bit_starts : array-like of int64, shape (n_blocks + 1,)
        Where the features and the bits of each block begin, strictly rising from 0.
    weights : array-like of shape (n_weights,)
        The matrices (features, bits) of the blocks, row by row, one behind the other.
    bias : array-like of shape (n_bits,)
    n_features : int

    Examples
    --------
    >>> encoder = BlockDiagonalEncoder.from_blocks(
    ...     [([0, 2], [[1.0], [1.0]]), ([1], [[1.0, -1.0]])], [0.0, 0.0, 0.0], 3
    ... )
    >>> encoder
    BlockDiagonalEncoder(3 -> 3 bits)
    >>> encoder.project([[1.0, 4.0, 2.0]])
    array([[ 3.,  4., -4.]], dtype=float32)
    """

    kind: ClassVar[str] = "block-diagonal"
    _scores_kernel = staticmethod(_kernels.block_scores)
    _codes_kernel = staticmethod(_kernels.block_encode)

    def __init__(
        self,
        features: ArrayLike,
        feature_starts: ArrayLike,
        bit_starts: ArrayLike,
        weights: ArrayLike,
        bias: ArrayLike,
        n_features: ArrayLike,
        *,
        zero_bit: int = 0,
    ) -> None:
        super().__init__(bias, n_features, zero_bit)
        self.features = frozen(features, np.int32)
        self.feature_starts = frozen(feature_starts, np.int64)
        self.bit_starts = frozen(bit_starts, np.int64)
        values = frozen(weights)
        check_affine((self.n_features, self.bias.size), values, self.bias)
        # The kernels trust these arrays, and would read out of bounds.
        ends = (self.feature_starts, self.features.size), (self.bit_starts, self.n_bits)
        for starts, end in ends:
            if (
                starts.ndim != 1
                or starts.size < 2
                or (starts[0], starts[-1]) != (0, end)
                or (np.diff(starts) < 1).any()
            ):
                raise ArgumentError(
                    f"starts of blocks must rise strictly from 0 to {end}, got "
                    f"{starts.tolist()}"
                )
        if len(self.feature_starts) != len(self.bit_starts):
            raise ArgumentError(
                f"need as many starts of features as of bits, got "
                f"{len(self.feature_starts)} and {len(self.bit_starts)}"
            )
        listed, n = self.features, self.n_features
        if listed.ndim != 1 or not (listed.min() >= 0 and listed.max() < n):
            raise ArgumentError(f"features must lie between 0 and {n - 1}")
        if not _rise(listed, self.feature_starts[:-1]):
            raise ArgumentError("the features of each block must rise strictly")
        size = int(np.diff(self.feature_starts) @ np.diff(self.bit_starts))
        if values.shape != (size,):
            raise ArgumentError(
                f"these blocks have {size} weights, got an array of shape "
                f"{values.shape}"
            )
        self._padded = frozen(np.append(values, np.zeros(_BEYOND)))

    @classmethod
    def from_blocks(
        cls,
        blocks: list[tuple[ArrayLike, ArrayLike]],
        bias: ArrayLike,
        n_features: int,
        *,
        zero_bit: int = 0,
    ) -> Self:
        """Make an encoder from the features and the matrix of each block.

        Parameters
        ----------
        blocks : list of pairs (features, weights)
            Arrays of shapes (n,) and (n, bits of the block).
        bias, n_features, zero_bit
            As in the constructor.
        """
        features = [np.asarray(listed) for listed, _ in blocks]
        weights = [np.asarray(matrix) for _, matrix in blocks]
        if any(
            w.ndim != 2 or len(w) != len(f)
            for f, w in zip(features, weights, strict=True)
        ):
            raise ArgumentError("weights of a block must be (features, bits)")
        return cls(
            np.concatenate(features),
            np.cumsum([0, *map(len, features)]),
            np.cumsum([0, *(matrix.shape[1] for matrix in weights)]),
            np.concatenate([matrix.ravel() for matrix in weights]),
            bias,
            n_features,
            zero_bit=zero_bit,
        )

    @property
    def weights(self) -> NDArray[np.float32]:
        """The numbers of all blocks, one behind the other."""
        return self._padded[:-_BEYOND]

    @property
    def density(self) -> float:
        """Share of a dense map's weights."""
        return len(self.weights) / (self.n_features * self.n_bits)

    def blocks(self) -> Iterator[tuple[NDArray[np.int32], slice, NDArray[np.float32]]]:
        """Yield the features, the bits and the matrix (features, bits) of each block.

        Examples
        --------
        >>> encoder = BlockDiagonalEncoder.from_blocks([([1], [[2.0]])], [0.0], 2)
        >>> list(encoder.blocks())
        [(array([1], dtype=int32), slice(0, 1, None), array([[2.]], dtype=float32))]
        """
        start = 0
        for b in range(len(self.bit_starts) - 1):
            listed = self.features[slice(*self.feature_starts[b : b + 2])]
            bits = slice(*self.bit_starts[b : b + 2].tolist())
            size = len(listed) * (bits.stop - bits.start)
            yield (
                listed,
                bits,
                self.weights[start : start + size].reshape(len(listed), -1),
            )
            start += size

    def tensors(self) -> Tensors:
        return {
            "features": self.features,
            "feature_starts": self.feature_starts,
            "bit_starts": self.bit_starts,
            "weights": self.weights,
            **super().tensors(),
        }

    @property
    def _arrays(self) -> tuple[Any, ...]:
        starts = self.feature_starts, self.bit_starts
        return self.features, *starts, self._padded, self.bias

    def _prefix(self, n_bits: int) -> Self:
        blocks: list[tuple[ArrayLike, ArrayLike]] = [
            (listed, matrix[:, : n_bits - bits.start])
            for listed, bits, matrix in self.blocks()
            if bits.start < n_bits
        ]
        bias = self.bias[:n_bits]
        return self.from_blocks(blocks, bias, self.n_features, zero_bit=self.zero_bit)


def _rise(numbers: NDArray[np.int32], starts: NDArray[np.int64]) -> bool:
    """Return whether numbers rise strictly from each start to the next."""
    is_first = np.zeros(len(numbers) + 1, np.bool_)
    is_first[starts] = True
    return bool((is_first[1:-1] | (np.diff(numbers) > 0)).all())


def as_query_encoder(
    weights: ArrayLike | None, bias: ArrayLike | None, shape: tuple[int, ...]
) -> LinearEncoder | None:
    """Return the map of queries to scores, if there is one."""
    if weights is None and bias is None:
        return None
    if weights is None or bias is None:
        raise ArgumentError("query_weights and query_bias need each other")
    try:
        queries = LinearEncoder(weights, bias)
    except ArgumentError as error:
        raise ArgumentError(f"query_weights and query_bias: {error}") from None
    if queries.weights.shape != shape:
        raise ArgumentError(
            f"query_weights must have the shape of weights, {shape}, got "
            f"{queries.weights.shape}"
        )
    return queries


def check_affine(
    shape: tuple[int, ...], values: NDArray[Any], bias: NDArray[Any]
) -> None:
    """Refuse weights of `shape` (n_features, n_bits) that make no encoder."""
    if len(shape) != 2 or bias.shape != shape[1:]:
        raise ArgumentError(
            f"need weights (n_features, n_bits) and one bias per bit, got weights "
            f"{shape} and bias {bias.shape}"
        )
    if shape[0] < 1:
        raise ArgumentError("an encoder needs at least one feature")
    if not 1 <= shape[1] <= MAX_BITS:
        raise ArgumentError(f"n_bits must lie between 1 and {MAX_BITS}, got {shape[1]}")
    check_finite("weights and bias", values, bias)

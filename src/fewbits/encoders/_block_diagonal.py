"""Sign of a block-diagonal affine map of chosen features."""

from collections.abc import Iterator
from typing import ClassVar, Self, final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fewbits import _kernels
from fewbits._typing import CodeArray, ScoreArray
from fewbits.encoders._base import Tensors, frozen
from fewbits.encoders._linear import check_affine
from fewbits.encoders._sized import SizedEncoder
from fewbits.errors import ArgumentError

_BEYOND = 16  # numbers behind the weights that kernels read, and ignore


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
    features : array-like of shape (n_listed,)
        Numbers of features, strictly rising within each block; a feature may be in
        several blocks, or in none.
    feature_starts, bit_starts : array-like of shape (n_blocks + 1,)
        Where the features and the bits of each block begin, strictly rising from 0.
    weights : array-like of shape (n_weights,)
        The matrices (features, bits) of the blocks, row by row, one behind the other.
    bias : array-like of shape (n_bits,)
    n_features : int
    zero_bit : {0, 1}, default=0
        The bit of a score of exactly zero.

    Attributes
    ----------
    features, feature_starts, bit_starts, weights, bias : ndarray
        Of dtypes int32, int64, int64, float32 and float32; read-only.

    Raises
    ------
    ArgumentError
        When the sizes do not match, or a number is not finite in float32.

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
        check_affine((self._n_features, self.bias.size), values, self.bias)
        self._check_blocks(values)
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
        bias : array-like of shape (n_bits,)
        n_features : int
        zero_bit : {0, 1}, default=0
            The bit of a score of exactly zero.

        Returns
        -------
        BlockDiagonalEncoder
        """
        features = [np.asarray(each) for each, _ in blocks]
        weights = [np.asarray(each) for _, each in blocks]
        if any(
            w.ndim != 2 or len(w) != len(f)
            for f, w in zip(features, weights, strict=True)
        ):
            raise ArgumentError("weights of a block must be (features, bits)")
        return cls(
            np.concatenate(features),
            np.cumsum([0, *map(len, features)]),
            np.cumsum([0, *(each.shape[1] for each in weights)]),
            np.concatenate([each.ravel() for each in weights]),
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
        names = "features", "feature_starts", "bit_starts", "weights"
        return {**{name: getattr(self, name) for name in names}, **super().tensors()}

    @property
    def _map(self) -> tuple[NDArray[np.int32], NDArray[np.int64], NDArray[np.int64]]:
        return self.features, self.feature_starts, self.bit_starts

    def _project(self, X: NDArray[np.float32], scores: ScoreArray) -> None:
        arrays = *self._map, self._padded, self.bias
        _kernels.block_scores(X, *arrays, scores, _kernels.num_threads())

    def _encode(self, X: NDArray[np.float32], codes: CodeArray) -> None:
        arrays = *self._map, self._padded, self.bias
        _kernels.block_encode(X, *arrays, self.zero_bit, codes, _kernels.num_threads())

    def _prefix(self, n_bits: int) -> Self:
        kept: list[tuple[ArrayLike, ArrayLike]] = [
            (listed, matrix[:, : n_bits - bits.start])
            for listed, bits, matrix in self.blocks()
            if bits.start < n_bits
        ]
        bias = self.bias[:n_bits]
        return self.from_blocks(kept, bias, self._n_features, zero_bit=self.zero_bit)

    def _check_blocks(self, values: NDArray[np.float32]) -> None:
        """Refuse what the kernels, which trust these arrays, would read wrongly."""
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
        listed, n = self.features, self._n_features
        if listed.ndim != 1 or not (listed.min() >= 0 and listed.max() < n):
            raise ArgumentError(f"features must lie between 0 and {n - 1}")
        new = np.zeros(len(listed), bool)
        new[self.feature_starts[:-1]] = True
        if not (new[1:] | (np.diff(listed) > 0)).all():
            raise ArgumentError("the features of each block must rise strictly")
        size = int(np.diff(self.feature_starts) @ np.diff(self.bit_starts))
        if values.shape != (size,):
            raise ArgumentError(
                f"these blocks have {size} weights, got an array of shape "
                f"{values.shape}"
            )

"""Helpers of encoders whose rounds end in a Walsh-Hadamard transform."""

from abc import abstractmethod
from collections.abc import Collection
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fewbits import _kernels
from fewbits._typing import CodeArray, ScoreArray
from fewbits.codes import n_bytes
from fewbits.encoders._base import Tensors
from fewbits.encoders._sized import SizedEncoder
from fewbits.errors import ArgumentError

#: No transform is smaller: one register of the widest instruction set.
_MIN_SIZE = 16
_MAX_FEATURES = 1 << 24
#: Transforms that a vector passes, at most.
MAX_ROUNDS = 16


class RoundsEncoder(SizedEncoder):
    """Series of rounds, each a block-diagonal matrix and a Walsh-Hadamard transform.

    A subclass keeps what makes the matrices in the attribute named by `stored`, an
    array whose first two axes are series and rounds, and sets it before this is
    initialised.
    """

    stored: ClassVar[str]

    def __init__(self, bias: ArrayLike, n_features: ArrayLike, zero_bit: int) -> None:
        super().__init__(bias, n_features, zero_bit)
        self._check_shapes()

    @property
    @abstractmethod
    def _matrices(self) -> NDArray[np.float32]:
        """The blocks, of shape (n_series, n_rounds, size, width)."""

    @abstractmethod
    def _tails(self, size: int) -> Collection[tuple[int, ...]]:
        """Return the shapes that a round may be stored in."""

    @property
    def n_rounds(self) -> int:
        """Transforms that a vector passes, each behind its blocks."""
        return int(self._stored.shape[1])

    @property
    def _stored(self) -> NDArray[Any]:
        array: NDArray[Any] = getattr(self, self.stored)
        return array

    def tensors(self) -> Tensors:
        return {self.stored: self._stored, **super().tensors()}

    def _project(self, X: NDArray[np.float32], scores: ScoreArray) -> None:
        _kernels.hadamard_scores(
            X, self._matrices, self.bias, scores, _kernels.num_threads()
        )

    def _encode(self, X: NDArray[np.float32], codes: CodeArray) -> None:
        _kernels.hadamard_encode(
            X, self._matrices, self.bias, self.zero_bit, codes, _kernels.num_threads()
        )

    def _prefix(self, n_bits: int) -> Self:
        n_series = -(-n_bits // padded_size(self.n_features))
        parts: dict[str, Any] = {
            self.stored: self._stored[:n_series],
            "bias": self.bias[:n_bits],
            "n_features": self.n_features,
            "zero_bit": self.zero_bit,
        }
        return type(self)(**parts)

    def _check_shapes(self) -> None:
        size, bias, found = padded_size(self.n_features), self.bias, self._stored.shape
        if bias.ndim != 1:
            raise ArgumentError(
                f"need one bias for each bit, got an array of shape {bias.shape}"
            )
        if not np.isfinite(bias).all():
            raise ArgumentError("bias must be finite in float32")
        n_bytes(len(bias))
        n_series, tails = -(-len(bias) // size), self._tails(size)
        fits = len(found) > 2 and found[0] == n_series and found[2:] in tails
        if not (fits and 1 <= found[1] <= MAX_ROUNDS):
            named = " or ".join(", ".join(map(str, tail)) for tail in tails)
            raise ArgumentError(
                f"{len(bias)} bits of {self.n_features} features need {self.stored} of "
                f"shape ({n_series}, 1 to {MAX_ROUNDS} rounds, {named}), got {found}"
            )


def padded_size(n_features: int) -> int:
    """Return the size of the Walsh-Hadamard transform that takes some features.

    Parameters
    ----------
    n_features : int

    Returns
    -------
    int
        The next power of two, 16 at least.

    Raises
    ------
    ArgumentError
        When there is no feature, or there are more than 2**24.

    Examples
    --------
    >>> padded_size(10), padded_size(300)
    (16, 512)
    """
    if not 1 <= n_features <= _MAX_FEATURES:
        raise ArgumentError(
            f"need 1 to {_MAX_FEATURES} features for a transform, got {n_features}"
        )
    return max(_MIN_SIZE, 1 << (n_features - 1).bit_length())

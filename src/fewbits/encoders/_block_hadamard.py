"""Sign of rounds of small dense blocks and Walsh-Hadamard transforms."""

from collections.abc import Collection
from typing import ClassVar, final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fewbits.encoders._base import frozen
from fewbits.encoders._rounds import RoundsEncoder
from fewbits.errors import ArgumentError

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
    zero_bit : {0, 1}, default=0
        The bit of a score of exactly zero.

    Attributes
    ----------
    weights : ndarray of shape (n_series, n_rounds, size, width), dtype float32
        Read-only, as is `bias`.
    bias : ndarray of shape (n_bits,), dtype float32

    Raises
    ------
    ArgumentError
        When the shapes do not match or a number is not finite in float32.

    Notes
    -----
    The transform is that of Sylvester's matrix of 1 and -1, which is not scaled: where
    it must be orthogonal, the weights hold the factor ``size ** -0.5``. A score is
    defined to the last bit, so that a row has the same scores everywhere.

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
        super().__init__(bias, n_features, zero_bit)
        if not np.isfinite(self.weights).all():
            raise ArgumentError("weights must be finite in float32")

    @property
    def _matrices(self) -> NDArray[np.float32]:
        return self.weights

    def _tails(self, size: int) -> Collection[tuple[int, ...]]:
        return [(size, width) for width in BLOCK_WIDTHS]

"""Sign of randomly signed Walsh-Hadamard transforms."""

from collections.abc import Collection
from functools import cached_property
from typing import ClassVar, final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fewbits._frozen import frozen_array
from fewbits.encoders._base import frozen
from fewbits.encoders._rounds import RoundsEncoder


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
    zero_bit : {0, 1}, default=0
        The bit of a score of exactly zero.

    Attributes
    ----------
    signs : ndarray of shape (n_blocks, n_rounds, size / 8), dtype uint8
        Read-only, as is `bias`.
    bias : ndarray of shape (n_bits,), dtype float32

    Raises
    ------
    ArgumentError
        When the shapes do not match or a number is not finite in float32.

    Notes
    -----
    Each stage of a transform adds or subtracts pairs of float32 numbers, in one fixed
    order of stages, so that a row has the same scores everywhere.

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
        super().__init__(bias, n_features, zero_bit)

    @cached_property
    def _matrices(self) -> NDArray[np.float32]:
        """The signs as numbers, which make the transform behind them orthogonal."""
        bits = np.unpackbits(self.signs, axis=2)[..., None]
        scale = np.float32(bits.shape[2] ** -0.5)
        return frozen_array(np.where(bits, -scale, scale))

    def _tails(self, size: int) -> Collection[tuple[int, ...]]:
        return [(size // 8,)]

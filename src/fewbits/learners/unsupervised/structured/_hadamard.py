"""Random rotations that take no matrix: signs and Walsh-Hadamard transforms."""

from typing import Any

import numpy as np
from sklearn.utils import check_random_state

from fewbits._typing import Array
from fewbits.encoders import MAX_ROUNDS, HadamardEncoder, padded_size
from fewbits.learners._core._base import Learner
from fewbits.learners._core._dead_bits import warn_constant_bits
from fewbits.learners._core._parameters import check_integer, check_n_bits
from fewbits.learners._core._rows import column_means
from fewbits.learners.unsupervised.structured._structured import centred


class Hadamard(Learner):
    """Cut the centred data with hyperplanes of a fast pseudo-random rotation.

    What `LSH` does with random hyperplanes, at a small part of the cost: random signs
    and a Walsh-Hadamard transform, `n_rounds` times over, are close to a random
    rotation, and take ``d log2(d)`` additions a round instead of ``d * n_bits``
    multiply-adds. Only the mean is learnt.

    Parameters
    ----------
    n_bits : int, default=64
        Length of the code, from 1 to 65,536. Up to the number of features, padded to a
        power of 2, all bits come from one rotation; longer codes take several.
    n_rounds : int, default=3
        Signs and transforms, 1 to 16. With one or two, rows with few large features
        are far from randomly rotated.
    random_state : int, RandomState instance or None, default=None
        Seeds the signs.

    Attributes
    ----------
    encoder_ : HadamardEncoder
        The learnt encoder; save this, not the learner.
    objective_ : ndarray of shape (0,)
        Empty: nothing is optimised.
    n_dead_bits_ : int
        Bits that are the same for all rows; more than 0 gives a warning.
    n_features_in_ : int

    Notes
    -----
    The hyperplanes of one rotation are orthogonal (when no features were padded), so
    that the share of differing bits estimates the angle between centred rows with less
    variance than independent hyperplanes have. With the same seed and `n_rounds` a
    longer code begins with the shorter one. A score of exactly 0 is encoded as 1.

    References
    ----------
    Andoni, Indyk, Laarhoven, Razenshteyn and Schmidt, "Practical and Optimal LSH for
    Angular Distance", NIPS 2015, section 5 (three rounds in place of a rotation).

    Ailon and Chazelle, "Approximate Nearest Neighbors and the Fast
    Johnson-Lindenstrauss Transform", STOC 2006.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.random.default_rng(0).normal(size=(200, 16))
    >>> hadamard = Hadamard(n_bits=32, random_state=0).fit(X)
    >>> hadamard.encode(X).shape
    (200, 4)
    >>> hadamard.encoder_
    HadamardEncoder(16 -> 32 bits)
    """

    is_nested = True

    def __init__(
        self, n_bits: int = 64, *, n_rounds: int = 3, random_state: Any = None
    ) -> None:
        self.n_bits = n_bits
        self.n_rounds = n_rounds
        self.random_state = random_state

    def _check_parameters(self) -> None:
        check_n_bits(self.n_bits)
        check_integer("n_rounds", self.n_rounds, 1, MAX_ROUNDS)

    def _learn(self, X: Array, y: Any) -> HadamardEncoder:
        rng = check_random_state(self.random_state)
        d = X.shape[1]
        size = padded_size(d)
        n_blocks = -(-self.n_bits // size)
        signs = rng.randint(0, 256, (n_blocks, self.n_rounds, size // 8), np.uint8)
        self.objective_ = np.empty(0)
        rotation = HadamardEncoder(signs, np.zeros(self.n_bits), d, zero_bit=1)
        encoder = centred(rotation, column_means(X))
        self.n_dead_bits_ = warn_constant_bits(encoder, X)
        return encoder

"""Locality-sensitive hashing."""

from dataclasses import KW_ONLY, dataclass
from typing import Any, ClassVar

from sklearn.utils import check_random_state

from fewbits._typing import Array
from fewbits.encoders import LinearEncoder
from fewbits.learners._core._base import Learner
from fewbits.learners._core._parameters import USUAL
from fewbits.learners._core._rows import column_means


@dataclass(eq=False, repr=False)
class LSH(Learner):
    """Cut the centred data with random hyperplanes.

    The share of bits in which two codes differ estimates the angle between the centred
    rows, divided by pi, without bias. Only the mean is learnt.

    Parameters
    ----------
    n_bits : int, default=64
        Length of the code, from 1 to 65,536.
    random_state : int, RandomState instance or None, default=None
        Seeds the hyperplanes.

    Attributes
    ----------
    encoder_ : LinearEncoder

    Notes
    -----
    The normals are drawn one bit after the other from N(0, 1), so with the same seed a
    longer code begins with the shorter one. A score of exactly 0 is encoded as 1.

    References
    ----------
    Charikar, "Similarity Estimation Techniques from Rounding Algorithms", STOC 2002.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.random.default_rng(0).normal(size=(200, 16))
    >>> LSH(n_bits=32, random_state=0).fit(X).encoder_
    LinearEncoder(16 -> 32 bits)
    """

    n_bits: int = 64
    _: KW_ONLY
    random_state: Any = None

    constraints: ClassVar = USUAL
    is_nested = True
    takes_sparse = True

    def _learn(self, X: Array, y: Any) -> LinearEncoder:
        rng = check_random_state(self.random_state)
        W = rng.standard_normal((self.n_bits, X.shape[1])).T
        return LinearEncoder(W, bias=-column_means(X) @ W, zero_bit=1)

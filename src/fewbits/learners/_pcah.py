"""PCA hashing."""

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from fewbits._typing import Array
from fewbits.encoders import LinearEncoder
from fewbits.errors import ArgumentError
from fewbits.learners._core._base import Learner
from fewbits.learners._core._parameters import N_BITS
from fewbits.learners._linalg._orthogonal import principal_axes

_DEFAULT_BITS = 64


@dataclass(eq=False, repr=False)
class PCAH(Learner):
    """Keep the signs of the leading principal components.

    Parameters
    ----------
    n_bits : int, default=None
        Length of the code, at most the rank of the centred data. None takes 64 bits,
        or as many as the rank allows.

    Attributes
    ----------
    encoder_ : LinearEncoder
    objective_ : ndarray of shape (1,)
        Share of the variance that lies outside the components that were kept.

    Notes
    -----
    The sign of a component is arbitrary; the largest weight of each is made positive.
    A score of exactly 0 is encoded as 1.

    References
    ----------
    Wang, Kumar and Chang, "Semi-Supervised Hashing for Scalable Image Retrieval", CVPR
    2010, where it is the unsupervised baseline.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.random.default_rng(0).normal(size=(200, 16))
    >>> PCAH(n_bits=8).fit(X).encoder_
    LinearEncoder(16 -> 8 bits)
    """

    n_bits: int | None = None

    constraints: ClassVar = {"n_bits": [*N_BITS, None]}
    is_nested = True
    takes_sparse = True
    uses_device = True

    def _learn(self, X: Array, y: Any) -> LinearEncoder:
        axes = principal_axes(X)
        n_bits = self.n_bits or min(_DEFAULT_BITS, axes.rank)
        if n_bits > axes.rank:
            raise ArgumentError(
                f"PCAH makes one bit of a principal component: n_bits={n_bits}, but X "
                f"(n_samples={len(X)}, n_features={X.shape[1]}) has only {axes.rank}"
            )
        W = axes.directions[:, :n_bits]
        inside = axes.scatter[: W.shape[1]].sum() / axes.scatter.sum()
        self.objective_ = np.array([1 - inside])
        return LinearEncoder(W, bias=-axes.mean @ W, zero_bit=1)

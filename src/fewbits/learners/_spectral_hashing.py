"""Spectral hashing."""

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from fewbits._typing import Array
from fewbits.encoders import EigenfunctionEncoder
from fewbits.learners._core._base import Learner
from fewbits.learners._core._parameters import USUAL
from fewbits.learners._core._rows import Rows, working_dtype
from fewbits.learners._linalg._orthogonal import principal_axes

Float64Array = NDArray[np.float64]


@dataclass(eq=False, repr=False)
class SpectralHashing(Learner):
    """Take the signs of the smoothest waves on a box around the principal components.

    Were the data uniform in that box, the waves would be the eigenfunctions of the
    graph Laplacian of the data. A long axis gets several bits, with 1, 2, 3 ... half
    periods from one end of it to the other, before a short one gets its first.

    Parameters
    ----------
    n_bits : int, default=64
        Length of the code, from 1 to 65,536; it may exceed the number of features.

    Attributes
    ----------
    encoder_ : EigenfunctionEncoder
    objective_ : ndarray of shape (1,)
        Mean eigenvalue of the waves by the Laplacian of the box, in units of one over
        the squared features. The paper's are ``1 - exp(-eps^2 / 2 * ours)``, in the
        same order whatever eps.

    Notes
    -----
    Only the first `n_bits` principal components are considered, as in the paper, and
    only waves along one of them. The box reaches from the least to the largest value,
    so a few outliers stretch it. A score of exactly 0 gives a 0, as in the authors'
    code.

    References
    ----------
    Weiss, Torralba and Fergus, "Spectral Hashing", NIPS 2008.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.random.default_rng(0).uniform(size=(200, 2)) * [3, 1]
    >>> hashing = SpectralHashing(n_bits=4).fit(X)
    >>> hashing.encoder_
    EigenfunctionEncoder(2 -> 4 bits)
    >>> hashing.encoder_.axes, hashing.encoder_.modes
    (array([0, 0, 1, 0], dtype=int32), array([1, 2, 1, 3], dtype=int32))
    """

    n_bits: int = 64

    constraints: ClassVar = USUAL
    uses_device = True
    takes_sparse = True

    def _learn(self, X: Array, y: Any) -> EigenfunctionEncoder:
        components = principal_axes(X)
        P = components.directions[:, : self.n_bits]
        dtype = working_dtype(len(X), *P.shape)
        # The box: the least and the largest value along each axis.
        low, high = np.full(P.shape[1], np.inf), np.full(P.shape[1], -np.inf)
        for block in Rows(X, components.mean, P, dtype, keep=False):
            np.minimum(low, block.min(axis=0), out=low)
            np.maximum(high, block.max(axis=0), out=high)
        axes, modes = smoothest_modes(high - low, self.n_bits)
        self.objective_ = np.array([np.mean((np.pi * modes / (high - low)[axes]) ** 2)])
        used, axes = np.unique(axes, return_inverse=True)
        W, start = P[:, used] / (high - low)[used], low[used] / (high - low)[used]
        # cos(pi m t) = sin(pi (m t + 1/2)), where t runs from 0 to 1 along the box
        bias = 0.5 - modes * (start + components.mean @ W)[axes]
        return EigenfunctionEncoder(W, axes, modes, bias)


def smoothest_modes(
    lengths: Float64Array, n_bits: int
) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Return the axis and the mode of the `n_bits` smallest eigenvalues, rising."""
    # Mode ``m >= 1`` of an axis of length ``R`` has the eigenvalue ``(pi m / R)^2``.
    # Below the frequency (b + k) / sum(R), k axes have more than b modes in all: axis i
    # has floor(frequency * R_i).
    frequency = (n_bits + len(lengths)) / lengths.sum()
    counts = np.ceil(frequency * lengths).astype(np.intp)
    axes = np.repeat(np.arange(len(lengths)), counts)
    modes = 1 + np.arange(len(axes)) - np.repeat(np.cumsum(counts) - counts, counts)
    order = np.argsort(modes / lengths[axes], kind="stable")[:n_bits]
    return axes[order], modes[order]

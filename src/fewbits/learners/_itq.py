"""Iterative quantization, and the rotation that its supervised forms share."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar

import numpy as np
from numpy.random import RandomState
from numpy.typing import NDArray
from sklearn.utils import check_random_state

from fewbits._typing import Array, FeatureArray
from fewbits._warnings import warn_user
from fewbits.encoders import LinearEncoder
from fewbits.errors import FeatureError
from fewbits.learners._core._device import current_backend, product, threads_for
from fewbits.learners._core._iterative import Arrays, IterativeLearner, Labels
from fewbits.learners._core._parameters import FROM_0, USUAL
from fewbits.learners._core._rows import Rows, working_dtype
from fewbits.learners._linalg._orthogonal import (
    PrincipalAxes,
    polar,
    principal_axes,
    random_rotation,
)

Float64Array = NDArray[np.float64]


@dataclass(eq=False, repr=False)
class RotationLearner(IterativeLearner):
    """A learner that rotates linear combinations of the features.

    Attributes
    ----------
    objective_ : ndarray of shape (n_iter_,)
        Mean squared distance between scores and bits (as -1 and 1), at the end of each
        iteration. It never rises.
    """

    constraints: ClassVar = USUAL | {"n_iter": FROM_0}
    uses_device = True
    takes_sparse = True

    def _rotated(
        self,
        X: Array,
        axes: PrincipalAxes,
        T: Float64Array | None,
        rng: RandomState,
        Y: Labels | None = None,
    ) -> LinearEncoder:
        """Return an encoder of the columns of `T` (rank, k), rotated."""
        if T is None:
            k = min(self.n_bits, axes.rank)
            E, energy = axes.directions[:, :k], axes.scatter[:k].sum()
        else:
            k, E = T.shape[1], axes.directions @ T
            energy = float(axes.scatter @ (T**2).sum(axis=1))
            if np.linalg.norm(E, axis=1).max() > np.finfo(np.float32).max:
                spread = np.sqrt(axes.scatter[0] / len(X))
                raise FeatureError(
                    f"X varies by {spread:.1g} only, too little for weights in "
                    "float32: multiply it by a constant"
                )
        dtype = working_dtype(len(X), k, self.n_bits)
        V = Rows(X, axes.mean, E, dtype, n_out=self.n_bits)
        R = random_rotation(k, self.n_bits, rng)
        (R,) = self._run(partial(rotations, V, energy), (R,), X, Y)
        W = product(E, R)
        return LinearEncoder(W, bias=-axes.mean @ W, zero_bit=1)


@dataclass(eq=False, repr=False)
class ITQ(RotationLearner):
    """Rotate the leading principal components towards the corners of a cube.

    Parameters
    ----------
    n_bits : int, default=64
    n_iter : int, default=50
        Number of alternations between codes and rotation. 0 keeps the random rotation
        of the components, a baseline of its own.

    Attributes
    ----------
    encoder_ : LinearEncoder

    Notes
    -----
    The paper stops at as many bits as features; Xia et al. extend it by Procrustes'
    problem with a rectangular rotation, which also serves data whose rank is less than
    `n_bits`. Where there is one direction only, all bits are equal or opposite, and a
    warning says so. A score of exactly 0 is encoded as 1.

    References
    ----------
    Gong and Lazebnik, "Iterative Quantization: A Procrustean Approach to Learning
    Binary Codes", CVPR 2011.

    Xia, He, Kohli and Sun, "Sparse Projections for High-Dimensional Binary Codes",
    CVPR 2015, section 4.2.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.random.default_rng(0).normal(size=(200, 16))
    >>> ITQ(n_bits=8, random_state=0).fit(X).encoder_
    LinearEncoder(16 -> 8 bits)
    """

    def _learn(self, X: Array, y: Any) -> LinearEncoder:
        rng = check_random_state(self.random_state)
        axes = principal_axes(X)
        if axes.rank == 1 and len(X) > 2 and self.n_bits > 1 and self._dead_bits:
            warn_user(
                "X varies in one direction only, as rows of two kinds do: all "
                f"{self.n_bits} bits are equal or opposite, so there are two codes"
            )
        return self._rotated(X, axes, None, rng)


class InnerITQ(ITQ):
    """ITQ as a step of another learner, which warns of its bits itself."""

    _dead_bits = None


def rotations(V: Rows, energy: float, state: Arrays) -> Iterator[tuple[Arrays, float]]:
    """Yield better and better rotations of the rows `V` towards corners of a cube."""
    # Lowers ``||B - V R||^2`` over signs B and matrices R (k, b) with ``R R' = I``,
    # each in turn and exactly, so it never rises. Yields R with the objective divided
    # by the number of entries of B, beginning after the R of `state`. `energy` is
    # ``||V||^2``.
    (R,) = state
    size = V.shape[0] * R.shape[1]
    while True:
        C = sign_products(V, R)  # V'B for B = sign(V R)
        R = polar(C)  # argmin ||B - V R||^2
        # ||B||^2 - 2 tr(R'V'B) + ||V R||^2, the last of which is ||V||^2.
        yield (R,), (size - 2 * float(np.vdot(R, C)) + energy) / size


def sign_products(V: Rows, R: FeatureArray) -> Float64Array:
    """Return ``V' sign(V R)`` with sign(0) = 1, summed over blocks in float64."""
    backend = current_backend()
    sums = backend.put(np.zeros(R.shape))
    R = backend.put(R.astype(V.dtype, copy=False))
    for block in V:
        there = backend.put(block)
        with threads_for(len(there), *R.shape):
            sums += there.T @ backend.signs(there @ R)
    C: Float64Array = backend.get(sums)
    return C

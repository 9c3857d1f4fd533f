"""The alternation shared by ITQ and its supervised forms."""

from collections.abc import Iterator
from functools import partial

import numpy as np
from numpy.random import RandomState
from numpy.typing import NDArray

from fewbits._typing import Array, FeatureArray
from fewbits.encoders import LinearEncoder
from fewbits.errors import FeatureError
from fewbits.learners._core._checkpoint import Arrays, Labels
from fewbits.learners._core._dead_bits import warn_constant_bits
from fewbits.learners._core._device import product
from fewbits.learners._core._parameters import check_batch_size, check_n_bits
from fewbits.learners._core._resumable import ResumableLearner
from fewbits.learners._core._rows import Rows, working_dtype
from fewbits.learners._linalg._axes import PrincipalAxes
from fewbits.learners._linalg._procrustes import polar, random_rotation
from fewbits.learners._linalg._sign_products import (
    Products,
    of_all_rows,
    products_of,
)

Float64Array = NDArray[np.float64]


def rotations(
    V: Rows, energy: float, state: Arrays, products: Products = of_all_rows
) -> Iterator[tuple[Arrays, float]]:
    """Yield better and better rotations of the rows `V` towards corners of a cube.

    Lowers ``||B - V R||^2`` over signs B and matrices R (k, b) with ``R R' = I``, each
    in turn and exactly, so it never rises. Yields R with the objective divided by the
    number of entries of B, beginning after the R of `state`. `energy` is ``||V||^2``.
    """
    R, memory = state[0], state[1:]
    size = V.shape[0] * R.shape[1]
    while True:
        C, memory = products(V, R, memory)  # V'B for B = sign(V R)
        R = polar(C)  # argmin ||B - V R||^2
        # ||B||^2 - 2 tr(R'V'B) + ||V R||^2, the last of which is ||V||^2.
        yield (R, *memory), (size - 2 * float(np.vdot(R, C)) + energy) / size


class RotationLearner(ResumableLearner):
    """A learner that rotates linear combinations of the features."""

    n_bits: int
    batch_size: int | None
    uses_device = True

    def _check_parameters(self) -> None:
        check_n_bits(self.n_bits)
        self._check_iterations(least=0)
        check_batch_size(self.batch_size, self.tol)

    def _rotated(
        self,
        X: Array,
        axes: PrincipalAxes,
        T: Float64Array | None,
        rng: RandomState,
        Y: Labels | None = None,
    ) -> LinearEncoder:
        """Return an encoder of the columns of `T`, rotated.

        Parameters
        ----------
        T : ndarray of shape (rank, k) or None
            In principal axes; None takes the first `n_bits` of these.
        """
        k = min(self.n_bits, axes.rank) if T is None else T.shape[1]
        if T is None:
            E, energy = axes.directions[:, :k], axes.scatter[:k].sum()
        else:
            E = axes.directions @ T
            energy = float(axes.scatter @ (T**2).sum(axis=1))
            _check_scale(E, np.sqrt(axes.scatter[0] / len(X)))
        dtype = working_dtype(len(X), k, self.n_bits)
        V = Rows(X, axes.mean, E, dtype, n_out=self.n_bits)
        R = random_rotation(k, self.n_bits, rng)
        products = products_of(self.batch_size, rng)
        states = partial(rotations, V, energy, products=products)
        R, *_ = self._resume(states, (R,), X, Y)
        W = product(E, R)
        encoder = LinearEncoder(W, bias=-axes.mean @ W, zero_bit=1)
        self.n_dead_bits_ = warn_constant_bits(encoder, X)
        return encoder


def _check_scale(E: FeatureArray, spread: float) -> None:
    """Refuse features so small that weights of an own scale leave float32."""
    if np.linalg.norm(E, axis=1).max() > np.finfo(np.float32).max:
        raise FeatureError(
            f"X varies by {spread:.1g} only, too little for weights in float32: "
            "multiply it by a constant"
        )

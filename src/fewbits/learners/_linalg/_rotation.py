"""The alternation shared by ITQ and CCA-ITQ."""

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from fewbits.learners._core._checkpoint import Arrays
from fewbits.learners._core._rows import Rows
from fewbits.learners._linalg._procrustes import polar
from fewbits.learners._linalg._sign_products import Products, of_all_rows

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

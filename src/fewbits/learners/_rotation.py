"""The alternation shared by ITQ and CCA-ITQ."""

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from fewbits._typing import FeatureArray
from fewbits.learners._checkpoint import Arrays
from fewbits.learners._device import as_dtype, here
from fewbits.learners._procrustes import polar
from fewbits.learners._rows import Rows

Float64Array = NDArray[np.float64]


def rotations(V: Rows, energy: float, state: Arrays) -> Iterator[tuple[Arrays, float]]:
    """Yield better and better rotations of the rows `V` towards corners of a cube.

    Lowers ``||B - V R||^2`` over signs B and matrices R (k, b) with ``R R' = I``, each
    in turn and exactly, so it never rises. Yields R with the objective divided by the
    number of entries of B, beginning after the R of `state`. `energy` is ``||V||^2``.
    """
    (R,) = state
    size = V.shape[0] * R.shape[1]
    while True:
        C = sign_products(V, R)  # V'B for B = sign(V R)
        R = polar(C)  # argmin ||B - V R||^2
        # ||B||^2 - 2 tr(R'V'B) + ||V R||^2, the last of which is ||V||^2.
        yield (R,), (size - 2 * float(np.vdot(R, C)) + energy) / size


def sign_products(V: Rows, R: FeatureArray) -> Float64Array:
    """Return ``V' sign(V R)`` with sign(0) = 1, summed over blocks in float64."""
    place = here()
    C, R = place.zeros(R.shape), place.put(as_dtype(R, V.dtype))
    for block in V:
        rows = place.put(block)
        C += rows.T @ place.signs(rows @ R)
    return place.get(C)

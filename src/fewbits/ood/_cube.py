"""Distances of all codes of a short length from the class codes."""

import numpy as np
from numpy.typing import NDArray

from fewbits._typing import CodeArray
from fewbits.codes import unpack

MAX_CUBE_BITS = 20  # a million codes


def hypercube_volumes(
    codes: CodeArray, n_bits: int, ones: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Return the probability of all codes within each radius, from 0 to `n_bits`."""
    chances = np.ones(1)
    for chance in ones:  # the first bit is the most significant
        chances = np.outer(chances, [1 - chance, chance]).ravel()
    near = np.zeros(2**n_bits, np.bool_)
    near[unpack(codes, n_bits) @ (1 << np.arange(n_bits)[::-1])] = True
    shares = np.ones(n_bits + 1)
    for radius in range(n_bits + 1):
        if near.all():  # and so it is for each larger radius
            break
        shares[radius] = min(1.0, chances[near].sum())
        near = _widened(near, n_bits)
    return shares


def _widened(near: NDArray[np.bool_], n_bits: int) -> NDArray[np.bool_]:
    """Add everything one bit away."""
    wider = near.copy()
    for bit in range(n_bits):
        sides = near.reshape(-1, 2, 2**bit)
        wider |= sides[:, ::-1].reshape(-1)
    return wider

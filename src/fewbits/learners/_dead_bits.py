"""Bits that say nothing are told, never silent."""

import numpy as np
from numpy.typing import NDArray

from fewbits._warnings import warn_user

NO_WEIGHTS = ", as none of their weights was kept; raise density"


def tell_dead_bits(n_dead: int, n_bits: int, why: str) -> int:
    """Warn if bits are constant, and return how many there are."""
    if n_dead:
        warn_user(f"{n_dead} of {n_bits} bits are constant{why}")
    return n_dead


def n_constant(bits: NDArray[np.bool_]) -> int:
    """Return the number of columns of bits (n, n_bits) with one value."""
    return int(np.sum(bits.all(axis=0) | ~bits.any(axis=0)))


def n_different(bits: NDArray[np.bool_]) -> int:
    """Return the number of different columns; opposite ones are the same."""
    alike = np.where(bits[:1], bits, ~bits)
    return len(np.unique(np.packbits(alike, axis=0), axis=1).T)

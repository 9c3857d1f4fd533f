"""Checks that generators of centres share, and of constant bits."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fewbits.classify import check_capacity
from fewbits.errors import ArgumentError
from fewbits.learners._core._parameters import check_integer, check_n_bits

Centres = NDArray[np.int8]


def check_sizes(n_classes: Any, n_bits: Any) -> None:
    """Refuse more classes than codes."""
    check_n_bits(n_bits)
    check_integer("n_classes", n_classes, 1)
    check_capacity(n_classes, n_bits)


def all_live(centres: Centres) -> bool:
    """Return whether no bit is the same in all centres."""
    return bool((centres != centres[0]).any(axis=0).all())


def opposed(centres: Centres) -> Centres:
    """Return them with the last the opposite of the first: no bit is constant then."""
    if len(centres) > 1:
        centres[-1] = -centres[0]
    return centres


def check_matrix(name: str, values: ArrayLike) -> NDArray[np.float64]:
    """Return values as a matrix; refuse what is none, or not finite."""
    array = np.asarray(values, np.float64)
    if array.ndim != 2 or not np.isfinite(array).all():
        raise ArgumentError(
            f"{name} must be a matrix of finite numbers, got shape {array.shape}"
        )
    return array

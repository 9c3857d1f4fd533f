"""What every generator of centres asks for, and bits that tell something."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from fewbits.errors import ArgumentError
from fewbits.learners._parameters import check_integer, check_n_bits

Centres = NDArray[np.int8]


def check_sizes(n_classes: Any, n_bits: Any) -> None:
    """Refuse more classes than codes."""
    check_n_bits(n_bits)
    check_integer("n_classes", n_classes, 1)
    if bits_needed(n_classes) > n_bits:
        raise ArgumentError(
            f"{n_classes} classes need at least {bits_needed(n_classes)} bits to get "
            f"codes of their own, got {n_bits}"
        )


def all_live(centres: Centres) -> bool:
    """Tell whether no bit is the same in all centres."""
    return bool((centres != centres[0]).any(axis=0).all())


def opposed(centres: Centres) -> Centres:
    """Return them with the last the opposite of the first: no bit is constant then."""
    if len(centres) > 1:
        centres[-1] = -centres[0]
    return centres


def bits_needed(n_classes: int) -> int:
    """Return the shortest length that has a code for each class."""
    return max(1, (n_classes - 1).bit_length())

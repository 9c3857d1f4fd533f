"""Random centres with as many ones as zeros."""

from typing import Any

import numpy as np
from sklearn.utils import check_random_state

from fewbits.errors import ArgumentError
from fewbits.learners.deep.centres._checks import (
    Centres,
    all_live,
    check_sizes,
    opposed,
)

_DRAWS = 100


def balanced_centres(n_classes: int, n_bits: int, *, random_state: Any = 0) -> Centres:
    """Return different random centres, half of whose bits are set.

    What CSQ takes where there is no Hadamard matrix.

    Parameters
    ----------
    n_classes, n_bits : int
    random_state : int, RandomState instance or None, default=0

    Returns
    -------
    ndarray of shape (n_classes, n_bits), dtype int8
        -1 and 1, each row with ``n_bits // 2`` of the latter; no column is constant if
        draws, or for an even length an opposite pair, can help it.

    Raises
    ------
    ArgumentError
        When there are not that many balanced codes.

    Examples
    --------
    >>> balanced_centres(3, 8).sum(axis=1)
    array([0, 0, 0])
    """
    check_sizes(n_classes, n_bits)
    rng = check_random_state(random_state)
    found = np.empty((0, n_bits), np.int8)
    for _ in range(_DRAWS):
        ranks = rng.random_sample((n_classes, n_bits)).argsort(axis=1)
        drawn = np.where(ranks < n_bits // 2, 1, -1).astype(np.int8)
        found = np.unique(np.concatenate([found, drawn]), axis=0)
        chosen: Centres = found[rng.permutation(len(found))[:n_classes]]
        if len(chosen) == n_classes and (n_classes == 1 or all_live(chosen)):
            return chosen
    if len(chosen) < n_classes:
        raise ArgumentError(
            f"{_DRAWS} draws gave {len(found)} balanced codes of {n_bits} bits, too "
            f"few for {n_classes} classes: take more bits"
        )
    return chosen if n_bits % 2 else opposed(chosen)

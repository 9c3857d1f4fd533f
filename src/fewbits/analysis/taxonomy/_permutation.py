"""Permutation tests: a statistic with the classes shuffled."""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from fewbits._typing import IdArray

FloatArray = NDArray[np.float64]

_ROUNDING = 1e-12  # sums in another order


class Measured(NamedTuple):
    """A statistic and its distribution under chance.

    Attributes
    ----------
    value : float
    chance : float
        Mean over the shuffles.
    p_value : float
        Share of the shuffles, the given order included, with at least this value.
    """

    value: float
    chance: float
    p_value: float


def measured(
    metrics: Callable[[IdArray], FloatArray],
    n: int,
    n_permutations: int,
    rng: np.random.Generator,
) -> list[Measured]:
    """Compute metrics for `n` classes in their order, and in random ones.

    Parameters
    ----------
    metrics : callable
        Gets the class that takes the place of each class.
    """
    found = metrics(np.arange(n))
    shuffled = np.array([metrics(rng.permutation(n)) for _ in range(n_permutations)])
    reached = (shuffled >= found - _ROUNDING).sum(axis=0)
    p_values = (1 + reached) / (1 + n_permutations)
    p_values = np.where(np.isnan(found), np.nan, p_values)  # such as of equal distances
    return [
        Measured(float(value), float(chance), float(p))
        for value, chance, p in zip(found, shuffled.mean(axis=0), p_values, strict=True)
    ]

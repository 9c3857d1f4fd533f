"""Confidence limits of means of numbers between 0 and 1."""

from statistics import NormalDist

import numpy as np
from numpy.typing import ArrayLike, NDArray


def mean_limits(
    mean: ArrayLike, error: ArrayLike, n: float, confidence: float
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the two-sided limits of means whose standard errors are known.

    Wilson's, with the effective sample size of clustered data (Korn and Graubard 1998):
    ``n m (1 - m) / s^2`` for mean m and variance s^2, which here is that of the values
    and of two more, 0 and 1. They are never of width 0, and lie within 0 and 1.
    """
    means = np.asarray(mean, np.float64)
    z = NormalDist().inv_cdf((1 + confidence) / 2)
    square = z**2 * _dispersion(means, np.asarray(error, np.float64), n) / n
    middle = (means + square / 2) / (1 + square)
    half = np.sqrt(square * (means * (1 - means) + square / 4)) / (1 + square)
    # Rounding must not leave out what was measured, nor leave 0 to 1.
    low = np.minimum(means, np.maximum(0.0, middle - half))
    return low, np.maximum(means, np.minimum(1.0, middle + half))


def fewest_values(limit: float, confidence: float) -> int:
    """Return how many values of 0 it takes for an upper limit this low."""
    z = NormalDist().inv_cdf((1 + confidence) / 2)
    return int(np.ceil(z**2 * (1 / limit - 1)))


def _dispersion(
    mean: NDArray[np.float64], error: NDArray[np.float64], n: float
) -> NDArray[np.float64]:
    """Return the variance as a share of the largest that the mean allows."""
    padded = (n * mean + 1) / (n + 2)
    squares = (n - 1) * n * error**2 + n * (mean - padded) ** 2
    squares += padded**2 + (1 - padded) ** 2
    return np.minimum(1.0, squares / (n + 1) / (padded * (1 - padded)))

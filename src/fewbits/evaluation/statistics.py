"""Means over queries, and how far they can be trusted."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from fewbits._checks import check_rate
from fewbits._intervals import mean_limits
from fewbits.errors import ArgumentError

__all__ = ["Interval", "mean_interval"]


class Interval(NamedTuple):
    """Mean of `n` values, and the confidence interval of what it estimates."""

    mean: float
    low: float
    high: float
    n: int

    def __str__(self) -> str:
        return f"{_number(self.mean)} ({_number(self.low)} to {_number(self.high)})"


def mean_interval(values: ArrayLike, confidence: float = 0.95) -> Interval:
    """Return the mean of scores between 0 and 1 with a confidence interval.

    For recall, precision or accuracy of queries that were drawn at random: it tells
    what the mean over all queries of this kind may be.

    Parameters
    ----------
    values : array-like of shape (n,)
        From 0 to 1, one for each query; 2 at least.
    confidence : float, default=0.95
        Share of samples whose interval contains the mean over all queries.

    Returns
    -------
    Interval
        Within 0 and 1, and never of width 0.

    Raises
    ------
    ArgumentError
        When there are fewer than 2 values, one lies outside 0 to 1, or `confidence`
        does.

    Notes
    -----
    Hits of one query depend on each other, so queries are what is counted. The interval
    is Wilson's, with the effective sample size of clustered data (Korn and Graubard
    1998, Survey Methodology 24): ``n m (1 - m) / s^2`` for mean m and variance s^2. An
    interval of Student's t contains the mean too rarely where nearly all values are 1,
    and has no width where all are. Here the variance is that of the values and of two
    more, 0 and 1: as many queries as were not asked may fail without being seen.

    Examples
    --------
    >>> print(mean_interval([0.5, 0.7, 0.9, 0.6, 0.8] * 20))
    .700 (.668 to .730)
    >>> print(mean_interval([1.0] * 100))
    1.000 (.963 to 1.000)
    """
    scores = np.asarray(values, np.float64)
    check_rate(confidence, "confidence")
    n = scores.size
    if scores.ndim != 1 or n < 2:
        raise ArgumentError(
            f"need a list of 2 values at least, got an array of shape {scores.shape}"
        )
    if not ((scores >= 0) & (scores <= 1)).all():
        raise ArgumentError("values must be numbers from 0 to 1")
    mean = float(scores.mean())
    low, high = mean_limits(mean, scores.std(ddof=1) / np.sqrt(n), n, confidence)
    return Interval(mean, float(low), float(high), n)


def _number(value: float) -> str:
    """Write a number as tables of the field do: .712."""
    text = f"{value:.3f}"
    return text.replace("0.", ".", 1) if text.startswith(("0.", "-0.")) else text

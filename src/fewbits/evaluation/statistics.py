"""Means over seeds."""

from collections.abc import Iterable
from typing import NamedTuple, SupportsFloat

import numpy as np

from fewbits._checks import check_count
from fewbits.errors import ArgumentError

__all__ = ["Summary", "format_mean", "summarize"]


class Summary(NamedTuple):
    """Mean of `n` values and its standard error (NaN for a single value)."""

    mean: float
    standard_error: float
    n: int

    def __str__(self) -> str:
        return format_mean(self.mean, self.standard_error)


def summarize(values: Iterable[SupportsFloat]) -> Summary:
    """Return mean, standard error of the mean, and number of values.

    Parameters
    ----------
    values : iterable of float or Score
        One per seed.

    Raises
    ------
    ArgumentError
        When there is no value, or one is not finite.

    Examples
    --------
    >>> print(summarize([0.710, 0.714, 0.712]))
    .712 ± .001
    """
    numbers = np.array([float(value) for value in values], dtype=np.float64)
    if not numbers.size or not np.isfinite(numbers).all():
        raise ArgumentError(f"need finite values, at least one, got {numbers.tolist()}")
    n = len(numbers)
    # With one value the spread is unknown, which is not the same as zero.
    error = numbers.std(ddof=1) / np.sqrt(n) if n > 1 else np.nan
    return Summary(float(numbers.mean()), float(error), n)


def format_mean(mean: float, standard_error: float = np.nan, digits: int = 3) -> str:
    """Write a mean and its standard error as tables of the field do.

    Examples
    --------
    >>> format_mean(0.7123, 0.0041), format_mean(-1.5, 0.25, digits=2)
    ('.712 ± .004', '-1.50 ± .25')
    >>> format_mean(0.5)
    '.500'
    """
    text = _number(mean, check_count(digits, "digits"))
    if np.isnan(standard_error):
        return text
    return f"{text} ± {_number(standard_error, digits)}"


def _number(value: float, digits: int) -> str:
    text = f"{value:.{digits}f}"
    for sign in ("", "-"):
        if text.startswith(f"{sign}0."):
            return sign + text[len(sign) + 1 :]
    return text

"""Means over seeds."""

from collections.abc import Iterable
from typing import NamedTuple, SupportsFloat

import numpy as np

from fewbits.errors import ArgumentError


class Summary(NamedTuple):
    """Mean of `n` values and its standard error (NaN for a single value)."""

    mean: float
    standard_error: float
    n: int

    def __str__(self) -> str:
        if np.isnan(self.standard_error):
            return _number(self.mean)
        return f"{_number(self.mean)} ± {_number(self.standard_error)}"


def summarize(values: Iterable[SupportsFloat]) -> Summary:
    """Return mean, standard error of the mean, and number of values.

    Parameters
    ----------
    values : iterable of float
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


def _number(value: float) -> str:
    """Write a number as tables of the field do: .712."""
    text = f"{value:.3f}"
    return text.replace("0.", ".", 1) if text.startswith(("0.", "-0.")) else text

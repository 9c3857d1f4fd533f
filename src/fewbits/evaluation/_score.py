"""The answer of every measure that averages over queries."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from fewbits._repr import one_line
from fewbits.errors import ArgumentError


@dataclass(frozen=True, eq=False, slots=True)
class Score:
    """A mean over queries, and what it is the mean of.

    Attributes
    ----------
    value : float
        Mean over the queries that count; ``float(score)`` is the same.
    per_query : ndarray of shape (n_queries,), dtype float64
        NaN for skipped queries.
    n_skipped : int
        Queries for which the measure is not defined; they are not in the mean.
    definition : str
        Which measure this is, in words.
    """

    value: float
    per_query: NDArray[np.float64]
    n_skipped: int
    definition: str

    def __repr__(self) -> str:
        return one_line(self)

    def __float__(self) -> float:
        return self.value

    def __str__(self) -> str:
        return f"{self.value:.4f} ({self.definition})"


def mean_score(per_query: NDArray[np.float64], definition: str) -> Score:
    """Average over the queries that are not NaN."""
    counted = per_query[~np.isnan(per_query)]
    n_skipped = len(per_query) - len(counted)
    if not len(counted):
        raise ArgumentError(
            f"none of the {len(per_query):,} queries has a label and a relevant item, "
            f"so there is no {definition}"
        )
    note = f"; {n_skipped} of {len(per_query)} queries skipped" if n_skipped else ""
    return Score(float(counted.mean()), per_query, n_skipped, definition + note)

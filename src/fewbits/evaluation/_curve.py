"""Precision and recall along a ranking, averaged over queries."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fewbits._repr import one_line
from fewbits._typing import IdArray
from fewbits.errors import ArgumentError
from fewbits.evaluation._ties import FloatArray


class Curve(NamedTuple):
    """Means over queries at each of `at` ranks or radii; nothing is interpolated.

    Attributes
    ----------
    at : ndarray of shape (n,), dtype int64
        Ranks from 1 on, or radii from 0 on.
    precision, recall : ndarray of shape (n,), dtype float64
    n_skipped : int
        Queries without a label or a relevant item in the database.
    definition : str
    """

    at: IdArray
    precision: FloatArray
    recall: FloatArray
    n_skipped: int
    definition: str

    def __repr__(self) -> str:
        return one_line(self)


class MeanCurve:
    """Sums precision and recall over the queries that count."""

    def __init__(self, size: int) -> None:
        self.size = size
        self._precision, self._recall = np.zeros((2, size))
        self._counted = self._total = 0

    def add(
        self, precision: FloatArray, recall: FloatArray, labelled: NDArray[np.bool_]
    ) -> None:
        counted = labelled & ~np.isnan(recall[:, -1])
        self._precision += precision[counted].sum(axis=0)
        self._recall += recall[counted].sum(axis=0)
        self._counted += int(np.count_nonzero(counted))
        self._total += len(counted)

    def curve(self, at: IdArray, definition: str) -> Curve:
        if not self._counted:
            raise ArgumentError(
                f"none of the {self._total:,} queries has a label and a relevant item, "
                f"so there is no {definition}"
            )
        precision, recall = self._precision, self._recall
        return Curve(
            at,
            precision / self._counted,
            recall / self._counted,
            self._total - self._counted,
            definition,
        )


def share_found(hits: NDArray[Any], relevant: IdArray) -> FloatArray:
    """Divide each row by its number of relevant items; NaN when there are none."""
    values = np.full(hits.shape, np.nan)
    np.divide(hits, relevant[:, None], out=values, where=relevant[:, None] > 0)
    return values

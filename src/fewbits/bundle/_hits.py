"""Items that were found, with everything that was kept about them."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fewbits._repr import one_line
from fewbits._typing import IdArray
from fewbits.bundle._items import Items


class FoundRows(NamedTuple):
    """The rows of the nearest items of each query.

    Attributes
    ----------
    distances : ndarray of shape (n_queries, k)
        Nearest first.
    rows : ndarray of shape (n_queries, k), dtype int64
        Places in the collection, -1 where nothing was found.
    metric : {"hamming", "euclidean", "asymmetric"}
        What the distances are: bits that differ; those of kept vectors; or the sum of
        the query's ``|score|`` over the bits that differ.
    """

    distances: NDArray[Any]
    rows: IdArray
    metric: str

    def __repr__(self) -> str:
        return one_line(self)

    def padded(self, k: int) -> "FoundRows":
        """Return the same with `k` columns, -1 where nothing was found."""
        wider = ((0, 0), (0, k - self.rows.shape[1]))
        distances = np.pad(self.distances, wider, constant_values=-1)
        rows = np.pad(self.rows, wider, constant_values=-1)
        return FoundRows(distances, rows, self.metric)

    def records(
        self, items: Items, columns: Sequence[str] | None = None
    ) -> list[list[dict[str, Any]]]:
        """Return a list of hits for each query, see `hits_of`."""
        metric = None if self.metric == "hamming" else self.metric
        return hits_of(
            items, self.rows, metric=metric, names=columns, distance=self.distances
        )


def hits_of(
    items: Items,
    rows: IdArray,
    *,
    metric: str | None = None,
    names: Sequence[str] | None = None,
    **measured: NDArray[Any],
) -> list[list[dict[str, Any]]]:
    """Return a list of hits for each query.

    Parameters
    ----------
    items : Items
    rows : ndarray of shape (n_queries, k)
        Places of items, -1 where nothing was found.
    metric : str, default=None
        What ``distance`` means where it is not a number of bits; a hit tells it.
    names : sequence of str, default=None
        Columns that hits have; None for all.
    **measured : ndarray of shape (n_queries, k)
        What a hit has beside its ``id`` and ``columns``: ``distance`` or ``score``. The
        user's columns may have the same names, so they are kept apart.

    Returns
    -------
    list of list of dict
    """
    flat = rows.ravel()
    known = np.flatnonzero(flat >= 0)
    ids = items.ids_at(flat[known]).tolist()
    columns = items.records(flat[known], names)
    values = [each.ravel()[known].tolist() for each in measured.values()]
    extra = {} if metric is None else {"metric": metric}
    hits = [
        {
            "id": each,
            **dict(zip(measured, numbers, strict=True)),
            **extra,
            "columns": kept,
        }
        for each, kept, *numbers in zip(ids, columns, *values, strict=True)
    ]
    ends = np.searchsorted(known, np.arange(len(rows) + 1) * rows.shape[1])
    return [hits[ends[i] : ends[i + 1]] for i in range(len(rows))]

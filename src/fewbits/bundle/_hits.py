"""Items that were found, with everything that was kept about them."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from fewbits._typing import IdArray
from fewbits.bundle._items import Items


def hits_of(
    items: Items,
    rows: IdArray,
    *,
    metric: str | None = None,
    **measured: NDArray[Any],
) -> list[list[dict[str, Any]]]:
    """Return a list of hits for each query.

    Parameters
    ----------
    items : Items
    rows : ndarray of shape (n_queries, k)
        Places of items, -1 where nothing was found.
    metric : str, default=None
        What ``distance`` means where it is no number of bits; a hit tells it.
    **measured : ndarray of shape (n_queries, k)
        What a hit has beside its ``id`` and ``columns``: ``distance`` or ``score``. The
        user's columns may have the same names, so they are kept apart.

    Returns
    -------
    list of list of dict
    """
    flat = rows.ravel()
    known = np.flatnonzero(flat >= 0)
    ids = items.ids[flat[known]].tolist()
    columns = items.records(flat[known])
    names = list(measured)
    values = [measured[name].ravel()[known].tolist() for name in names]
    told = {} if metric is None else {"metric": metric}
    hits = [
        {"id": each, **dict(zip(names, numbers, strict=True)), **told, "columns": kept}
        for each, kept, *numbers in zip(ids, columns, *values, strict=True)
    ]
    ends = np.searchsorted(known, np.arange(len(rows) + 1) * rows.shape[1])
    return [hits[ends[i] : ends[i + 1]] for i in range(len(rows))]

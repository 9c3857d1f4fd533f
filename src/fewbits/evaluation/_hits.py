"""Counts of relevant items among the first ranks."""

import numpy as np

from fewbits._typing import IdArray
from fewbits.evaluation._ties import FloatArray, TieGroups


def hits_at(groups: TieGroups, ranks: IdArray, ties: str) -> FloatArray:
    """Return counts of relevant items among the first ranks (n_queries, n_ranks).

    Along a ranking this number rises evenly within a group of ties; under
    ``optimistic`` and ``pessimistic`` each group is a rising and a flat part.
    """
    if ties in ("stable", "random"):
        counts = np.cumsum(groups.relevant, axis=1)[:, ranks - 1]
        return counts.astype(np.float64)
    hits = np.empty((len(groups.sizes), len(ranks)))
    for row, (sizes, relevant) in enumerate(zip(*groups, strict=True)):
        places, counts = _corners(sizes, relevant, ties)
        # Zero-length pieces would make the slope undefined.
        keep = np.diff(places, prepend=-1) > 0
        hits[row] = np.interp(ranks, places[keep], counts[keep])
    return hits


def _corners(sizes: IdArray, relevant: IdArray, ties: str) -> tuple[IdArray, IdArray]:
    """Return the ranks where the slope may change, and the hits up to there."""
    places, counts = np.cumsum(sizes), np.cumsum(relevant)
    if ties == "optimistic":
        inner = places - sizes + relevant, counts
    elif ties == "pessimistic":
        inner = places - relevant, counts - relevant
    else:
        inner = places - sizes, counts - relevant
    xs = np.stack([inner[0], places], axis=1).ravel()
    ys = np.stack([inner[1], counts], axis=1).ravel()
    return np.append(0, xs), np.append(0, ys)

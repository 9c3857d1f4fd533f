"""How many relevant items the first ranks hold."""

import numpy as np

from fewbits._typing import IdArray
from fewbits.evaluation._ties import FloatArray, TieGroups


def hits_at(groups: TieGroups, ranks: IdArray, ties: str) -> FloatArray:
    """Return how many relevant items are among the first ranks (n_queries, n_ranks).

    Along a ranking this number rises evenly within a group of ties; under
    ``optimistic`` and ``pessimistic`` each group is a rising and a flat part.
    """
    if ties in ("stable", "random"):
        counts = np.cumsum(groups.relevant, axis=1)[:, ranks - 1]
        return counts.astype(np.float64)
    hits = np.empty((len(groups.sizes), len(ranks)))
    for row, (sizes, relevant) in enumerate(zip(*groups, strict=True)):
        chosen = sizes > 0
        sizes, relevant = sizes[chosen], relevant[chosen]
        xs, ys = np.cumsum(sizes), np.cumsum(relevant)
        if ties != "expected":
            first, rises = relevant, ys
            if ties == "pessimistic":
                first, rises = sizes - relevant, ys - relevant
            xs = np.stack([xs - sizes + first, xs], axis=1).ravel()
            ys = np.stack([rises, ys], axis=1).ravel()
        keep = np.diff(xs, prepend=0) > 0
        xs, ys = xs[keep], ys[keep]
        hits[row] = np.interp(ranks, np.append(0, xs), np.append(0, ys))
    return hits

"""The trust that a map of codes deserves."""

import math
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fewbits._checks import generator
from fewbits._repr import short_repr
from fewbits._spans import spans
from fewbits._typing import CodeArray, IdArray
from fewbits.analysis._codes import sampled_rows
from fewbits.codes import hamming_distances, hamming_topk

FloatArray = NDArray[np.float64]
_CLOSED = 1 + 1e-12  # squares are whole numbers below 2**34: a rounding of their roots
_BLOCK = 256  # items whose distances are looked at together
_AROUND = 12  # sampled items that tell of the map around a place


@dataclass(frozen=True, eq=False, slots=True)
class MapTrust:
    """Shares of true neighbours kept, of sampled items.

    `share` is the mean over the items: 1 for a map on which the nearest points are the
    `k` nearest codes; `by_chance` that of a map without any order; `interval` the 95 %
    confidence interval of the mean over all items. `rows`, `shares` and `places` (m, 2)
    are those of the sampled items.
    """

    k: int
    share: float
    interval: tuple[float, float]
    by_chance: float
    rows: IdArray = field(repr=False)
    shares: FloatArray = field(repr=False)
    places: FloatArray = field(repr=False)

    __repr__ = short_repr

    def around(self, places: ArrayLike) -> FloatArray:
        """Return the mean share of the sampled items nearest to each place (n, 2)."""
        from scipy.spatial import KDTree

        k = min(_AROUND, len(self.rows))
        nearest = KDTree(self.places).query(
            np.asarray(places, np.float64), k=[*range(1, k + 1)]
        )[1]
        means: FloatArray = self.shares[nearest].mean(axis=1)
        return means


def map_trust(
    codes: CodeArray, places: ArrayLike, *, k: int = 10, max_items: int = 2000
) -> MapTrust:
    """Estimate the share of the nearest codes that are among the nearest points.

    An item keeps as many neighbours as there are items both as near in bits as its
    `k`-th nearest and as near on the map as the `k`-th nearest there, at most `k`: what
    is equally near counts equally. `max_items` are compared with all; `places` are as
    those of `MapLayout`.
    """
    points, n = np.asarray(places, np.float64), len(codes)
    k = min(k, n - 1)
    rows = np.arange(n)[sampled_rows(n, max_items, generator(0))]
    shares = np.ones(len(rows))
    if k:
        from scipy.spatial import KDTree

        tree = KDTree(points)
    for block in spans(len(rows) if k else 0, _BLOCK):
        sample = rows[block]
        # The item itself is one of the k + 1, at distance 0.
        farthest = hamming_topk(codes[sample], codes, k + 1).distances[:, k]
        radius = np.asarray(tree.query(points[sample], k=[k + 1])[0])[:, 0]
        near = tree.query_ball_point(points[sample], radius * _CLOSED)
        triples = zip(sample, farthest, near, strict=True)
        for i, (row, limit, others) in enumerate(triples, block.start):
            distances = hamming_distances(codes[row : row + 1], codes[others])
            n_both = int(np.count_nonzero(distances <= limit)) - 1  # without itself
            shares[i] = min(n_both, k) / k
    # A normal interval of the mean, which a census knows exactly.
    m, mean, error = len(shares), float(shares.mean()), 0.0
    if 1 < m < n:
        error = 1.96 * float(shares.std(ddof=1)) * math.sqrt((n - m) / (n - 1) / m)
    return MapTrust(
        k,
        mean,
        (max(0.0, mean - error), min(1.0, mean + error)),
        k / max(n - 1, 1),
        rows,
        shares,
        points[rows],
    )

"""The share of true neighbours that are neighbours on a map, too."""

import math
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fewbits._checks import check_count, generator
from fewbits._repr import one_line
from fewbits._typing import CodeArray, IdArray
from fewbits.analysis._checks import sampled_rows
from fewbits.codes import as_codes, hamming_distances, hamming_topk
from fewbits.errors import ArgumentError

FloatArray = NDArray[np.float64]
_CLOSED = 1 + 1e-12  # squares are whole numbers below 2**34: a rounding of their roots
_BLOCK = 256  # items whose distances are looked at together
_AROUND = 12  # sampled items that tell of the map around a place


@dataclass(frozen=True, eq=False, slots=True)
class MapTrust:
    """Shares of true neighbours kept, of sampled items.

    Attributes
    ----------
    k : int
        Neighbours looked at.
    share : float
        Mean over the items: 1 for a map on which the nearest points are the nearest
        codes.
    interval : tuple of (float, float)
        95 % confidence interval of the mean over all items.
    by_chance : float
        The share that a map without any order keeps.
    rows : ndarray of shape (m,), dtype int64
        The sampled items, rising.
    shares : ndarray of shape (m,), dtype float64
    places : ndarray of shape (m, 2), dtype float64
    """

    k: int
    share: float
    interval: tuple[float, float]
    by_chance: float
    rows: IdArray = field(repr=False)
    shares: FloatArray = field(repr=False)
    places: FloatArray = field(repr=False)

    def __repr__(self) -> str:
        return one_line(self)

    def around(self, places: ArrayLike) -> FloatArray:
        """Return the mean share of the sampled items nearest to each place.

        Parameters
        ----------
        places : array-like of shape (n, 2)

        Returns
        -------
        ndarray of shape (n,), dtype float64
        """
        from scipy.spatial import KDTree

        k = min(_AROUND, len(self.rows))
        nearest = KDTree(self.places).query(
            np.asarray(places, np.float64), k=[*range(1, k + 1)]
        )[1]
        means: FloatArray = self.shares[nearest].mean(axis=1)
        return means


def map_trust(
    codes: CodeArray,
    places: ArrayLike,
    *,
    k: int = 10,
    max_items: int = 2000,
    random_state: int | None = 0,
) -> MapTrust:
    """Estimate the share of the nearest codes that are among the nearest points.

    An item keeps as many neighbours as there are items both as near in bits as its
    `k`-th nearest and as near on the map as the `k`-th nearest there, at most `k`: what
    is equally near counts equally.

    Parameters
    ----------
    codes : ndarray of shape (n, n_bytes), dtype uint8
    places : array-like of shape (n, 2)
        Whole numbers from 0 to 65,535, as of `MapLayout.place`.
    k : int, default=10
        All others where there are fewer.
    max_items : int, default=2000
        Of so many items, drawn where there are more; they are compared with all.
    random_state : int or None, default=0

    Returns
    -------
    MapTrust

    Raises
    ------
    ArgumentError
        When there are no codes, or not as many places.

    Examples
    --------
    >>> import numpy as np
    >>> codes = np.array([[0], [1], [7], [15]], np.uint8)
    >>> map_trust(codes, [[0, 0], [1, 0], [3, 0], [4, 0]], k=1).share
    1.0
    >>> map_trust(codes, [[0, 0], [3, 0], [1, 0], [4, 0]], k=1).share
    0.0
    """
    codes, points = as_codes(codes), np.asarray(places, np.float64)
    if not len(codes) or points.shape != (len(codes), 2):
        raise ArgumentError(
            f"need as many places as codes, at least one: got {len(codes)} codes and "
            f"places of shape {points.shape}"
        )
    check_count(max_items, "max_items")
    n, k = len(codes), min(check_count(k, "k"), len(codes) - 1)
    rows = np.arange(n)[sampled_rows(n, max_items, generator(random_state))]
    shares = np.ones(len(rows)) if not k else _shares(codes, points, rows, k)
    return MapTrust(
        k,
        float(shares.mean()),
        _interval(shares, n),
        k / max(n - 1, 1),
        rows,
        shares,
        points[rows],
    )


def _shares(codes: CodeArray, points: FloatArray, rows: IdArray, k: int) -> FloatArray:
    from scipy.spatial import KDTree

    tree = KDTree(points)
    shares = np.empty(len(rows))
    for start in range(0, len(rows), _BLOCK):
        block = slice(start, start + _BLOCK)
        own = rows[block]
        # The item itself is one of the k + 1, at distance 0.
        farthest = hamming_topk(codes[own], codes, k + 1).distances[:, k]
        radius = np.asarray(tree.query(points[own], k=[k + 1])[0])[:, 0]
        near = tree.query_ball_point(points[own], radius * _CLOSED)
        shares[block] = [
            _kept(codes, row, limit, others, k)
            for row, limit, others in zip(own, farthest, near, strict=True)
        ]
    return shares


def _kept(codes: CodeArray, row: int, limit: int, others: list[int], k: int) -> float:
    distances = hamming_distances(codes[row : row + 1], codes[others])
    n_both = int(np.count_nonzero(distances <= limit))
    return min(n_both - 1, k) / k  # without the item itself


def _interval(shares: FloatArray, n: int) -> tuple[float, float]:
    """Return a normal interval of the mean, which a census knows exactly."""
    m = len(shares)
    if m < 2 or m == n:
        return (float(shares.mean()),) * 2
    error = 1.96 * float(shares.std(ddof=1)) * math.sqrt((n - m) / (n - 1) / m)
    mean = float(shares.mean())
    return max(0.0, mean - error), min(1.0, mean + error)

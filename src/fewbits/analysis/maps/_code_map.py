"""Small maps of codes by their distances, and the trust that any map deserves."""

import math
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fewbits._checks import check_choice, check_count, generator
from fewbits._repr import one_line
from fewbits._spans import spans
from fewbits._typing import CodeArray, IdArray
from fewbits.analysis._codes import sampled_rows
from fewbits.codes import as_codes, hamming_distances, hamming_topk
from fewbits.errors import ArgumentError

FloatArray = NDArray[np.float64]
_MAX_ITEMS = 10_000  # all their distances take 800 MB
_PERPLEXITY = 30.0
_ENOUGH = 1e-5  # SMACOF stops when the stress falls by less than this share
_SMALL = 1e-4  # spread of the points that t-SNE starts from
_CLOSED = 1 + 1e-12  # squares are whole numbers below 2**34: a rounding of their roots
_BLOCK = 256  # items whose distances are looked at together
_AROUND = 12  # sampled items that tell of the map around a place


@dataclass(frozen=True, eq=False, slots=True)
class CodeMap:
    """Points for items.

    `coordinates` (m, 2) are centred; the unit is a bit except for t-SNE, where it has
    no meaning. `rows` are the items that the points stand for, rising. `stress` is
    Kruskal's stress-1 at the best scale: 0 is a perfect map, 1 shows nothing.
    """

    coordinates: FloatArray = field(repr=False)
    rows: IdArray = field(repr=False)
    method: str
    stress: float

    __repr__ = one_line


def map_codes(
    codes: CodeArray,
    *,
    method: str = "smacof",
    max_items: int = 1000,
) -> CodeMap:
    """Place codes on a plane by their Hamming distances, `max_items` of them at most.

    "smacof" is metric multidimensional scaling, which lowers the stress from where
    "classical" scaling (principal coordinates) ends (Borg and Groenen, "Modern
    Multidimensional Scaling", 2nd edition, Springer 2005). Both show large distances
    well. "tsne" shows neighbourhoods: only what is near is meant (van der Maaten and
    Hinton, "Visualizing Data using t-SNE", JMLR 9, 2008; started from principal
    coordinates as Kobak and Berens, "The Art of Using t-SNE for Single-Cell
    Transcriptomics", Nature Communications 10, 2019, recommend). The time grows with
    the square of the items, and a thousand take a second, by t-SNE some five.
    """
    codes = as_codes(codes)
    if not len(codes):
        raise ArgumentError("need at least one code, got none")
    check_choice(method, "method", ("smacof", "classical", "tsne"))
    if check_count(max_items, "max_items") > _MAX_ITEMS:
        raise ArgumentError(f"a map takes at most {_MAX_ITEMS} items, got {max_items}")
    rng = generator(0)
    rows = np.arange(len(codes))[sampled_rows(len(codes), max_items, rng)]
    sample = codes[rows]
    distances = hamming_distances(sample, sample).astype(np.float64)
    coordinates = np.zeros((len(rows), 2))
    if distances.any():
        coordinates = _principal_coordinates(distances)
        if method == "smacof":
            from sklearn.manifold import smacof

            coordinates, _ = smacof(
                distances,
                init=coordinates,
                n_init=1,
                normalized_stress=False,
                eps=_ENOUGH,
            )
        elif method == "tsne":
            from sklearn.manifold import TSNE

            start = coordinates * (_SMALL / coordinates[:, 0].std())
            tsne = TSNE(
                metric="precomputed",
                init=start.astype(np.float32),
                perplexity=min(_PERPLEXITY, (len(distances) - 1) / 3),
                random_state=0,
            )
            coordinates = tsne.fit_transform(distances).astype(np.float64)
    return CodeMap(
        coordinates - coordinates.mean(axis=0),
        rows,
        method,
        _stress(distances, coordinates),
    )


def _principal_coordinates(distances: FloatArray) -> FloatArray:
    """Return Torgerson's classical scaling, with signs that make it unique."""
    from scipy.linalg import eigh

    n = len(distances)
    products = np.square(distances)
    products -= products.mean(axis=0)
    products -= products.mean(axis=1)[:, None]
    products *= -0.5
    values, vectors = eigh(products, subset_by_index=[max(0, n - 2), n - 1])
    vectors = vectors * np.sqrt(values.clip(0))
    farthest = np.abs(vectors).argmax(axis=0)
    vectors *= np.where(vectors[farthest, np.arange(vectors.shape[1])] < 0, -1, 1)
    return np.ascontiguousarray(vectors[:, ::-1])


def _stress(distances: FloatArray, coordinates: FloatArray) -> float:
    from scipy.spatial.distance import pdist, squareform

    d, m = squareform(distances, checks=False), pdist(coordinates)
    squares = (d @ d) * (m @ m)
    # With the best scale, the rest is what a correlation without centring leaves.
    explained = (d @ m) ** 2 / squares if squares else float(not d.any())
    return float(np.sqrt(max(0.0, 1 - explained)))


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

    __repr__ = one_line

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
    is equally near counts equally. `max_items` are compared with all; `places` are as
    those of `MapLayout`.
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

"""Codes on a plane, so that their distances are nearly those between points."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fewbits._checks import check_choice, check_count, generator
from fewbits._repr import one_line
from fewbits._typing import CodeArray, IdArray
from fewbits.analysis._checks import sampled_rows
from fewbits.codes import as_codes, hamming_distances
from fewbits.errors import ArgumentError

FloatArray = NDArray[np.float64]

MAX_ITEMS = 10_000  # all their distances take 800 MB
_PERPLEXITY = 30.0
_ENOUGH = 1e-5  # SMACOF stops when the stress falls by less than this share
_SMALL = 1e-4  # spread of the points that t-SNE starts from


@dataclass(frozen=True, eq=False, slots=True)
class CodeMap:
    """Points for items.

    Attributes
    ----------
    coordinates : ndarray of shape (m, 2), dtype float64
        Centred; the unit is a bit except for t-SNE, where it has no meaning.
    rows : ndarray of shape (m,), dtype int64
        The items that the points stand for, rising.
    method : str
    stress : float
        Kruskal's stress-1 at the best scale: 0 is a perfect map, 1 shows nothing.
    """

    coordinates: FloatArray = field(repr=False)
    rows: IdArray = field(repr=False)
    method: str
    stress: float

    def __repr__(self) -> str:
        return one_line(self)


def map_codes(
    codes: CodeArray,
    *,
    method: str = "smacof",
    max_items: int = 1000,
    random_state: int | None = 0,
) -> CodeMap:
    """Place codes on a plane by their Hamming distances.

    Parameters
    ----------
    codes : ndarray of shape (n, n_bytes), dtype uint8
    method : {"smacof", "classical", "tsne"}, default="smacof"
        ``smacof`` is metric multidimensional scaling, which lowers the stress from
        where ``classical`` scaling (principal coordinates) ends. Both show large
        distances well. ``tsne`` shows neighbourhoods: only what is near is meant.
    max_items : int, default=1000
        Where there are more, so many are drawn. At most 10,000; the time grows with the
        square, and a thousand take a second, by t-SNE some five.
    random_state : int or None, default=0
        Seeds the draw; the maps themselves use no chance but in t-SNE's order.

    Returns
    -------
    CodeMap

    Raises
    ------
    ArgumentError
        When there is no code or no such method, or `max_items` is out of range.

    Notes
    -----
    The stress is ``min_b sqrt(sum (d - b m)^2 / sum d^2)`` over all pairs, ``d`` their
    Hamming distance and ``m`` their distance on the map.

    References
    ----------
    Borg and Groenen, "Modern Multidimensional Scaling", 2nd edition, Springer 2005.

    van der Maaten and Hinton, "Visualizing Data using t-SNE", JMLR 9, 2008; started
    from principal coordinates as Kobak and Berens, "The Art of Using t-SNE for
    Single-Cell Transcriptomics", Nature Communications 10, 2019, recommend.

    Examples
    --------
    >>> import numpy as np
    >>> codes = np.array([[0b000], [0b001], [0b111]], np.uint8)
    >>> found = map_codes(codes, method="classical")
    >>> abs(found.coordinates[:, 0]).round(2), found.stress < 1e-6
    (array([1.33, 0.33, 1.67]), True)
    """
    codes = as_codes(codes)
    if not len(codes):
        raise ArgumentError("need at least one code, got none")
    check_choice(method, "method", _METHODS)
    if check_count(max_items, "max_items") > MAX_ITEMS:
        raise ArgumentError(f"a map takes at most {MAX_ITEMS} items, got {max_items}")
    rng = generator(random_state)
    rows = np.arange(len(codes))[sampled_rows(len(codes), max_items, rng)]
    chosen = codes[rows]
    distances = hamming_distances(chosen, chosen).astype(np.float64)
    coordinates = np.zeros((len(rows), 2))
    if distances.any():
        start = _principal_coordinates(distances)
        coordinates = _METHODS[method](distances, start, random_state)
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


def _classical(
    distances: FloatArray, start: FloatArray, seed: int | None
) -> FloatArray:
    return start


def _smacof(distances: FloatArray, start: FloatArray, seed: int | None) -> FloatArray:
    from sklearn.manifold import smacof

    points: FloatArray
    points, _ = smacof(
        distances, init=start, n_init=1, normalized_stress=False, eps=_ENOUGH
    )
    return points


def _tsne(distances: FloatArray, start: FloatArray, seed: int | None) -> FloatArray:
    from sklearn.manifold import TSNE

    tsne = TSNE(
        metric="precomputed",
        init=(start * (_SMALL / start[:, 0].std())).astype(np.float32),
        perplexity=min(_PERPLEXITY, (len(distances) - 1) / 3),
        random_state=seed,
    )
    points: FloatArray = tsne.fit_transform(distances).astype(np.float64)
    return points


_METHODS: dict[str, Callable[[FloatArray, FloatArray, Any], FloatArray]] = {
    "smacof": _smacof,
    "classical": _classical,
    "tsne": _tsne,
}


def _stress(distances: FloatArray, coordinates: FloatArray) -> float:
    from scipy.spatial.distance import pdist, squareform

    wanted, found = squareform(distances, checks=False), pdist(coordinates)
    squares = (wanted @ wanted) * (found @ found)
    # With the best scale, the rest is what a correlation without centring leaves.
    explained = (wanted @ found) ** 2 / squares if squares else float(not wanted.any())
    return float(np.sqrt(max(0.0, 1 - explained)))

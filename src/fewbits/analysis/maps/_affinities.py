"""The pull of the nearest codes on a point."""

import numpy as np
from numpy.typing import NDArray

from fewbits._typing import CodeArray, DistanceArray, IdArray
from fewbits.codes import hamming_topk

FloatArray = NDArray[np.float64]
#: Codes that an item is drawn to, and how many of them count in effect.
N_NEAREST, PERPLEXITY = 15, 10.0
_STEPS = 26  # of bisection
_STEEPEST = 4.0  # what is a bit further counts 2 %


def neighbour_weights(distances: DistanceArray, perplexity: float) -> list[FloatArray]:
    """Return weights of the nearest codes that sum to 1 for each item.

    They are ``exp(-b d)`` with the Hamming distance ``d``, which is the squared
    Euclidean distance of bits, and the ``b`` of the item that gives them this
    perplexity.

    Parameters
    ----------
    distances : ndarray of shape (n, k), dtype int32
        Rising in each row.
    perplexity : float
        Below `k`; where more codes than that are equally near, all of them count.

    Returns
    -------
    list of k ndarrays of shape (n,)
        Columns, each computed entry by entry: sums along rows may depend on how many
        rows there are.
    """
    k = distances.shape[1]
    gaps = [(distances[:, j] - distances[:, 0]).astype(np.float64) for j in range(k)]
    low = np.zeros(len(distances))
    high = np.full(len(distances), _STEEPEST)
    wanted = np.log(min(perplexity, k))
    for _ in range(_STEPS):
        scale = (low + high) / 2
        flat = _entropy(gaps, scale) > wanted
        low = np.where(flat, scale, low)
        high = np.where(flat, high, scale)
    weights = [np.exp(-high * gap) for gap in gaps]
    total = _sum(weights)
    return [each / total for each in weights]


def among_neighbours(
    x: list[FloatArray], y: list[FloatArray], weights: list[FloatArray]
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return a place in the middle of those neighbours that are near each other.

    Their common middle would lie between groups, where nothing belongs.

    Parameters
    ----------
    x, y, weights : list of k ndarrays of shape (n,)
        Places of the neighbours of each item, and how much they count.

    Returns
    -------
    x, y : ndarray of shape (n,)
    pull : ndarray of shape (n,)
        The sum of ``weight / (1 + d^2)`` around the neighbour at which it is largest.
    """
    best = np.full(len(x[0]), -1.0)
    best_x, best_y = np.zeros_like(best), np.zeros_like(best)
    for centre_x, centre_y in zip(x, y, strict=True):
        pull, sum_x, sum_y = np.zeros((3, len(best)))
        for at_x, at_y, weight in zip(x, y, weights, strict=True):
            across, down = at_x - centre_x, at_y - centre_y
            drawn = weight / (1 + across * across + down * down)
            pull += drawn
            sum_x += drawn * at_x
            sum_y += drawn * at_y
        better = pull > best
        best = np.where(better, pull, best)
        best_x = np.where(better, sum_x / pull, best_x)
        best_y = np.where(better, sum_y / pull, best_y)
    return best_x, best_y, best


def _entropy(gaps: list[FloatArray], scale: FloatArray) -> FloatArray:
    weights = [np.exp(-scale * gap) for gap in gaps]
    total = _sum(weights)
    moment = _sum([each * gap for each, gap in zip(weights, gaps, strict=True)])
    return np.log(total) + scale * moment / total


def _sum(columns: list[FloatArray]) -> FloatArray:
    total = columns[0].copy()
    for column in columns[1:]:
        total += column
    return total


def other_neighbours(codes: CodeArray, k: int) -> tuple[DistanceArray, IdArray]:
    """Return distances and rows of the `k` nearest other codes of each code."""
    n = len(codes)
    distances, rows = hamming_topk(codes, codes, k + 1)
    other = rows != np.arange(n)[:, None]
    other[other.all(axis=1), -1] = False  # its own row is beyond ties
    return distances[other].reshape(n, k), rows[other].reshape(n, k)

"""Places on a map for codes that it was not laid out by."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from fewbits._typing import CodeArray
from fewbits.analysis.maps._affinities import among_neighbours, neighbour_weights
from fewbits.analysis.maps._field import RepulsionField
from fewbits.codes import hamming_topk

FloatArray = NDArray[np.float64]
#: Landmarks that an item is drawn to, and how many of them count in effect.
_NEAREST, _PERPLEXITY = 10, 5.0
_STEPS, _RATE = 20, 0.5
_LONGEST = 1.0  # a step; the landmarks are about 1 apart
_BLOCK = 8192  # items whose arrays stay in the cache


class Pulls(NamedTuple):
    """The landmarks that draw items, a column each, and their weights."""

    x: list[FloatArray]
    y: list[FloatArray]
    weights: list[FloatArray]


class Placer:
    """Puts each item where the landmarks' forces on it are at rest, as in t-SNE.

    The landmarks stay: their repulsion is a field that is computed once. An item knows
    of no other item, and every operation is made entry by entry, so that it lands in
    the same place alone and in any batch.

    Parameters
    ----------
    codes : ndarray of shape (m, n_bytes), dtype uint8
        Codes of the landmarks.
    points : ndarray of shape (2, m), dtype float64
    """

    def __init__(self, codes: CodeArray, points: FloatArray) -> None:
        self._codes, self._points = codes, points
        self._field = RepulsionField(*points)
        self._low = points.min(axis=1) - _LONGEST
        self._high = points.max(axis=1) + _LONGEST

    def place(self, codes: CodeArray) -> FloatArray:
        """Return points of shape (2, n)."""
        points = np.empty((2, len(codes)))
        for start in range(0, len(codes), _BLOCK):
            block = slice(start, start + _BLOCK)
            points[:, block] = self._block(codes[block])
        return points

    def _block(self, codes: CodeArray) -> FloatArray:
        k = min(_NEAREST, len(self._codes))
        distances, rows = hamming_topk(codes, self._codes, k)
        weights = neighbour_weights(distances, _PERPLEXITY)
        x, y = ([axis[rows[:, j]] for j in range(k)] for axis in self._points)
        pulls = Pulls(x, y, weights)
        points = self._at_rest(pulls)
        known = distances[:, 0] == 0
        points[:, known] = self._points[:, rows[known, 0]]
        return points

    def _at_rest(self, pulls: Pulls) -> FloatArray:
        x, y, _ = among_neighbours(*pulls)
        for _ in range(_STEPS):
            step_x, step_y = self._step(pulls, x, y)
            x = np.clip(x - step_x, self._low[0], self._high[0])
            y = np.clip(y - step_y, self._low[1], self._high[1])
        return np.array([x, y])

    def _step(
        self, pulls: Pulls, x: FloatArray, y: FloatArray
    ) -> tuple[FloatArray, FloatArray]:
        """Return the gradient over the stiffness of the pulls."""
        pull_x, pull_y, stiffness = np.zeros((3, len(x)))
        for to_x, to_y, weight in zip(*pulls, strict=True):
            across, down = x - to_x, y - to_y
            drawn = weight / (1 + across * across + down * down)
            pull_x += drawn * across
            pull_y += drawn * down
            stiffness += drawn
        forces = self._field.at(x, y)
        share = 1 / np.maximum(forces.kernel, 1)
        stiffness = np.maximum(stiffness, 1e-3)
        step_x = (pull_x - forces.x * share) / stiffness
        step_y = (pull_y - forces.y * share) / stiffness
        length = np.sqrt(step_x * step_x + step_y * step_y)
        rate = _RATE * np.minimum(1, _LONGEST / np.maximum(length, 1e-9))
        return step_x * rate, step_y * rate

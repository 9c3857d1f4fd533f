"""A map of any number of codes, laid out by some of them."""

from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fewbits._checks import generator
from fewbits._frozen import Immutable, frozen_array
from fewbits._labels import as_classes
from fewbits._spans import spans
from fewbits._typing import CodeArray
from fewbits.analysis.maps._tsne import (
    RepulsionField,
    among_neighbours,
    neighbour_weights,
    tsne,
)
from fewbits.codes import as_codes, hamming_topk

FloatArray = NDArray[np.float64]
Progress = Callable[[int, int], None]
#: The points of the landmarks keep so far from the border, for what lies beyond them.
_BORDER, _SIDE = 0.02, 65_535
#: Landmarks that an item is drawn to, and how many of them count in effect.
_NEAREST, _PERPLEXITY = 10, 5.0
_STEPS, _RATE = 20, 0.5
_LONGEST = 1.0  # a step; the landmarks are about 1 apart
_BLOCK = 8192  # items whose arrays stay in the cache
_ODD = np.uint64(0x9E3779B97F4A7C15)


class MapLayout(Immutable):
    """Landmarks on a plane, and by them places for any code.

    The landmarks have different codes, and points (2, m), whose unit is the distance at
    which the kernel of t-SNE falls to half.
    """

    def __init__(self, codes: CodeArray, points: FloatArray) -> None:
        self.codes = frozen_array(as_codes(codes))
        self.points = frozen_array(np.asarray(points, np.float64))
        # The landmarks stay: their repulsion is a field that is computed once.
        self._field = RepulsionField(*self.points)
        low, high = self.points.min(axis=1), self.points.max(axis=1)
        self._lowest, self._highest = low - _LONGEST, high + _LONGEST
        # The same scale on both axes, the middle in the middle.
        self._scale = _SIDE * (1 - 2 * _BORDER) / (float((high - low).max()) or 1.0)
        self._middle = (low + high) / 2

    def __len__(self) -> int:
        return len(self.codes)

    def place(
        self, codes: CodeArray, progress: Progress | None = None
    ) -> NDArray[np.uint16]:
        """Return places (n, 2), uint16, for codes on a grid of 65,536 x 65,536.

        A code lands in the same place alone, in any batch, and on any number of
        threads; a landmark lands on itself. A million takes about a minute.
        """
        codes = as_codes(codes)
        places = np.empty((len(codes), 2), np.uint16)
        for block in spans(len(codes), _BLOCK):
            off = (self._at_rest(codes[block]) - self._middle[:, None]) * self._scale
            places[block] = np.clip(np.rint(off + _SIDE / 2), 0, _SIDE).T
            if progress is not None:
                progress(block.stop, len(codes))
        return places

    def _at_rest(self, codes: CodeArray) -> FloatArray:
        """Return points (2, n) where the landmarks' forces on codes are at rest.

        As in t-SNE, but the landmarks stay, and an item knows of no other item. Every
        operation is made entry by entry, so that it lands in the same place alone and
        in any batch.
        """
        k = min(_NEAREST, len(self.codes))
        distances, rows = hamming_topk(codes, self.codes, k)
        weights = neighbour_weights(distances, _PERPLEXITY)
        near_x, near_y = ([axis[rows[:, j]] for j in range(k)] for axis in self.points)
        x, y, _ = among_neighbours(near_x, near_y, weights)
        for _ in range(_STEPS):
            pull_x, pull_y, stiffness = np.zeros((3, len(x)))
            for to_x, to_y, weight in zip(near_x, near_y, weights, strict=True):
                across, down = x - to_x, y - to_y
                pull = weight / (1 + across * across + down * down)
                pull_x += pull * across
                pull_y += pull * down
                stiffness += pull
            kernel, push_x, push_y = self._field.at(x, y)
            share = 1 / np.maximum(kernel, 1)
            stiffness = np.maximum(stiffness, 1e-3)
            step_x = (pull_x - push_x * share) / stiffness
            step_y = (pull_y - push_y * share) / stiffness
            length = np.sqrt(step_x * step_x + step_y * step_y)
            rate = _RATE * np.minimum(1, _LONGEST / np.maximum(length, 1e-9))
            x = np.clip(x - step_x * rate, self._lowest[0], self._highest[0])
            y = np.clip(y - step_y * rate, self._lowest[1], self._highest[1])
        points = np.array([x, y])
        landmark = distances[:, 0] == 0
        points[:, landmark] = self.points[:, rows[landmark, 0]]
        return points


def fit_layout(
    codes: CodeArray,
    *,
    classes: ArrayLike | None = None,
    n_landmarks: int = 20_000,
    progress: Progress | None = None,
) -> MapLayout:
    """Lay out a map: t-SNE of a sample of the codes, by which all others are placed.

    Of `n_landmarks` different codes, or of all where there are fewer; 20,000 take some
    ten seconds on one core. They are drawn so that each of `classes` has a share in
    proportion to the power 3/4 of its size: the small ones count a little more. The
    draw is always the same, and the number of threads makes no difference.
    """
    groups = np.zeros(len(codes), np.int64)
    if classes is not None:
        groups = as_classes(classes, len(codes), "classes")[1]
    # One of each different code; of two that collide, one.
    rows = np.sort(np.unique(code_hashes(codes), return_index=True)[1])
    if len(rows) > n_landmarks:
        # Keys whose order is a draw without replacement by weights (Efraimidis and
        # Spirakis, "Weighted random sampling with a reservoir", IPL 97, 2006).
        weights = np.bincount(groups[rows])[groups[rows]] ** -0.25
        keys = generator(0).exponential(size=len(rows)) / weights
        rows = np.sort(rows[np.argpartition(keys, n_landmarks)[:n_landmarks]])
    landmarks = np.ascontiguousarray(codes[rows])
    return MapLayout(landmarks, tsne(landmarks, progress))


def code_hashes(codes: CodeArray) -> NDArray[np.uint64]:
    """Return a number for each code; those of different codes are hardly ever equal."""
    n, width = codes.shape
    padded = np.zeros((n, -(-width // 8) * 8), np.uint8)
    padded[:, :width] = codes
    hashes = np.zeros(n, np.uint64)
    for word in padded.view(np.uint64).T:
        hashes = (hashes ^ word) * _ODD
        hashes ^= hashes >> np.uint64(31)
    return hashes

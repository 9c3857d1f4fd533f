"""The repulsion of many points, from a grid.

All pairs of points would take time with the square of their number. As in FIt-SNE, the
points are put on a grid, the sums over all of them are convolutions there, and what
acts on a point is interpolated from the nodes around it.

References
----------
Linderman, Rachh, Hoskins, Steinerberger and Kluger, "Fast Interpolation-based t-SNE for
Improved Visualization of Single-Cell RNA-Seq Data", Nature Methods 16, 2019.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from fewbits._typing import IdArray

FloatArray = NDArray[np.float64]
_STEP = 0.6  # between nodes at least; the kernels fall to half at 1
_MOST = 600  # nodes along a side, whatever becomes of the points
_EDGE = 3  # nodes around the points


class Forces(NamedTuple):
    """Sums over the points: of the kernel, and of the repulsion along each axis."""

    kernel: FloatArray
    x: FloatArray
    y: FloatArray


class _Cells(NamedTuple):
    """The nodes around places, and their weights."""

    nodes: IdArray
    weights_x: tuple[FloatArray, ...]
    weights_y: tuple[FloatArray, ...]


class RepulsionField:
    """Sums of ``1 / (1 + d^2)`` and its gradients over points, anywhere near them.

    Parameters
    ----------
    x, y : ndarray of shape (n,)
        The points.
    """

    def __init__(self, x: FloatArray, y: FloatArray) -> None:
        from scipy.fft import irfft2, next_fast_len, rfft2

        span = max(float(np.ptp(x)), float(np.ptp(y)))
        self._step = step = max(_STEP, span / _MOST)
        self._low = float(x.min()) - _EDGE * step, float(y.min()) - _EDGE * step
        period = next_fast_len(2 * (int(span / step) + 2 * _EDGE + 2), real=True)
        self._side = side = period // 2
        # Twice the side: a convolution over a period would wrap around.
        shape = (2 * side, 2 * side)
        spread = rfft2(self._spread(x, y), s=shape)
        sums = [irfft2(spread * rfft2(each), s=shape) for each in _kernels(side, step)]
        self._sums = [np.ascontiguousarray(each[:side, :side]).ravel() for each in sums]

    def at(self, x: FloatArray, y: FloatArray) -> Forces:
        """Return the sums at places, each of them computed by itself."""
        cells = self._cells(x, y)
        found = [np.zeros(len(x)) for _ in self._sums]
        for nodes, weights in self._around(cells):
            for total, sums in zip(found, self._sums, strict=True):
                total += weights * sums[nodes]
        return Forces(*found)

    def _spread(self, x: FloatArray, y: FloatArray) -> FloatArray:
        grid = np.zeros(self._side * self._side)
        for nodes, weights in self._around(self._cells(x, y)):
            grid += np.bincount(nodes, weights, minlength=len(grid))
        return grid.reshape(self._side, self._side)

    def _cells(self, x: FloatArray, y: FloatArray) -> _Cells:
        (across, weights_x), (down, weights_y) = (
            _nearest_nodes((place - low) / self._step, self._side)
            for place, low in zip((x, y), self._low, strict=True)
        )
        return _Cells(across * self._side + down, weights_x, weights_y)

    def _around(self, cells: _Cells) -> list[tuple[IdArray, FloatArray]]:
        return [
            (cells.nodes + (i - 1) * self._side + (j - 1), weight_x * weight_y)
            for i, weight_x in enumerate(cells.weights_x)
            for j, weight_y in enumerate(cells.weights_y)
        ]


def _nearest_nodes(
    place: FloatArray, side: int
) -> tuple[IdArray, tuple[FloatArray, ...]]:
    """Return the middle one of three nodes, and Lagrange's weights of the three."""
    node = np.clip(np.rint(place), 1, side - 2)
    off = np.clip(place - node, -1, 1)
    weights = off * (off - 1) / 2, 1 - off * off, off * (off + 1) / 2
    return node.astype(np.int64), weights


def _kernels(side: int, step: float) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return the kernel, and its repulsion along each axis, around node (0, 0)."""
    steps = np.arange(2 * side)
    offset = np.where(steps <= side, steps, steps - 2 * side) * step
    kernel = 1 / (1 + offset[:, None] ** 2 + offset**2)
    squared = kernel * kernel
    return kernel, squared * offset[:, None], squared * offset

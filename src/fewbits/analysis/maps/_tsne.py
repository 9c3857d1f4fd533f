"""t-SNE of codes: points whose neighbours are those of the codes."""

from collections.abc import Callable
from typing import NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from fewbits._typing import CodeArray, IdArray
from fewbits.analysis.maps._affinities import (
    N_NEAREST,
    PERPLEXITY,
    among_neighbours,
    neighbour_weights,
    other_neighbours,
)
from fewbits.analysis.maps._field import RepulsionField
from fewbits.codes import unpack

FloatArray = NDArray[np.float64]
#: Iterations with exaggerated attraction and a low momentum, then without.
_EARLY, _LATE = (200, 12.0, 0.5), (350, 1.0, 0.8)
N_ITERATIONS = _EARLY[0] + _LATE[0]
_LONGEST = 5.0  # step of a point
#: After these iterations points are freed whose neighbours pull so much more elsewhere.
_FREED, _STUCK = (250, 300, 350, 400, 450), 3.0
_START = 1e-4  # spread of the points at the start
_TURNS = 60  # of the power method; any axes near the principal ones will do
_ROUNDING = 1e-3  # of a covariance in whole numbers, none at all


def tsne(
    codes: CodeArray, progress: Callable[[int, int], None] | None = None
) -> FloatArray:
    """Return points for codes.

    Nothing in it depends on a number of threads: there is no product of matrices, whose
    sums BLAS orders by the threads that it has, and t-SNE makes a map of its own out of
    each difference in the last bit.

    Parameters
    ----------
    codes : ndarray of shape (n, n_bytes), dtype uint8
        All different.
    progress : callable, default=None
        Called with (iterations done, iterations in all).

    Returns
    -------
    ndarray of shape (2, n), dtype float64
        Centred; neighbours are about 1 apart.

    References
    ----------
    van der Maaten and Hinton, "Visualizing Data using t-SNE", JMLR 9, 2008; started
    from principal components and with the learning rate of Belkina et al., "Automated
    optimized parameters for t-SNE", Nature Communications 10, 2019.
    """
    n = len(codes)
    points = _principal_components(codes)
    if n < 3 or not points.any():
        return points
    near = _Near.of(codes)
    first, second, weights = near.edges()
    velocity, gains = np.zeros((2, n)), np.ones((2, n))
    rate = n / _EARLY[1]
    done = 0
    for n_iterations, exaggeration, momentum in (_EARLY, _LATE):
        for _ in range(n_iterations):
            gradient = _gradient(points, first, second, weights * exaggeration)
            same = np.sign(gradient) == np.sign(velocity)
            gains = np.maximum(np.where(same, gains * 0.8, gains + 0.2), 0.01)
            velocity = momentum * velocity - rate * gains * gradient
            velocity = np.clip(velocity, -_LONGEST, _LONGEST)
            points = points + velocity
            points -= points.mean(axis=1, keepdims=True)
            done += 1
            if done in _FREED:
                points, moved = near.free(points)
                velocity[:, moved] = 0
            if progress is not None:
                progress(done, N_ITERATIONS)
    return points


class _Near(NamedTuple):
    """The nearest codes of each code: a column for each, and their weights."""

    rows: list[IdArray]
    weights: list[FloatArray]

    @classmethod
    def of(cls, codes: CodeArray) -> Self:
        distances, rows = other_neighbours(codes, min(N_NEAREST, len(codes) - 1))
        return cls(list(rows.T.copy()), neighbour_weights(distances, PERPLEXITY))

    def edges(self) -> tuple[IdArray, IdArray, FloatArray]:
        """Return pairs in both directions, with weights that sum to 1."""
        from scipy.sparse import csr_array

        n, k = len(self.rows[0]), len(self.rows)
        rows, weights = (np.stack(each, axis=1).ravel() for each in self)
        directed = csr_array((weights, rows, np.arange(0, n * k + 1, k)), shape=(n, n))
        both = (directed + directed.T).tocoo()
        first, second = (each.astype(np.int64) for each in both.coords)
        shares: FloatArray = np.asarray(both.data, np.float64) / (2 * n)
        return first, second, shares

    def free(self, points: FloatArray) -> tuple[FloatArray, NDArray[np.bool_]]:
        """Move points that are stuck far from their neighbours among these.

        Early on a point may be shut in by a group that it does not belong to, and the
        way out is uphill.
        """
        x, y = ([axis[rows] for rows in self.rows] for axis in points)
        drawn = np.zeros(points.shape[1])
        for at_x, at_y, weight in zip(x, y, self.weights, strict=True):
            drawn += weight / (1 + (at_x - points[0]) ** 2 + (at_y - points[1]) ** 2)
        to_x, to_y, pull = among_neighbours(x, y, self.weights)
        stuck = pull > _STUCK * drawn
        return np.where(stuck, (to_x, to_y), points), stuck


def _gradient(
    points: FloatArray, first: IdArray, second: IdArray, weights: FloatArray
) -> FloatArray:
    """Return the gradient of the divergence, eq. 5 of the paper."""
    x, y = points
    forces = RepulsionField(x, y).at(x, y)
    total = float(forces.kernel.sum()) - len(x)  # without the pairs of one point
    across, down = x[first] - x[second], y[first] - y[second]
    drawn = weights / (1 + across * across + down * down)
    pulls = [
        np.bincount(first, drawn * part, minlength=len(x)) for part in (across, down)
    ]
    return 4 * (np.array(pulls) - np.array([forces.x, forces.y]) / max(total, 1e-12))


def _principal_components(codes: CodeArray) -> FloatArray:
    """Return the first two principal components, very small."""
    bits = unpack(codes, codes.shape[1] * 8).astype(np.float64)
    # Whole numbers, so that their sums are exact in any order.
    sums = bits.sum(axis=0)
    covariance = len(codes) * (bits.T @ bits) - sums[:, None] * sums
    points = np.zeros((2, len(codes)))
    for row in points:
        axis, variance = _principal_axis(covariance)
        if variance <= 0:
            break
        row[:] = (bits * axis).sum(axis=1)
        row -= row.mean()
        covariance = covariance - variance * axis[:, None] * axis
    spread = float(points[0].std())
    return points * (_START / spread) if spread else points


def _principal_axis(covariance: FloatArray) -> tuple[FloatArray, float]:
    """Return an eigenvector with the largest eigenvalue, by the power method."""
    axis = covariance[np.diagonal(covariance).argmax()]
    for _ in range(_TURNS):
        length = float(np.sqrt((axis * axis).sum()))
        if length <= _ROUNDING:
            return np.zeros_like(axis), 0.0
        axis = axis / length
        turned = (covariance * axis).sum(axis=1)
        variance = float((turned * axis).sum())
        axis = turned
    return axis / float(np.sqrt((axis * axis).sum())), variance

"""t-SNE of codes: points whose neighbours are those of the codes."""

from collections.abc import Callable
from typing import NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from fewbits._typing import CodeArray, DistanceArray, IdArray
from fewbits.codes import hamming_topk, unpack

FloatArray = NDArray[np.float64]
#: Iterations with exaggerated attraction and a low momentum, then without.
_EARLY, _LATE = (200, 12.0, 0.5), (350, 1.0, 0.8)
_N_ITERATIONS = _EARLY[0] + _LATE[0]
_LONGEST = 5.0  # step of a point
#: After these iterations points are freed whose neighbours pull so much more elsewhere.
_FREED, _STUCK = (250, 300, 350, 400, 450), 3.0
_START = 1e-4  # spread of the points at the start
_TURNS = 60  # of the power method; any axes near the principal ones will do
_ROUNDING = 1e-3  # of a covariance in whole numbers, none at all
#: Codes that an item is drawn to, and how many of them count in effect.
_N_NEAREST, _PERPLEXITY = 15, 10.0
_STEPS = 26  # of bisection
_STEEPEST = 4.0  # what is a bit further counts 2 %
_STEP = 0.6  # between nodes at least; the kernels fall to half at 1
_MOST = 600  # nodes along a side, whatever becomes of the points
_EDGE = 3  # nodes around the points


def tsne(
    codes: CodeArray, progress: Callable[[int, int], None] | None = None
) -> FloatArray:
    """Return points (2, n) for different codes, centred; neighbours are about 1 apart.

    There is no product of matrices, whose sums BLAS orders by the threads that it has:
    t-SNE makes a map of its own out of each difference in the last bit. Started from
    principal components and with the learning rate of Belkina et al., "Automated
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
                progress(done, _N_ITERATIONS)
    return points


class _Near(NamedTuple):
    """The nearest codes of each code: a column for each, and their weights."""

    rows: list[IdArray]
    weights: list[FloatArray]

    @classmethod
    def of(cls, codes: CodeArray) -> Self:
        distances, rows = other_neighbours(codes, min(_N_NEAREST, len(codes) - 1))
        return cls(list(rows.T.copy()), neighbour_weights(distances, _PERPLEXITY))

    def edges(self) -> tuple[IdArray, IdArray, FloatArray]:
        """Return pairs in both directions, with weights that sum to 1."""
        from scipy.sparse import csr_array

        n, k = len(self.rows[0]), len(self.rows)
        rows, weights = (np.stack(columns, axis=1).ravel() for columns in self)
        directed = csr_array((weights, rows, np.arange(0, n * k + 1, k)), shape=(n, n))
        both = (directed + directed.T).tocoo()
        first, second = (rows.astype(np.int64) for rows in both.coords)
        shares: FloatArray = np.asarray(both.data, np.float64) / (2 * n)
        return first, second, shares

    def free(self, points: FloatArray) -> tuple[FloatArray, NDArray[np.bool_]]:
        """Move points that are shut in by a group that they do not belong to."""
        x, y = ([axis[rows] for rows in self.rows] for axis in points)
        pull_now = np.zeros(points.shape[1])
        for at_x, at_y, weight in zip(x, y, self.weights, strict=True):
            pull_now += weight / (1 + (at_x - points[0]) ** 2 + (at_y - points[1]) ** 2)
        to_x, to_y, pull = among_neighbours(x, y, self.weights)
        stuck = pull > _STUCK * pull_now
        return np.where(stuck, (to_x, to_y), points), stuck


def _gradient(
    points: FloatArray, first: IdArray, second: IdArray, weights: FloatArray
) -> FloatArray:
    """Return the gradient of the divergence, eq. 5 of the paper."""
    x, y = points
    kernel, push_x, push_y = RepulsionField(x, y).at(x, y)
    total = float(kernel.sum()) - len(x)  # without the pairs of one point
    across, down = x[first] - x[second], y[first] - y[second]
    attraction = weights / (1 + across * across + down * down)
    pulls = [
        np.bincount(first, attraction * part, minlength=len(x))
        for part in (across, down)
    ]
    return 4 * (np.array(pulls) - np.array([push_x, push_y]) / max(total, 1e-12))


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


def neighbour_weights(distances: DistanceArray, perplexity: float) -> list[FloatArray]:
    """Return weights ``exp(-b d)`` of the nearest codes, with this perplexity.

    Columns of shape (n,) for distances (n, k) that rise in each row, each computed
    entry by entry: sums along rows may depend on how many rows there are.
    """
    k = distances.shape[1]
    gaps = [(distances[:, j] - distances[:, 0]).astype(np.float64) for j in range(k)]
    low = np.zeros(len(distances))
    high = np.full(len(distances), _STEEPEST)
    target = np.log(min(perplexity, k))
    for _ in range(_STEPS):
        scale = (low + high) / 2
        flat = _entropy(gaps, scale) > target
        low = np.where(flat, scale, low)
        high = np.where(flat, high, scale)
    weights = [np.exp(-high * gap) for gap in gaps]
    total = _sum(weights)
    return [weight / total for weight in weights]


def among_neighbours(
    x: list[FloatArray], y: list[FloatArray], weights: list[FloatArray]
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return places amid neighbours that are near each other, and the pull there.

    Their common middle would lie between groups, where nothing belongs.
    """
    best = np.full(len(x[0]), -1.0)
    best_x, best_y = np.zeros_like(best), np.zeros_like(best)
    for centre_x, centre_y in zip(x, y, strict=True):
        pull, sum_x, sum_y = np.zeros((3, len(best)))
        for at_x, at_y, weight in zip(x, y, weights, strict=True):
            across, down = at_x - centre_x, at_y - centre_y
            attraction = weight / (1 + across * across + down * down)
            pull += attraction
            sum_x += attraction * at_x
            sum_y += attraction * at_y
        better = pull > best
        best = np.where(better, pull, best)
        best_x = np.where(better, sum_x / pull, best_x)
        best_y = np.where(better, sum_y / pull, best_y)
    return best_x, best_y, best


def _entropy(gaps: list[FloatArray], scale: FloatArray) -> FloatArray:
    weights = [np.exp(-scale * gap) for gap in gaps]
    total = _sum(weights)
    moment = _sum([weight * gap for weight, gap in zip(weights, gaps, strict=True)])
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


class RepulsionField:
    """Sums of ``1 / (1 + d^2)`` and its gradients over points, anywhere near them.

    The points are put on a grid, the sums over all of them are convolutions there, and
    what acts on a point is interpolated from the nodes around it, as in Linderman et
    al., "Fast Interpolation-based t-SNE for Improved Visualization of Single-Cell
    RNA-Seq Data", Nature Methods 16, 2019.
    """

    def __init__(self, x: FloatArray, y: FloatArray) -> None:
        from scipy.fft import irfft2, next_fast_len, rfft2

        span = max(float(np.ptp(x)), float(np.ptp(y)))
        self._step = step = max(_STEP, span / _MOST)
        self._low = float(x.min()) - _EDGE * step, float(y.min()) - _EDGE * step
        period = next_fast_len(2 * (int(span / step) + 2 * _EDGE + 2), real=True)
        self._side = side = period // 2
        grid = np.zeros(side * side)
        for nodes, weights in self._around(x, y):
            grid += np.bincount(nodes, weights, minlength=len(grid))
        # Twice the side: a convolution over a period would wrap around.
        shape = (2 * side, 2 * side)
        spread = rfft2(grid.reshape(side, side), s=shape)
        # The kernel, and its repulsion along each axis, around node (0, 0).
        steps = np.arange(2 * side)
        offset = np.where(steps <= side, steps, steps - 2 * side) * step
        kernel = 1 / (1 + offset[:, None] ** 2 + offset**2)
        squared = kernel * kernel
        kernels = kernel, squared * offset[:, None], squared * offset
        sums = (irfft2(spread * rfft2(k), s=shape) for k in kernels)
        self._sums = [np.ascontiguousarray(s[:side, :side]).ravel() for s in sums]

    def at(
        self, x: FloatArray, y: FloatArray
    ) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Return the kernel's sum and the repulsion along each axis at places."""
        kernel, across, down = np.zeros((3, len(x)))
        for nodes, weights in self._around(x, y):
            for total, sums in zip((kernel, across, down), self._sums, strict=True):
                total += weights * sums[nodes]
        return kernel, across, down

    def _around(self, x: FloatArray, y: FloatArray) -> list[tuple[IdArray, FloatArray]]:
        """Return each of the nine nodes around places, and its weights."""
        middles, lagrange = [], []
        for coordinate, low in zip((x, y), self._low, strict=True):
            place = (coordinate - low) / self._step
            node = np.clip(np.rint(place), 1, self._side - 2)
            off = np.clip(place - node, -1, 1)
            middles.append(node.astype(np.int64))
            lagrange.append((off * (off - 1) / 2, 1 - off * off, off * (off + 1) / 2))
        (across, down), (weights_x, weights_y) = middles, lagrange
        nodes = across * self._side + down
        return [
            (nodes + (i - 1) * self._side + (j - 1), weight_x * weight_y)
            for i, weight_x in enumerate(weights_x)
            for j, weight_y in enumerate(weights_y)
        ]

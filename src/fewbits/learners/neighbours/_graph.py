"""The near neighbours of some rows, and batches of rows that are near each other."""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from fewbits.learners._core._device import Matrix, current_backend, namespace
from fewbits.learners._core._rows import checksum
from fewbits.learners._core._shared_steps import cached_step

Float32Array = NDArray[np.float32]
IntArray = NDArray[np.int64]

_HALVINGS = 30  # of factors from 1e-6 to 1e6, to the precision of float32
_BLOCK = 1 << 24  # distances that are computed at a time
_GROUP = 32  # numbers of which the least bounds the smallest ones


class Batch(NamedTuple):
    """Rows whose distances to each other are compared.

    Attributes
    ----------
    rows : ndarray or Tensor of shape (m,)
        Each once.
    anchors : ndarray or Tensor of shape (a,)
        The places in `rows` whose neighbours are to be kept.
    precision : ndarray or Tensor of shape (a,)
        Of each of them, for `neighbour_probabilities`.
    """

    rows: Matrix
    anchors: Matrix
    precision: Matrix


@dataclass(frozen=True, eq=False)
class NeighbourGraph:
    """The nearest rows of some rows.

    Attributes
    ----------
    n_rows : int
    anchors : ndarray of shape (n_anchors,)
        The rows whose neighbours are known.
    ids : ndarray of shape (n_anchors, k)
        Their nearest rows, nearest first, themselves left out.
    precision : ndarray of shape (n_anchors,)
        How steeply the share of a neighbour falls with its squared distance.
    """

    n_rows: int
    anchors: IntArray
    ids: IntArray
    precision: Float32Array

    def draw(
        self, n_anchors: int, n_near: int, n_far: int, rng: np.random.RandomState
    ) -> Batch:
        """Draw anchors, near neighbours of each, and rows from anywhere.

        The nearest quarter of the neighbours is taken whole, of the others the nearer
        ones more often. All but the rows from anywhere count as anchors: the neighbours
        of a row are near each other. They borrow the precision of the row that brought
        them.
        """
        drawn = rng.randint(len(self.anchors), size=n_anchors)
        places = self._places(n_anchors, n_near, rng)
        near = np.take_along_axis(self.ids[drawn], places, axis=1)
        far = rng.randint(self.n_rows, size=n_far)
        own = self.precision[drawn]
        rows, first = np.unique(
            np.concatenate([self.anchors[drawn], near.ravel(), far]), return_index=True
        )
        precision = np.concatenate([own, own.repeat(near.shape[1])])
        anchors = np.flatnonzero(first < len(precision))
        return Batch(rows, anchors, precision[first[anchors]])

    def _places(
        self, n_anchors: int, n_near: int, rng: np.random.RandomState
    ) -> IntArray:
        """Return places among the nearest rows for each anchor."""
        k = self.ids.shape[1]
        first = np.arange(min(k, n_near // 4))
        others = rng.random_sample((n_anchors, max(0, n_near - len(first)))) ** 2
        later = len(first) + (others * (k - len(first))).astype(np.int64)
        whole = np.broadcast_to(first, (n_anchors, len(first)))
        return np.concatenate(
            [whole, later if k > len(first) else later[:, :0]], axis=1
        )


def neighbour_graph(
    X: Float32Array,
    anchors: IntArray,
    k: int,
    perplexity: float,
    *,
    there: Matrix | None = None,
) -> NeighbourGraph:
    """Find the `k` nearest rows of the anchors among all rows.

    Distances are those of float32 products: of two rows that are equally near within
    rounding, either may be taken.

    Parameters
    ----------
    perplexity : float
        Effective number of neighbours that a row has.
    there : ndarray or Tensor, default=None
        The rows where they are computed with, if they are there already.
    """
    place, k = current_backend(), min(k, len(X) - 1)
    V = place.put(X) if there is None else there
    return cached_step(
        ("neighbours", X[:1].tobytes()),  # of the features, or along their axes
        lambda: (checksum(X), anchors.tobytes(), k, perplexity, place.name),
        lambda: _searched(V, anchors, k, perplexity),
    )


def _searched(
    V: Matrix, anchors: IntArray, k: int, perplexity: float
) -> NeighbourGraph:
    place, xp = current_backend(), namespace(V)
    squares = xp.einsum("ij,ij->i", V, V)
    ids = np.empty((len(anchors), k), np.int64)
    precision = np.empty(len(anchors), np.float32)
    step = min(len(anchors), max(16, _BLOCK // len(V)))
    products = xp.empty((step, len(V)), dtype=V.dtype, device=V.device)
    for start in range(0, len(anchors), step):
        rows = place.put(anchors[start : start + step])
        # Up to |a|^2, which is the same for all distances of an anchor.
        distances = xp.matmul(-2 * V[rows], V.T, out=products[: len(rows)])
        distances += squares
        distances[xp.arange(len(rows), device=V.device), rows] = np.inf
        span = slice(start, start + len(rows))
        ids[span], found = map(place.get, smallest(distances, k))
        precision[span] = precisions(found, perplexity)
    return NeighbourGraph(len(V), anchors, ids, precision)


def smallest(distances: Matrix, k: int) -> tuple[Matrix, Matrix]:
    """Return the places of the `k` smallest numbers of each row, and those, rising.

    The k-th smallest of the least numbers of groups is a bound that few others are
    below: finding it and them takes less time than a partition of all.
    """
    if not isinstance(distances, np.ndarray):
        found, ids = distances.topk(k, largest=False)
        return ids, found
    n_rows, n = distances.shape
    size = max(1, min(_GROUP, n // (4 * k)))
    groups = distances[:, : n // size * size].reshape(n_rows, size, -1)
    bounds = np.partition(groups.min(axis=1), k - 1, axis=1)[:, k - 1]
    ids = np.empty((n_rows, k), np.int64)
    found = np.empty((n_rows, k), np.float32)
    for i, row in enumerate(distances):
        few = np.flatnonzero(row <= bounds[i])
        order = np.argsort(row[few], kind="stable")[:k]
        ids[i] = few[order]
        found[i] = row[ids[i]]
    return ids, found


def precisions(squared: Float32Array, perplexity: float) -> Float32Array:
    """Return the precision at which rows of distances have this perplexity.

    Parameters
    ----------
    squared : ndarray of shape (n, k)
        Squared distances, up to a constant for each row, rising.
    """
    beyond = (squared - squared[:, :1]).astype(np.float64)
    mean = beyond.mean(axis=1)
    scale = np.where(mean > 0, mean, 1.0)
    beyond /= scale[:, None]
    low, high = np.full(len(beyond), 1e-6), np.full(len(beyond), 1e6)
    wanted = np.log(min(perplexity, 0.9 * squared.shape[1]))
    for _ in range(_HALVINGS):
        middle = np.sqrt(low * high)
        shares = np.exp(-beyond * middle[:, None])
        shares /= shares.sum(axis=1, keepdims=True)
        entropy = -np.sum(shares * np.log(shares + 1e-30), axis=1)
        flat = entropy > wanted
        low, high = np.where(flat, middle, low), np.where(flat, high, middle)
    found: Float32Array = (np.sqrt(low * high) / scale).astype(np.float32)
    return found

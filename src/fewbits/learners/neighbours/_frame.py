"""Preparation of features for learners of neighbour-preserving codes."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fewbits._typing import FeatureArray
from fewbits.errors import FeatureError
from fewbits.learners._core._rows import SAME_ROWS, Readable, Rows, column_means
from fewbits.learners._linalg._axes import principal_axes

Float32Array = NDArray[np.float32]

#: Beyond the numbers of float32 that have all of their digits.
LEAST = float(np.finfo(np.float32).tiny)


class Frame(NamedTuple):
    """Rows are ``scale * (X - mean) @ axes``.

    Attributes
    ----------
    mean : ndarray of shape (n_features,)
    scale : float
        Gives the rows a mean square of 1.
    axes : ndarray of shape (n_features, k) or None
        None for the features themselves.
    """

    mean: NDArray[np.float64]
    scale: float
    axes: FeatureArray | None = None

    def rows(self, X: Readable, order: NDArray[np.intp]) -> Float32Array:
        """Return the rows of these numbers, in memory once."""
        rows = Rows(X, self.mean, self.axes, np.float32, keep=False)
        found, start = np.empty((len(order), rows.shape[1]), np.float32), 0
        for block in rows.some(order):
            np.multiply(block, self.scale, found[start : start + len(block)])
            start += len(block)
        return found

    def weights(self, W: NDArray[Any]) -> NDArray[np.float64]:
        """Return what weights of rows are as weights of centred features."""
        turned = W.astype(np.float64) if self.axes is None else self.axes @ W
        return turned * self.scale


def principal_frame(X: Readable) -> Frame:
    """Return rows along the principal axes, where equal steps change scores alike."""
    axes = principal_axes(X)
    return Frame(axes.mean, _unit(len(X), float(axes.scatter.sum())), axes.directions)


def plain_frame(X: Readable) -> Frame:
    """Return rows of the features themselves."""
    mean = column_means(X)
    blocks = Rows(X, mean, keep=False)
    return Frame(mean, _unit(len(X), sum(float(np.vdot(b, b)) for b in blocks)))


def _unit(n: int, scatter: float) -> float:
    if not scatter > 0:
        raise FeatureError(SAME_ROWS)
    scale = float(np.sqrt(n / scatter))
    if not LEAST <= scale <= 1 / LEAST:
        size = "small" if scale > 1 else "large"
        raise FeatureError(f"the features of X are too {size} for float32: scale them")
    return scale

"""An encoder behind kernels with anchors."""

from collections.abc import Iterator
from typing import ClassVar, Self, final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fewbits import _kernels
from fewbits._spans import spans
from fewbits.encoders._base import Encoder, Tensors, frozen
from fewbits.encoders._elementary import exp
from fewbits.encoders._inner import OuterEncoder, as_text, inner_tensors
from fewbits.errors import ArgumentError

#: Numbers of a block that are held at a time, in float64.
_BLOCK_ENTRIES = 1 << 20


@final
class AnchorEncoder(OuterEncoder):
    """An encoder behind the Gaussian kernels of a vector with some anchors.

    It takes ``exp(-gamma |x - a|^2)`` of each anchor ``a``, so that its hyperplanes are
    curved surfaces among the features.

    Parameters
    ----------
    inner : Encoder
        Takes one number for each anchor.
    anchors : array-like of shape (n_anchors, n_features)
        Less `mean`.
    mean : array-like of shape (n_features,)
        Subtracted from vectors first, so that distances are exact where features are
        far from zero for their spread.
    gamma : float
        Of the kernel, at least 0.

    Attributes
    ----------
    inner : Encoder
    anchors, mean : ndarray, dtype float32
        Read-only.
    gamma : float

    Raises
    ------
    ArgumentError
        When shapes do not match or a number is not finite in float32.

    Notes
    -----
    A kernel is rounded to float32 from operations that IEEE 754 defines to the last
    bit, on the kernel of `LinearEncoder` for the product with the anchor: a vector has
    the same bits everywhere. Where a distance overflows float32 the kernel is 0.

    References
    ----------
    Kulis and Darrell, "Learning to Hash with Binary Reconstructive Embeddings", NIPS
    2009, eq. (1).

    Examples
    --------
    >>> from fewbits.encoders import LinearEncoder
    >>> inner = LinearEncoder([[1.0], [-1.0]], [0.0])
    >>> encoder = AnchorEncoder(inner, [[0.0], [3.0]], mean=[0.0], gamma=1.0)
    >>> encoder
    AnchorEncoder(1 -> 1 bits)
    >>> encoder.encode([[1.0], [2.0]])  # nearer to the first anchor, to the second
    array([[128],
           [  0]], dtype=uint8)
    """

    kind: ClassVar[str] = "anchors"

    def __init__(
        self, inner: Encoder, anchors: ArrayLike, mean: ArrayLike, gamma: ArrayLike
    ) -> None:
        if not isinstance(inner, Encoder) or isinstance(inner, AnchorEncoder):
            raise ArgumentError(f"need an encoder behind the anchors, got {inner!r}")
        self.inner, self.zero_bit = inner, inner.zero_bit
        self.anchors, self.mean = frozen(anchors), frozen(mean)
        self.gamma = _as_gamma(gamma)
        _check_anchors(inner.n_features, self.anchors, self.mean)
        # -gamma |a|^2 + 2 gamma a'x, of which the last has no part for |x|^2.
        double = self.anchors.astype(np.float64)
        self._weights = frozen(2 * self.gamma * double.T)
        self._bias = frozen(-self.gamma * _squares(double))
        if not (np.isfinite(self._weights).all() and np.isfinite(self._bias).all()):
            raise ArgumentError("anchors are too large for gamma in float32")

    @classmethod
    def from_tensors(cls, inner: Encoder, tensors: Tensors) -> Self:
        """Rebuild what `tensors` gave, except for the inner encoder."""
        return cls(inner, tensors["anchors"], tensors["mean"], tensors["gamma"])

    @property
    def n_features(self) -> int:
        return len(self.mean)

    def tensors(self) -> Tensors:
        return {
            **inner_tensors(self.inner),
            "inner": as_text(self.inner.kind),
            "anchors": self.anchors,
            "mean": self.mean,
            "gamma": frozen([self.gamma], np.float64),
        }

    def _mapped(
        self, X: NDArray[np.float32]
    ) -> Iterator[tuple[slice, NDArray[np.float32]]]:
        step = max(1, _BLOCK_ENTRIES // max(self.anchors.shape))
        for span in spans(len(X), step):
            yield span, self._kernels_of(X[span])

    def _kernels_of(self, X: NDArray[np.float32]) -> NDArray[np.float32]:
        with np.errstate(over="ignore", invalid="ignore"):
            centred = X - self.mean
            scores = np.empty((len(X), len(self.anchors)), np.float32)
            _kernels.linear_scores(
                centred, self._weights, self._bias, scores, _kernels.num_threads()
            )
            squares = _squares(centred.astype(np.float64))
            exponents = scores - self.gamma * squares[:, None]
        exponents[~np.isfinite(scores)] = -np.inf
        # Rounding may leave a little above 0.
        return exp(np.minimum(exponents, 0)).astype(np.float32)

    def _prefix(self, n_bits: int) -> Self:
        inner = self.inner.prefix(n_bits)
        return type(self)(inner, self.anchors, self.mean, self.gamma)


def _squares(rows: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the squared length of each row, summed in rising order on any machine."""
    squares = rows * rows
    return np.cumsum(squares, axis=1, out=squares)[:, -1]


def _as_gamma(gamma: ArrayLike) -> float:
    number = frozen(gamma, np.float64)
    if number.size != 1 or not 0 <= number.item() < np.inf:
        raise ArgumentError(f"gamma must be a number of at least 0, got {gamma!r}")
    return float(number.item())


def _check_anchors(
    n_inputs: int, anchors: NDArray[np.float32], mean: NDArray[np.float32]
) -> None:
    shapes = anchors.shape, mean.shape
    if anchors.ndim != 2 or not anchors.size or mean.shape != anchors.shape[1:]:
        raise ArgumentError(
            "need anchors (n_anchors, n_features) and a mean of as many features, got "
            "{} and {}".format(*shapes)
        )
    if n_inputs != len(anchors):
        raise ArgumentError(
            f"{len(anchors)} anchors, but the inner encoder takes {n_inputs} numbers"
        )
    if not (np.isfinite(anchors).all() and np.isfinite(mean).all()):
        raise ArgumentError("anchors and mean must be finite in float32")

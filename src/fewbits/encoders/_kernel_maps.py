"""Encoders behind kernels: additive kernels of features, and kernels with anchors."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from decimal import Decimal, localcontext
from functools import cached_property
from numbers import Real
from typing import Any, ClassVar, NamedTuple, Self, final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fewbits import _kernels
from fewbits._checks import whole_number
from fewbits._spans import spans
from fewbits.encoders._base import (
    Encoder,
    OuterEncoder,
    Tensors,
    as_text,
    check_finite,
    frozen,
    word_of,
)
from fewbits.encoders._elementary import cosine_and_sine, exp, log2, power
from fewbits.errors import ArgumentError, FeatureError

_MAX_ORDER = 100
_MAX_GAMMA = 2.0
_MAX_INTERVAL = 10.0
#: A float64 array of as many entries is one that malloc gives again without asking the
#: system, and several fit in the cache of one core.
_CHUNK_ENTRIES = 1 << 13
_BLOCK_ENTRIES = 1 << 24  # mapped, in a block
_ANCHOR_ENTRIES = 1 << 20  # numbers of a block, in float64
_LOG_2 = 0.6931471805599453


def _intersection(frequency: float) -> float:
    return 2 / math.pi / (1 + 4 * frequency * frequency)


def _chi2(frequency: float) -> float:
    # Python's decimals are rounded correctly, so that the map is the same everywhere.
    with localcontext(prec=30):
        growth = Decimal(math.pi * frequency).exp()
        return float(2 / (growth + 1 / growth))


def _js(frequency: float) -> float:
    return math.pi / (2 * _LOG_2) * _intersection(frequency) * _chi2(frequency)


class _Kernel(NamedTuple):
    """A spectrum, the interval for order 1, and how slowly it falls with the order."""

    spectrum: Callable[[float], float]
    interval: float
    offset: float


#: The additive kernels that there are maps for, by name.
KERNELS = {
    "intersection": _Kernel(_intersection, 0.6, 4.0),
    "chi2": _Kernel(_chi2, 0.5, 1.5),
    "js": _Kernel(_js, 0.4, 1.4),
}


@final
@dataclass(frozen=True)
class KernelMap:
    """A homogeneous kernel map: dot products of its values are near a kernel.

    Parameters
    ----------
    kernel : {"intersection", "chi2", "js"}
        ``min(a, b)``, ``2 a b / (a + b)``, or the Jensen-Shannon kernel ``a / 2 log2((a
        + b) / a) + b / 2 log2((a + b) / b)``.
    order : int
        Frequencies of the map, 1 to 100: a feature becomes ``2 * order + 1`` values.
    gamma : float
        Degree of homogeneity, above 0 and at most 2: the kernel is multiplied by
        ``(a b)^((gamma - 1) / 2)``.
    interval : float or None
        Distance of the frequencies, above 0 and at most 10; None takes one that suits
        the kernel and the order, which the attribute then is.
    signed : bool
        Take negative features, as ``map(-x) = -map(x)``, rather than refuse them.

    Raises
    ------
    ArgumentError
        When a parameter lies outside its range, or values may overflow float32.

    Examples
    --------
    >>> KernelMap("chi2", 1, 1.0, None, False)(np.ones((1, 2), np.float32)).shape
    (1, 6)
    """

    kernel: str
    order: int
    gamma: float
    interval: Any
    signed: bool

    def __post_init__(self) -> None:
        if not (isinstance(self.kernel, str) and self.kernel in KERNELS):
            names = ", ".join(repr(name) for name in KERNELS)
            raise ArgumentError(f"kernel must be one of {names}, got {self.kernel!r}")
        order = whole_number(self.order, "order")
        if not 1 <= order <= _MAX_ORDER:
            raise ArgumentError(f"order must be 1 to {_MAX_ORDER}, got {order}")
        if not isinstance(self.signed, bool | np.bool_):
            raise ArgumentError(f"signed must be True or False, got {self.signed!r}")
        gamma, interval = _positive("gamma", self.gamma, _MAX_GAMMA), self.interval
        if interval is None:
            # Near the best for features spread over decades: the mean error over
            # sqrt(ab), for a and b log-uniform in [0.001, 1], is at most a fifth above
            # the least that any interval reaches, up to order 10.
            _, first, offset = KERNELS[self.kernel]
            interval = first * ((1 + offset) / (math.sqrt(order) + offset))
        interval = _positive("interval", interval, _MAX_INTERVAL)
        checked = {"order": order, "gamma": gamma, "interval": interval}
        for name, value in {**checked, "signed": bool(self.signed)}.items():
            object.__setattr__(self, name, value)
        largest = float(np.finfo(np.float32).max)
        if max(self.amplitudes) * largest ** (gamma / 2 - 1) > 1:
            raise ArgumentError(
                f"gamma={gamma:g} with interval={interval:g} overflows float32; take "
                "smaller ones"
            )

    @property
    def n_values(self) -> int:
        """Values for each feature."""
        return 2 * self.order + 1

    def __call__(self, X: NDArray[np.float32]) -> NDArray[np.float32]:
        """Return the values of a finite matrix (n, d): (n, n_values * d).

        The first d columns are ``c_0 r``, then follow ``c_j r cos(j w)`` and ``c_j r
        sin(j w)`` for j = 1, 2, ..., where r = x^(gamma / 2) and w = interval log x.
        """
        self.check_signs(X)
        n, d = X.shape
        mapped = np.empty((n, self.n_values, d), np.float32)
        height = max(1, _CHUNK_ENTRIES // max(1, d))
        for row in range(0, n, height):
            for column in range(0, d, _CHUNK_ENTRIES):
                rows = slice(row, row + height)
                columns = slice(column, column + _CHUNK_ENTRIES)
                self._fill(X[rows, columns], mapped[rows, :, columns])
        return mapped.reshape(n, self.n_values * d)

    def blocks(
        self, X: NDArray[np.float32]
    ) -> Iterator[tuple[slice, NDArray[np.float32]]]:
        """Yield the values of some tens of megabytes at a time."""
        width = max(1, self.n_values * X.shape[1])
        for span in spans(len(X), _BLOCK_ENTRIES // width):
            yield span, self(X[span])

    def check_signs(self, X: NDArray[np.float32]) -> None:
        """Refuse negative features, unless the map takes them."""
        if X.size and not self.signed and X.min() < 0:
            row, column = np.argwhere(X < 0)[0]
            raise FeatureError(
                "Negative values in data: a kernel map takes features of at least 0, "
                f"got {X[row, column]} in column {column}"
            )

    @cached_property
    def amplitudes(self) -> list[float]:
        """The c_j: sqrt(L kappa(0)), and sqrt(2 L kappa(j L)) for j = 1 to `order`."""
        spectrum, L = KERNELS[self.kernel].spectrum, self.interval
        waves = [2 * L * spectrum(j * L) for j in range(1, self.order + 1)]
        return [math.sqrt(square) for square in [L * spectrum(0), *waves]]

    def _fill(self, X: NDArray[np.float32], mapped: NDArray[np.float32]) -> None:
        x = np.abs(X, dtype=np.float64)
        # sqrt is exact, and much faster
        root = np.sqrt(x) if self.gamma == 1 else power(x, self.gamma / 2)
        if self.signed:
            np.copysign(root, X, out=root)
        mapped[:, 0] = self.amplitudes[0] * root
        first = cosine, sine = cosine_and_sine(
            _LOG_2 / math.pi * self.interval * log2(x)
        )
        for j in range(1, self.order + 1):
            if j > 1:  # cos(j pi w) and sin(j pi w)
                cosine, sine = (
                    cosine * first[0] - sine * first[1],
                    sine * first[0] + cosine * first[1],
                )
            scaled = self.amplitudes[j] * root
            mapped[:, 2 * j - 1] = scaled * cosine
            mapped[:, 2 * j] = scaled * sine


def _positive(name: str, value: Any, high: float) -> float:
    is_number = isinstance(value, Real) and not isinstance(value, bool)
    if not is_number or not 0 < value <= high:
        raise ArgumentError(
            f"{name} must be a number above 0 and at most {high:g}, got {value!r}"
        )
    return float(value)


@final
class KernelMapEncoder(OuterEncoder):
    """An encoder behind a homogeneous kernel map.

    The map gives each feature ``2 * order + 1`` values, such that the dot product of
    two mapped rows is about the kernel of the rows, a sum over their features. A
    hyperplane on the mapped features is a curved surface on the features themselves.

    Parameters
    ----------
    inner : Encoder
        Takes ``2 * order + 1`` values for each feature: the first of all features, then
        the second of all features, and so on.
    kernel, order, gamma, interval, signed
        As in `KernelMap`.

    Attributes
    ----------
    map : KernelMap
        The parameters of the map, with the interval that is used.

    Raises
    ------
    FeatureError
        When a row that is encoded has negative features, unless `signed`.

    Notes
    -----
    The mapped features, in float32, are the same on every machine.

    References
    ----------
    Vedaldi and Zisserman, "Efficient Additive Kernels via Explicit Feature Maps", CVPR
    2010; used by Bergamo, Torresani and Fitzgibbon, "PiCoDes", NIPS 2011.

    Examples
    --------
    >>> from fewbits.encoders import LinearEncoder
    >>> inner = LinearEncoder([[1.0], [0.0], [0.0]], [-1.0])
    >>> encoder = KernelMapEncoder(inner, "chi2", interval=0.5)
    >>> encoder
    KernelMapEncoder(1 -> 1 bits)
    >>> encoder.project([[0.0], [2.0], [8.0]])
    array([[-1.],
           [ 0.],
           [ 1.]], dtype=float32)
    """

    kind: ClassVar[str] = "kernel-map"

    def __init__(
        self,
        inner: Encoder,
        kernel: str = "intersection",
        *,
        order: int = 1,
        gamma: float = 1.0,
        interval: float | None = None,
        signed: bool = False,
    ) -> None:
        if not isinstance(inner, Encoder) or isinstance(inner, KernelMapEncoder):
            raise ArgumentError(f"need an encoder behind the map, got {inner!r}")
        self.inner, self.zero_bit = inner, inner.zero_bit
        self.map = KernelMap(kernel, order, gamma, interval, signed)
        if inner.n_features % self.map.n_values:
            raise ArgumentError(
                f"a map of order {self.map.order} gives {self.map.n_values} values for "
                f"each feature, but the inner encoder takes {inner.n_features}"
            )
        self.n_features = inner.n_features // self.map.n_values
        self.n_bits = inner.n_bits

    @classmethod
    def around(cls, inner: Encoder, tensors: Tensors) -> Self:
        return cls(
            inner,
            word_of(tensors["kernel"]),
            order=tensors["order"].item(),
            gamma=tensors["gamma"].item(),
            interval=tensors["interval"].item(),
            signed=bool(tensors["signed"].item()),
        )

    def tensors(self) -> Tensors:
        return {
            **super().tensors(),
            "kernel": as_text(self.map.kernel),
            "order": frozen([self.map.order], np.int64),
            "gamma": frozen([self.map.gamma], np.float64),
            "interval": frozen([self.map.interval], np.float64),
            "signed": frozen([self.map.signed], np.uint8),
        }

    def _mapped(
        self, X: NDArray[np.float32]
    ) -> Iterator[tuple[slice, NDArray[np.float32]]]:
        return self.map.blocks(X)

    def _prefix(self, n_bits: int) -> Self:
        return type(self)(self.inner.prefix(n_bits), **asdict(self.map))


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

    Notes
    -----
    Kernels, in float32, are the same on every machine, and 0 where a distance overflows
    float32.

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
        number = frozen(gamma, np.float64)
        if number.size != 1 or not 0 <= number.item() < np.inf:
            raise ArgumentError(f"gamma must be a number of at least 0, got {gamma!r}")
        self.gamma = float(number.item())
        anchors, mean, n_inputs = self.anchors, self.mean, self.inner.n_features
        shapes = anchors.shape, mean.shape
        if anchors.ndim != 2 or not anchors.size or mean.shape != anchors.shape[1:]:
            raise ArgumentError(
                "need anchors (n_anchors, n_features) and a mean of as many features, "
                "got {} and {}".format(*shapes)
            )
        if n_inputs != len(anchors):
            raise ArgumentError(
                f"{len(anchors)} anchors, but the inner encoder takes {n_inputs} "
                "numbers"
            )
        check_finite("anchors and mean", anchors, mean)
        self.n_features, self.n_bits = len(mean), inner.n_bits
        # -gamma |a|^2 + 2 gamma a'x, of which the last has no part for |x|^2.
        double = self.anchors.astype(np.float64)
        self._weights = frozen(2 * self.gamma * double.T)
        self._bias = frozen(-self.gamma * _squares(double))
        if not (np.isfinite(self._weights).all() and np.isfinite(self._bias).all()):
            raise ArgumentError("anchors are too large for gamma in float32")

    @classmethod
    def around(cls, inner: Encoder, tensors: Tensors) -> Self:
        return cls(inner, tensors["anchors"], tensors["mean"], tensors["gamma"])

    def tensors(self) -> Tensors:
        return {
            **super().tensors(),
            "anchors": self.anchors,
            "mean": self.mean,
            "gamma": frozen([self.gamma], np.float64),
        }

    def _mapped(
        self, X: NDArray[np.float32]
    ) -> Iterator[tuple[slice, NDArray[np.float32]]]:
        step = max(1, _ANCHOR_ENTRIES // max(self.anchors.shape))
        for span in spans(len(X), step):
            with np.errstate(over="ignore", invalid="ignore"):
                centred = X[span] - self.mean
                scores = np.empty((len(centred), len(self.anchors)), np.float32)
                _kernels.linear_scores(
                    centred, self._weights, self._bias, scores, _kernels.num_threads()
                )
                squares = _squares(centred.astype(np.float64))
                exponents = scores - self.gamma * squares[:, None]
            exponents[~np.isfinite(scores)] = -np.inf
            # Rounding may leave a little above 0.
            yield span, exp(np.minimum(exponents, 0)).astype(np.float32)

    def _prefix(self, n_bits: int) -> Self:
        inner = self.inner.prefix(n_bits)
        return type(self)(inner, self.anchors, self.mean, self.gamma)


def _squares(rows: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the squared length of each row, summed in rising order on any machine."""
    squares = rows * rows
    return np.cumsum(squares, axis=1, out=squares)[:, -1]

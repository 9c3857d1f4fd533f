"""Homogeneous kernel maps: dot products that come close to an additive kernel."""

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from decimal import Decimal, localcontext
from functools import cached_property
from numbers import Real
from typing import Any, NamedTuple, final

import numpy as np
from numpy.typing import NDArray

from fewbits._checks import whole_number
from fewbits.encoders._elementary import Float64Array, cosine_and_sine, log2, power
from fewbits.errors import ArgumentError, FeatureError

_MAX_ORDER = 100
_MAX_GAMMA = 2.0
_MAX_INTERVAL = 10.0
#: A float64 array of as many entries is one that malloc gives again without asking the
#: system, and several fit in the cache of one core.
_CHUNK_ENTRIES = 1 << 13
#: Mapped entries in a block.
_BLOCK_ENTRIES = 1 << 24
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
    """A map with dot products near a kernel; made by `kernel_map`, which checks.

    Attributes
    ----------
    kernel : {"intersection", "chi2", "js"}
    order : int
    gamma, interval : float
    signed : bool
        As in `kernel_map`.
    """

    kernel: str
    order: int
    gamma: float
    interval: float
    signed: bool

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
        for rows, columns in _chunks(n, d):
            self._fill(X[rows, columns], mapped[rows, :, columns])
        return mapped.reshape(n, self.n_values * d)

    def blocks(
        self, X: NDArray[np.float32]
    ) -> Iterator[tuple[slice, NDArray[np.float32]]]:
        """Yield the values of some tens of megabytes at a time."""
        step = max(1, _BLOCK_ENTRIES // max(1, self.n_values * X.shape[1]))
        for start in range(0, len(X), step):
            span = slice(start, min(start + step, len(X)))
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
        waves = _waves(_LOG_2 / math.pi * self.interval * log2(x), self.order)
        for j, (cosine, sine) in enumerate(waves, 1):
            scaled = self.amplitudes[j] * root
            mapped[:, 2 * j - 1] = scaled * cosine
            mapped[:, 2 * j] = scaled * sine


def kernel_map(
    kernel: str, order: int, gamma: float, interval: float | None, signed: bool
) -> KernelMap:
    """Return a homogeneous kernel map of checked parameters.

    Parameters
    ----------
    kernel : {"intersection", "chi2", "js"}
    order : int
        Each feature becomes ``2 * order + 1`` values; 1 to 100.
    gamma : float
        Degree of homogeneity, above 0 and at most 2.
    interval : float or None
        Distance of the sampled frequencies; None takes one that suits the order.
    signed : bool
        Whether features may be negative.

    Returns
    -------
    KernelMap

    Raises
    ------
    ArgumentError
        When a parameter lies outside its range, or values may overflow float32.

    Examples
    --------
    >>> kernel_map("chi2", 1, 1.0, None, False)(np.ones((1, 2), np.float32)).shape
    (1, 6)
    """
    if not (isinstance(kernel, str) and kernel in KERNELS):
        known = ", ".join(repr(name) for name in KERNELS)
        raise ArgumentError(f"kernel must be one of {known}, got {kernel!r}")
    order = whole_number(order, "order")
    if not 1 <= order <= _MAX_ORDER:
        raise ArgumentError(f"order must be 1 to {_MAX_ORDER}, got {order}")
    if not isinstance(signed, bool | np.bool_):
        raise ArgumentError(f"signed must be True or False, got {signed!r}")
    gamma = _positive("gamma", gamma, _MAX_GAMMA)
    if interval is None:
        interval = _default_interval(kernel, order)
    interval = _positive("interval", interval, _MAX_INTERVAL)
    found = KernelMap(kernel, order, gamma, interval, bool(signed))
    largest = float(np.finfo(np.float32).max)
    if max(found.amplitudes) * largest ** (gamma / 2 - 1) > 1:
        raise ArgumentError(
            f"gamma={gamma:g} with interval={interval:g} overflows float32; take "
            "smaller ones"
        )
    return found


def _positive(name: str, value: Any, high: float) -> float:
    is_number = isinstance(value, Real) and not isinstance(value, bool)
    if not is_number or not 0 < value <= high:
        raise ArgumentError(
            f"{name} must be a number above 0 and at most {high:g}, got {value!r}"
        )
    return float(value)


def _chunks(n: int, d: int) -> Iterator[tuple[slice, slice]]:
    """Cut a matrix into pieces of some `_CHUNK_ENTRIES`."""
    height = max(1, _CHUNK_ENTRIES // max(1, d))
    for row in range(0, n, height):
        for column in range(0, d, _CHUNK_ENTRIES):
            yield slice(row, row + height), slice(column, column + _CHUNK_ENTRIES)


def _waves(w: Float64Array, order: int) -> Iterator[tuple[Float64Array, Float64Array]]:
    """Yield cos(j pi w) and sin(j pi w) for j = 1 to `order`; overwrites `w`."""
    first_cosine, first_sine = cosine, sine = cosine_and_sine(w)
    yield cosine, sine
    for _ in range(1, order):
        cosine, sine = (
            cosine * first_cosine - sine * first_sine,
            sine * first_cosine + cosine * first_sine,
        )
        yield cosine, sine


def _default_interval(kernel: str, order: int) -> float:
    """Return an interval that is near the best for features spread over decades.

    The mean error over sqrt(ab), for a and b log-uniform in [0.001, 1], is at most a
    fifth above the least that any interval reaches, up to order 10.
    """
    _, first, offset = KERNELS[kernel]
    return first * ((1 + offset) / (math.sqrt(order) + offset))

"""Leave-one-class-out estimates of the false-accept rate."""

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fewbits._checks import check_rate, whole_number
from fewbits._repr import one_line
from fewbits._typing import CodeArray, IdArray
from fewbits.codes import as_codes, hamming_distances
from fewbits.errors import ArgumentError
from fewbits.ood._acceptance_region import AcceptanceRegion
from fewbits.ood._coverage import distinct_codes

FloatArray = NDArray[np.float64]

_PAIRS = 1 << 22  # distances held at once


class FalseAcceptRates(NamedTuple):
    """False-accept rates of items whose own class is left out.

    Attributes
    ----------
    rates : ndarray of shape (n_bits + 1,), dtype float64
        Share that lies within the radius 0, 1, ..., n_bits of another class's code; the
        mean over the classes, each counting the same.
    standard_errors : ndarray of shape (n_bits + 1,), dtype float64
        Standard errors of these means over the classes; NaN with one class.
    n_items : int
        Items that were left out.
    """

    rates: FloatArray
    standard_errors: FloatArray
    n_items: int

    def __repr__(self) -> str:
        return one_line(self)

    def region(
        self, class_codes: CodeArray, n_bits: int, rate: float
    ) -> AcceptanceRegion:
        """Accept within the largest radius whose false-accept rate is low enough.

        Parameters
        ----------
        class_codes, n_bits
            As they were when the rates were estimated.
        rate : float
            Maximum false-accept rate, between 0 and 1.

        Returns
        -------
        AcceptanceRegion

        Raises
        ------
        ArgumentError
            When `rate` is out of range, finer than one item, or more items than
            that have exactly the code of another class; when the rates are of codes of
            another length.
        """
        check_rate(rate)
        self._check_length(n_bits)
        if rate * self.n_items < 1:
            raise ArgumentError(
                f"{self.n_items} items cannot estimate the rate {rate:.3g}: it must be "
                f"{1 / self.n_items:.3g} or more, or more items must be held out"
            )
        radius = int(np.searchsorted(self.rates, rate, side="right")) - 1
        if radius < 0:
            raise ArgumentError(
                f"{self.rates[0]:.3g} of the items have the code of another class, "
                f"more than the rate {rate:.3g}: longer codes are needed"
            )
        return self.within(class_codes, n_bits, radius)

    def within(
        self, class_codes: CodeArray, n_bits: int, radius: int
    ) -> AcceptanceRegion:
        """Accept within a radius, whatever the rate."""
        self._check_length(n_bits)
        return AcceptanceRegion(
            distinct_codes(class_codes, n_bits),
            n_bits,
            radius,
            float(self.rates[radius]),
            float(self.standard_errors[radius]),
            "leave-one-class-out",
        )

    def _check_length(self, n_bits: int) -> None:
        if len(self.rates) != n_bits + 1:
            raise ArgumentError(
                f"these are rates of codes of {len(self.rates) - 1} bits, not {n_bits}"
            )


def leave_one_class_out_rates(
    class_codes: CodeArray, n_bits: int, codes: CodeArray, classes: ArrayLike
) -> FalseAcceptRates:
    """Estimate the false-accept rate of out-of-distribution items from known ones.

    Each class is left out in turn, and its items stand for out-of-distribution ones; no
    real out-of-distribution item is needed.

    Bits of real codes depend on each other, which those of random codes do not, so this
    estimate is closer than that of `predicted_region`. It is still too low where
    unknown items are nearer to known classes than these are to each other.

    Parameters
    ----------
    class_codes : ndarray of shape (n_classes, n_bytes), dtype uint8
        Packed; from two classes on.
    n_bits : int
        Length of the codes.
    codes : ndarray of shape (n, n_bytes), dtype uint8
        Codes of known items, preferably held out from training.
    classes : array-like of shape (n,), dtype int
        Row in `class_codes` of the class of each item.

    Returns
    -------
    FalseAcceptRates

    Raises
    ------
    CodeError
        When codes are not packed codes of `n_bits` bits.
    ArgumentError
        When there are fewer than two classes, or `classes` are not one row per code.

    Notes
    -----
    Pessimistic where classes come in pairs that are hard to distinguish, since one is
    near when the other is left out; optimistic where unknown items lie between known
    classes more than any class does.

    Examples
    --------
    >>> class_codes = np.array([[0b0000], [0b0001], [0b1111]], np.uint8) << 4
    >>> leave_one_class_out_rates(class_codes, 4, class_codes, [0, 1, 2]).rates.round(2)
    array([0.  , 0.67, 0.67, 1.  , 1.  ])
    """
    n_bits = whole_number(n_bits, "n_bits")
    class_codes = as_codes(class_codes, n_bits=n_bits)
    codes = as_codes(codes, n_bits=n_bits)
    distinct_codes(class_codes, n_bits)
    if len(class_codes) < 2:
        raise ArgumentError("leaving out a class needs at least 2, got 1")
    own = _own(classes, len(codes), len(class_codes))
    counts = np.zeros((len(class_codes), n_bits + 1))
    np.add.at(counts, (own, _nearest_other(class_codes, codes, own, n_bits)), 1)
    present = counts[counts.any(axis=1)]
    shares = np.cumsum(present, axis=1) / present.sum(axis=1, keepdims=True)
    errors = np.full(n_bits + 1, np.nan)
    if len(shares) > 1:
        errors = shares.std(axis=0, ddof=1) / np.sqrt(len(shares))
    return FalseAcceptRates(shares.mean(axis=0), errors, len(codes))


def leave_one_class_out_region(
    class_codes: CodeArray,
    n_bits: int,
    rate: float,
    codes: CodeArray,
    classes: ArrayLike,
) -> AcceptanceRegion:
    """Accept within the largest radius with a low leave-one-class-out rate.

    Parameters
    ----------
    class_codes, n_bits, codes, classes
        As in `leave_one_class_out_rates`, whose `FalseAcceptRates.region` this is.
    rate : float
        As there.

    Returns
    -------
    AcceptanceRegion

    Raises
    ------
    CodeError, ArgumentError
        As both do; a rate that is none before anything is counted.

    Examples
    --------
    >>> class_codes = np.array([[0b0000], [0b0111], [0b1111]], np.uint8) << 4
    >>> region = leave_one_class_out_region(class_codes, 4, 0.7, class_codes, [0, 1, 2])
    >>> region.radius, round(region.predicted_rate, 2)
    (2, 0.67)
    """
    check_rate(rate)
    found = leave_one_class_out_rates(class_codes, n_bits, codes, classes)
    return found.region(class_codes, n_bits, rate)


def _nearest_other(
    class_codes: CodeArray, codes: CodeArray, own: IdArray, n_bits: int
) -> IdArray:
    """Return the distance of each item to the nearest code of another class."""
    nearest = np.empty(len(codes), np.int64)
    step = max(1, _PAIRS // len(class_codes))
    for start in range(0, len(codes), step):
        span = slice(start, start + step)
        distances = hamming_distances(codes[span], class_codes)
        distances[np.arange(len(distances)), own[span]] = n_bits
        nearest[span] = distances.min(axis=1)
    return nearest


def _own(classes: ArrayLike, n: int, n_classes: int) -> IdArray:
    rows = np.asarray(classes)
    if rows.shape != (n,) or not n or rows.dtype.kind not in "iu":
        raise ArgumentError(
            f"need for each of {n} codes the number of its row of class_codes, got "
            f"{rows.dtype} of "
            f"shape {rows.shape}"
        )
    if rows.min() < 0 or rows.max() >= n_classes:
        raise ArgumentError(
            f"classes must lie between 0 and {n_classes - 1}, got {rows.min()} to "
            f"{rows.max()}"
        )
    return rows.astype(np.int64)

"""The stricter of two estimates of the false-accept rate."""

from dataclasses import replace
from functools import lru_cache

import numpy as np

from fewbits._checks import check_rate, whole_number
from fewbits._typing import CodeArray
from fewbits._warnings import warn_user
from fewbits.codes import as_codes, n_bytes
from fewbits.errors import ArgumentError
from fewbits.ood._acceptance_region import AcceptanceRegion
from fewbits.ood._leave_one_class_out import FalseAcceptRates
from fewbits.ood._regions import acceptance_region, predicted_region


def conservative_region(
    class_codes: CodeArray, n_bits: int, rate: float, left_out: FalseAcceptRates | None
) -> AcceptanceRegion:
    """Accept codes near a class code; the stricter of two estimates sets the radius.

    One estimate leaves out one class at a time, the other is the share of the code
    space. The radius is the smaller of the two, the predicted rate the larger of those
    within it. Classes that training pushed apart are rejected more often than real
    out-of-distribution items, and for short codes the code space gives the better
    estimate.

    Parameters
    ----------
    class_codes : ndarray of shape (n_classes, n_bytes), dtype uint8
        Packed.
    n_bits : int
        Length of the codes.
    rate : float
        Maximum false-accept rate, between 0 and 1. If it is finer than one
        held-out item, the radius is that of the finest rate they can estimate: a
        stricter rate never accepts more.
    left_out : FalseAcceptRates or None
        False-accept rates of the class codes with one class left out at a time, from
        `leave_one_class_out_rates`. Without them, or with fewer than two items, the
        code space alone decides.

    Returns
    -------
    AcceptanceRegion

    Warns
    -----
    UserWarning
        When the rate is finer than one held-out item, and is not met: `predicted_rate`
        is above it.

    Raises
    ------
    CodeError
        As in `predicted_region`.
    ArgumentError
        When the rate is out of range, or codes are too short for it by either estimate.

    Examples
    --------
    >>> class_codes = np.array([[0b00000000], [0b11111111]], np.uint8)
    >>> rates = np.array([0.1] * 4 + [1.0] * 5)
    >>> left_out = FalseAcceptRates(rates, np.full(9, np.nan), 20)
    >>> region = conservative_region(class_codes, 8, 0.2, left_out)
    >>> region.radius, round(region.predicted_rate, 2)
    (1, 0.1)
    """
    check_rate(rate)
    if left_out is None or left_out.n_items < 2:
        return _by_space(class_codes, n_bits, rate)
    try:
        by_space = _by_space(class_codes, n_bits, rate)
    except ArgumentError as error:
        if rate * left_out.n_items >= 1:
            raise
        raise ArgumentError(
            f"{error}; {left_out.n_items} held-out items are too few for the "
            f"rate, they can estimate rates from {1 / left_out.n_items:.2g} on"
        ) from error
    finest = float(np.nextafter(1 / left_out.n_items, 1))  # times n_items at least 1
    by_classes = left_out.region(class_codes, n_bits, max(rate, finest))
    radius = min(by_classes.radius, by_space.radius)
    within = (
        left_out.within(class_codes, n_bits, radius),
        acceptance_region(class_codes, n_bits, radius),
    )
    found = max(within, key=lambda region: region.predicted_rate)
    if found.predicted_rate > rate:
        warn_user(
            f"a rate of {rate:g} is not met: {found.predicted_rate:.2g} of "
            f"unknown items are expected to be accepted; {left_out.n_items} held-out "
            f"items cannot estimate rates below {1 / left_out.n_items:.2g}"
        )
    return found


def _by_space(class_codes: CodeArray, n_bits: int, rate: float) -> AcceptanceRegion:
    """Return the region by the code space, with a copy of the codes."""
    rows = as_codes(class_codes, n_bits=whole_number(n_bits, "n_bits"))
    found = _made_once(rows.tobytes(), n_bits, rate)
    return replace(found, class_codes=found.class_codes.copy())


@lru_cache(maxsize=8)  # estimating the covered share takes a while
def _made_once(codes: bytes, n_bits: int, rate: float) -> AcceptanceRegion:
    rows = np.frombuffer(codes, np.uint8).reshape(-1, n_bytes(n_bits))
    return predicted_region(rows, n_bits, rate)

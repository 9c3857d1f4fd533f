"""Rejection of items of no known class, by the class codes alone."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from fewbits._checks import check_count, check_rate
from fewbits._typing import CodeArray
from fewbits.errors import ArgumentError
from fewbits.ood._acceptance_region import AcceptanceRegion
from fewbits.ood._coverage import Coverage, Space

_ERRORS = 3  # standard errors that an estimate must stay below a rate


def acceptance_region(
    class_codes: CodeArray,
    n_bits: int,
    radius: int = 0,
    *,
    ones: ArrayLike | None = None,
    random_state: Any = 0,
) -> AcceptanceRegion:
    """Accept codes within a given radius of a class code.

    Kusupati et al. use radius 1 in its introduction and radius 0, exactly a class code,
    in its section 4.3. There is nothing to tune, and no unknown item is needed, but
    codes must be long enough that most are near no class: see `predicted_rate`,
    which is near 1 where ``2**n_bits`` comes close to the number of classes.

    Parameters
    ----------
    class_codes : ndarray of shape (n_classes, n_bytes), dtype uint8
        Packed; codes that occur twice count once.
    n_bits : int
        Length of the codes.
    radius : int, default=0
    ones : array-like of shape (n_bits,), default=None
        Probability of a 1 for each bit of an unknown code, see `covered_share`.
    random_state : int, Generator or None, default=0
        Seeds the estimate of `predicted_rate`, where it needs one.

    Returns
    -------
    AcceptanceRegion

    Raises
    ------
    CodeError
        When there is no class code, or they are not packed codes of `n_bits` bits.
    ArgumentError
        When `radius` is negative, or `ones` are not probabilities.

    References
    ----------
    Kusupati et al., "LLC: Accurate, Multi-purpose Learnt Low-dimensional Binary Codes",
    NeurIPS 2021, sections 1 and 4.3.

    Examples
    --------
    >>> import numpy as np
    >>> codes = np.array([[0b00000000], [0b11110000]], np.uint8)
    >>> region = acceptance_region(codes, 8, radius=1)
    >>> region.accepts(np.array([[0b01110000], [0b00110000]], np.uint8))
    array([ True, False])
    >>> region.predicted_rate  # 18 of 256
    0.0703125
    """
    radius = check_count(radius, "radius", 0)
    space = Space(class_codes, n_bits, ones, 20_000, random_state)
    coverage = space.coverage(min(radius, space.n_bits))
    return _region(space, radius, coverage, ones)


def predicted_region(
    class_codes: CodeArray,
    n_bits: int,
    rate: float,
    *,
    ones: ArrayLike | None = None,
    n_samples: int = 20_000,
    random_state: Any = 0,
) -> AcceptanceRegion:
    """Accept within the largest radius whose false-accept rate is low enough.

    The rate is that of random codes, and known before any item is seen: the share of
    the space near the class codes, see `covered_share`. It is how often an item
    with an arbitrary code is accepted. Real unknown items have bits that depend on each
    other, as those of known items do, and lie nearer to known codes than random ones:
    they are accepted several times as often. `learn_rejection` predicts a rate that
    holds, from known items.

    Parameters
    ----------
    class_codes : ndarray of shape (n_classes, n_bytes), dtype uint8
        Packed; codes that occur twice count once.
    n_bits : int
        Length of the codes.
    rate : float
        Share of random codes that may be accepted, between 0 and 1.
    ones : array-like of shape (n_bits,), default=None
        Probability of a 1 for each bit of a random code; `bit_marginals` of known items
        are nearer to the truth than equally likely codes, for which None stands.
    n_samples : int, default=20_000
        Samples for shares that must be estimated. Such a share is low enough if three
        standard errors more would be.
    random_state : int, Generator or None, default=0

    Returns
    -------
    AcceptanceRegion

    Raises
    ------
    CodeError
        When there is no class code, or they are not packed codes of `n_bits` bits.
    ArgumentError
        When `rate` is out of range, `ones` are not probabilities, or the class codes
        themselves are more than `rate` of all codes, so that no radius will do.

    Examples
    --------
    >>> import numpy as np
    >>> codes = np.array([[0b00000000], [0b11111111]], np.uint8)
    >>> region = predicted_region(codes, 8, rate=0.1)
    >>> region.radius, region.predicted_rate
    (1, 0.0703125)
    """
    check_rate(rate)
    space = Space(class_codes, n_bits, ones, n_samples, random_state)
    # Up to here the sum over the balls is low enough, overlaps or not.
    radius = int(np.searchsorted(space.uppers, rate, side="right")) - 1
    if radius < 0:
        raise ArgumentError(_no_room(space, rate, ones is None))
    coverage = space.coverage(radius)
    while _limit(wider := space.coverage(radius + 1)) <= rate:
        radius, coverage = radius + 1, wider
    return _region(space, radius, coverage, ones)


def _region(
    space: Space, radius: int, coverage: Coverage, ones: ArrayLike | None
) -> AcceptanceRegion:
    return AcceptanceRegion(
        space.codes,
        space.n_bits,
        radius,
        coverage.share,
        coverage.standard_error,
        "uniform" if ones is None else "independent bits",
    )


def _limit(coverage: Coverage) -> float:
    """Return an upper confidence bound of a share."""
    estimate = coverage.share + _ERRORS * coverage.standard_error
    return min(coverage.upper, estimate)


def _no_room(space: Space, rate: float, uniform: bool) -> str:
    n, share = len(space.codes), space.coverage(0).share
    said = (
        f"{n} class codes alone are {share:.3g} of all codes of {space.n_bits} bits, "
        f"more than the rate {rate:.3g}"
    )
    if not uniform:
        return f"{said}: longer codes are needed"
    return f"{said}: at least {int(np.ceil(np.log2(n / rate)))} bits are needed"

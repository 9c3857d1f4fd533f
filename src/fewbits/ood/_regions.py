"""Regions of the space of codes: what lies near class codes, and what is novel."""

from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fewbits._checks import check_count, check_rate, whole_number
from fewbits._labels import as_classes
from fewbits._repr import one_line
from fewbits._spans import spans
from fewbits._typing import CodeArray, DistanceArray
from fewbits.codes import (
    as_codes,
    check_unused,
    hamming_distances,
    hamming_topk,
    smallest_distance,
    unpack,
)
from fewbits.errors import ArgumentError, CodeError

FloatArray = NDArray[np.float64]

_CUBE_BITS = 20  # of codes that can all be looked at, a million
_SAMPLE = 1000  # items whose groups are left out
_QUERIES = 64  # whose distances to everything are held at once


@dataclass(frozen=True, eq=False, slots=True)
class AcceptanceRegion:
    """Codes within a radius of a class code; all others are out-of-distribution.

    Attributes
    ----------
    class_codes : ndarray of shape (n_classes, n_bytes), dtype uint8
        Different ones only.
    n_bits : int
    radius : int
        The largest Hamming distance from the nearest class code that is accepted.
    predicted_rate : float
        Expected false-accept rate of out-of-distribution items, according to `model`:
        the share of all codes in the region. Where codes of more than 20 bits lie near
        several classes, an upper bound.
    model : {"uniform", "independent bits"}
        Assumed distribution of the codes of out-of-distribution items.
    """

    class_codes: CodeArray = field(repr=False)
    n_bits: int
    radius: int
    predicted_rate: float
    model: str

    __repr__ = one_line

    def distances(self, codes: CodeArray) -> DistanceArray:
        """Return the distance of each code to the nearest class code.

        Parameters
        ----------
        codes : ndarray of shape (n, n_bytes), dtype uint8

        Returns
        -------
        ndarray of shape (n,), dtype int32

        Raises
        ------
        CodeError
            When the codes are not packed codes of `n_bits` bits.
        """
        codes = as_codes(codes, n_bits=self.n_bits)
        return hamming_topk(codes, self.class_codes, 1).distances[:, 0]

    def accepts(self, codes: CodeArray) -> NDArray[np.bool_]:
        """Return whether each code is accepted as known, shape (n,), as `distances`."""
        return np.asarray(self.distances(codes) <= self.radius)


def acceptance_region(
    class_codes: CodeArray,
    n_bits: int,
    radius: int = 0,
    *,
    ones: ArrayLike | None = None,
) -> AcceptanceRegion:
    """Accept codes within a given radius of a class code.

    Kusupati et al. use radius 1 in its introduction and radius 0, exactly a class code,
    in its section 4.3. There is nothing to tune, and no unknown item is needed, but
    codes must be long enough that most are near no class: `predicted_rate` is near 1
    where ``2**n_bits`` comes close to the number of classes.

    Parameters
    ----------
    class_codes : ndarray of shape (n_classes, n_bytes), dtype uint8
        Packed; codes that occur twice count once.
    n_bits : int
        Length of the codes.
    radius : int, default=0
    ones : array-like of shape (n_bits,), default=None
        Probability of a 1 for each bit of an unknown code, bits being independent. None
        makes all codes equally likely.

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
    return _space(class_codes, n_bits, ones, radius).region(radius)


def predicted_region(
    class_codes: CodeArray,
    n_bits: int,
    rate: float,
    *,
    ones: ArrayLike | None = None,
) -> AcceptanceRegion:
    """Accept within the largest radius whose false-accept rate is low enough.

    The rate is that of random codes, and known before any item is seen: the share of
    all codes in the region. Real unknown items have bits that depend on each other, as
    those of known items do, and lie nearer to known codes than random ones: they are
    accepted several times as often. `learn_rejection` predicts a rate that holds, from
    known items.

    Parameters
    ----------
    class_codes, n_bits
        As in `acceptance_region`.
    rate : float
        Share of random codes that may be accepted, between 0 and 1.
    ones : array-like of shape (n_bits,), default=None
        As in `acceptance_region`; the shares of ones in known items are nearer to the
        truth than equally likely codes.

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
    space = _space(class_codes, n_bits, ones, n_bits)
    radius = int(np.searchsorted(space.shares, rate, side="right")) - 1
    if radius < 0:
        needs = "longer codes"
        if ones is None:
            n = int(np.ceil(np.log2(len(space.codes) / rate)))
            needs = f"at least {n} bits"
        raise ArgumentError(
            f"{len(space.codes)} class codes alone are {space.shares[0]:.3g} of all "
            f"codes of {space.n_bits} bits, more than the rate {rate:.3g}: {needs} are "
            "needed"
        )
    return space.region(radius)


class _Space(NamedTuple):
    """Different class codes, and the share of all codes within radii of them."""

    codes: CodeArray
    n_bits: int
    shares: FloatArray
    model: str

    def region(self, radius: int) -> AcceptanceRegion:
        share = float(self.shares[min(radius, self.n_bits)])
        return AcceptanceRegion(self.codes, self.n_bits, radius, share, self.model)


def _space(
    class_codes: CodeArray, n_bits: int, ones: ArrayLike | None, last: int
) -> _Space:
    """Return the shares of radii up to `last`; they may be too large beyond."""
    n_bits = whole_number(n_bits, "n_bits")
    codes = as_codes(class_codes, n_bits=n_bits)
    if not len(codes):
        raise CodeError("need at least one class code, got none")
    check_unused(codes, n_bits, "class codes")
    codes = np.unique(codes, axis=0)
    try:
        chances = np.asarray([0.5] * n_bits if ones is None else ones, float)
    except (TypeError, ValueError):
        raise ArgumentError("ones must be probabilities") from None
    fits = chances.shape == (n_bits,)
    if not fits or not ((chances >= 0) & (chances <= 1)).all():
        raise ArgumentError(
            f"ones must be a probability for each of {n_bits} bits, got shape "
            f"{chances.shape}{' with values outside 0 to 1' if fits else ''}"
        )
    bits = unpack(codes, n_bits).astype(np.bool_)
    # The sum over balls: exact where no code lies in two, and else an upper bound.
    if (chances == 0.5).all():
        from scipy.special import bdtr

        sums = len(codes) * bdtr(np.arange(n_bits + 1), n_bits, 0.5)
    else:
        sums = _ball_volumes(np.where(bits, 1 - chances, chances)).sum(axis=0)
    shares = np.minimum(sums, 1)
    if len(codes) > 1 and n_bits <= _CUBE_BITS:
        first = -(-smallest_distance(codes) // 2)  # radius at which balls overlap
        if first <= last:
            shares[first:] = _counted(bits, chances, min(last, n_bits))[first:]
    return _Space(
        codes, n_bits, shares, "uniform" if ones is None else "independent bits"
    )


def _counted(bits: NDArray[np.bool_], chances: FloatArray, last: int) -> FloatArray:
    """Return the probability of all codes within radii to `last`, by looking at all."""
    n_bits = len(chances)
    of_codes = np.ones(1)
    for chance in chances:  # the first bit is the most significant
        of_codes = np.outer(of_codes, [1 - chance, chance]).ravel()
    near = np.zeros(2**n_bits, np.bool_)
    near[bits @ (1 << np.arange(n_bits)[::-1])] = True
    shares = np.ones(n_bits + 1)
    for radius in range(last + 1):
        if near.all():  # and so it is for each larger radius
            break
        shares[radius] = min(1.0, of_codes[near].sum())
        wider = near.copy()  # with all that is one bit away
        for bit in range(n_bits):
            wider |= near.reshape(-1, 2, 2**bit)[:, ::-1].reshape(-1)
        near = wider
    return shares


def _ball_volumes(flips: FloatArray) -> FloatArray:
    """Return the probability of each radius around codes, by those that bits differ."""
    n_codes, n_bits = flips.shape
    exactly = np.zeros((n_codes, n_bits + 1))
    exactly[:, 0] = 1
    for bit, flip in enumerate(flips.T[:, :, None]):
        more = exactly[:, : bit + 1] * flip
        exactly[:, : bit + 1] *= 1 - flip
        exactly[:, 1 : bit + 2] += more
    return np.cumsum(exactly, axis=1).clip(max=1)


def novelty_radius(
    codes: CodeArray, groups: ArrayLike, *, coverage: float = 0.95
) -> int:
    """Return the Hamming radius beyond which a query counts as unknown.

    For each of 1,000 items at most its own group is left out, and the distance to its
    nearest neighbour elsewhere is noted. The returned radius covers the share
    `coverage` of them. A query with no code within it is farther from the collection
    than almost any group of the collection is from the rest, so it is unknown.

    Parameters
    ----------
    codes : ndarray of shape (n, n_bytes), dtype uint8
        The collection.
    groups : array-like of shape (n,)
        Fine classes, such as categories of a hierarchy; at least two.
    coverage : float, default=0.95
        Share of the sampled items that must lie within the radius, between 0 and 1.

    Returns
    -------
    int
        A Hamming distance.

    Raises
    ------
    ArgumentError
        When lengths differ, there is one group only, or `coverage` is out of range.

    Examples
    --------
    >>> import numpy as np
    >>> codes = np.array([[0], [1], [3], [7]], dtype=np.uint8)
    >>> novelty_radius(codes, ["a", "b", "c", "d"])
    1
    """
    codes = as_codes(codes)
    classes, numbers = as_classes(groups, len(codes), "groups")
    if len(classes) < 2:
        raise ArgumentError(f"need at least 2 groups, got {len(classes)}")
    check_rate(coverage, "coverage")
    sample = np.random.default_rng(0).permutation(len(codes))[:_SAMPLE]
    nearest = []
    for span in spans(len(sample), _QUERIES):
        rows = sample[span]
        distances = hamming_distances(codes[rows], codes)
        distances[numbers[rows, None] == numbers] = 8 * codes.shape[1]
        nearest.append(distances.min(axis=1))
    return int(np.quantile(np.concatenate(nearest), coverage, method="higher"))

"""Regions of the space of codes: what lies near class codes, and what is novel."""

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fewbits._checks import check_count, check_rate, generator, whole_number
from fewbits._labels import as_classes
from fewbits._repr import one_line
from fewbits._typing import CodeArray, DistanceArray
from fewbits.codes import (
    as_codes,
    hamming_distances,
    hamming_topk,
    pack,
    smallest_distance,
    unpack,
)
from fewbits.errors import ArgumentError, CodeError

FloatArray = NDArray[np.float64]

MAX_CUBE_BITS = 20  # of codes that can all be looked at, a million
_ERRORS = 3  # standard errors that an estimate must stay below a rate
_TABLE = 1 << 23  # entries of a table of tails
_PAIRS = 1 << 22  # distances held at once
_SMALLEST = 1e-250  # quotients of probabilities below this are no longer precise
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
        Expected false-accept rate of out-of-distribution items, according to `model`.
    standard_error : float
        Standard error of `predicted_rate`; 0 where it is exact.
    model : {"uniform", "independent bits"}
        Assumed distribution of the codes of out-of-distribution items.
    """

    class_codes: CodeArray = field(repr=False)
    n_bits: int
    radius: int
    predicted_rate: float
    standard_error: float
    model: str

    def __repr__(self) -> str:
        return one_line(self)

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
        """Return whether each code is accepted as known.

        Parameters
        ----------
        codes : ndarray of shape (n, n_bytes), dtype uint8

        Returns
        -------
        ndarray of shape (n,), dtype bool

        Raises
        ------
        CodeError
            When the codes are not packed codes of `n_bits` bits.
        """
        return np.asarray(self.distances(codes) <= self.radius)


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
    space = _Space(class_codes, n_bits, ones, 20_000, random_state)
    return space.region(radius, space.coverage(min(radius, space.n_bits)))


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
        Probability of a 1 for each bit of a random code; the shares of ones in known
        items are nearer to the truth than equally likely codes, for which None stands.
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
    space = _Space(class_codes, n_bits, ones, n_samples, random_state)
    # Up to here the sum over the balls is low enough, overlaps or not.
    radius = int(np.searchsorted(space.uppers, rate, side="right")) - 1
    if radius < 0:
        share = space.coverage(0).share
        needs = "longer codes"
        if ones is None:
            n = int(np.ceil(np.log2(len(space.codes) / rate)))
            needs = f"at least {n} bits"
        raise ArgumentError(
            f"{len(space.codes)} class codes alone are {share:.3g} of all codes of "
            f"{space.n_bits} bits, more than the rate {rate:.3g}: {needs} are needed"
        )
    coverage = space.coverage(radius)
    while True:
        wider = space.coverage(radius + 1)
        if min(wider.upper, wider.share + _ERRORS * wider.standard_error) > rate:
            return space.region(radius, coverage)
        radius, coverage = radius + 1, wider


class Coverage(NamedTuple):
    """Probability that a random code lies within a radius of some class code.

    Attributes
    ----------
    share : float
    standard_error : float
        Of `share`; 0 where it is exact.
    upper : float
        Union bound: the sum over the class codes, at most 1.
    method : {"disjoint", "counted", "sampled", "bound"}
        ``disjoint``: no code lies near several, so the sum is exact. ``counted``:
        exact, over all codes of that length. ``sampled``: estimated. ``bound``: too
        small, or too large, to be sampled, so that `share` is `upper`.
    """

    share: float
    standard_error: float
    upper: float
    method: str


def covered_share(
    class_codes: CodeArray,
    n_bits: int,
    radius: int,
    *,
    ones: ArrayLike | None = None,
    n_samples: int = 20_000,
    random_state: Any = 0,
) -> Coverage:
    """Return the share of all codes that lies within a radius of the class codes.

    Parameters
    ----------
    class_codes : ndarray of shape (n_classes, n_bytes), dtype uint8
        Packed; duplicate codes count once.
    n_bits : int
        Length of the codes.
    radius : int
        Largest Hamming distance that counts as near.
    ones : array-like of shape (n_bits,), default=None
        Probability of a 1 for each bit of a random code, bits being independent. None
        makes all codes equally likely.
    n_samples : int, default=20_000
        Number of samples, where the balls overlap and codes have more than 20 bits.
    random_state : int, Generator or None, default=0
        Seed of the samples.

    Returns
    -------
    Coverage

    Raises
    ------
    CodeError
        When there is no class code, or they are not packed codes of `n_bits` bits.
    ArgumentError
        When a number is out of range, or `ones` are not probabilities.

    Notes
    -----
    With disjoint balls and equally likely codes the share is ``L V(n, r) / 2**n``,
    ``V(n, r)`` the number of codes within ``r`` of one. Where balls overlap, a ball is
    drawn by its probability, and a code in it, which ``N`` balls contain; the sum over
    the balls times the mean of ``1 / N`` estimates the probability of their union. Its
    relative error does not grow as shares get small.

    References
    ----------
    Karp, Luby and Madras, "Monte-Carlo Approximation Algorithms for Enumeration
    Problems", Journal of Algorithms 10, 1989.

    Examples
    --------
    >>> import numpy as np
    >>> codes = np.array([[0b00000], [0b11111]], np.uint8) << 3
    >>> covered_share(codes, 5, 1)
    Coverage(share=0.375, standard_error=0.0, upper=0.375, method='disjoint')
    >>> covered_share(codes, 5, 2).share
    1.0
    >>> round(covered_share(codes, 5, 0, ones=[0.9] * 5).share, 4)
    0.5905
    """
    radius = check_count(radius, "radius", 0)
    space = _Space(class_codes, n_bits, ones, n_samples, random_state)
    return space.coverage(min(radius, space.n_bits))


class _Space:
    """All codes of a length with their probabilities, and class codes among them."""

    def __init__(
        self,
        class_codes: CodeArray,
        n_bits: int,
        ones: ArrayLike | None,
        n_samples: int,
        random_state: Any,
    ) -> None:
        self.n_bits = whole_number(n_bits, "n_bits")
        codes = as_codes(class_codes, n_bits=self.n_bits)
        if not len(codes):
            raise CodeError("need at least one class code, got none")
        if not np.array_equal(pack(unpack(codes, self.n_bits)), codes):
            raise CodeError(
                f"codes have bits set beyond the {self.n_bits} that were given"
            )
        self.codes = np.unique(codes, axis=0)
        self.model = "uniform" if ones is None else "independent bits"
        try:
            chances = np.asarray([0.5] * self.n_bits if ones is None else ones, float)
        except (TypeError, ValueError):
            raise ArgumentError("ones must be probabilities") from None
        fits = chances.shape == (self.n_bits,)
        if not fits or not ((chances >= 0) & (chances <= 1)).all():
            raise ArgumentError(
                f"ones must be a probability for each of {self.n_bits} bits, got shape "
                f"{chances.shape}{' with values outside 0 to 1' if fits else ''}"
            )
        self.ones = chances
        self._n_samples = check_count(n_samples, "n_samples", 2)
        self._rng = generator(random_state)

    @cached_property
    def flips(self) -> FloatArray:
        """Probability that each bit differs from that of each class code."""
        bits = unpack(self.codes, self.n_bits).astype(np.bool_)
        return np.where(bits, 1 - self.ones, self.ones)

    @cached_property
    def uppers(self) -> FloatArray:
        """Sum of the probabilities of the balls, for each radius."""
        if (self.ones == 0.5).all():
            from scipy.special import bdtr

            radii = np.arange(self.n_bits + 1)
            return np.asarray(len(self.codes) * bdtr(radii, self.n_bits, 0.5))
        return np.asarray(_ball_volumes(self.flips).sum(axis=0))

    def coverage(self, radius: int) -> Coverage:
        """Return the probability of all codes within `radius`."""
        total = float(self.uppers[radius])
        upper = min(1.0, total)
        # Where no code lies in two balls.
        if len(self.codes) == 1 or 2 * radius < self._smallest_distance:
            return Coverage(upper, 0.0, upper, "disjoint")
        if self.n_bits <= MAX_CUBE_BITS:
            return Coverage(float(self._counted[radius]), 0.0, upper, "counted")
        balls = _Balls(self.codes, self.flips, radius)
        if not balls.can_be_sampled:
            return Coverage(upper, 0.0, upper, "bound")
        share, error = balls.union(self._n_samples, self._rng)
        return Coverage(min(share, upper), error, upper, "sampled")

    def region(self, radius: int, coverage: Coverage) -> AcceptanceRegion:
        return AcceptanceRegion(
            self.codes,
            self.n_bits,
            radius,
            coverage.share,
            coverage.standard_error,
            self.model,
        )

    @cached_property
    def _smallest_distance(self) -> int:
        return smallest_distance(self.codes)

    @cached_property
    def _counted(self) -> FloatArray:
        """Probability of all codes within each radius, by looking at all codes."""
        chances = np.ones(1)
        for chance in self.ones:  # the first bit is the most significant
            chances = np.outer(chances, [1 - chance, chance]).ravel()
        near = np.zeros(2**self.n_bits, np.bool_)
        places = 1 << np.arange(self.n_bits)[::-1]
        near[unpack(self.codes, self.n_bits) @ places] = True
        shares = np.ones(self.n_bits + 1)
        for radius in range(self.n_bits + 1):
            if near.all():  # and so it is for each larger radius
                break
            shares[radius] = min(1.0, chances[near].sum())
            wider = near.copy()  # with all that is one bit away
            for bit in range(self.n_bits):
                wider |= near.reshape(-1, 2, 2**bit)[:, ::-1].reshape(-1)
            near = wider
        return shares


def _ball_volumes(flips: FloatArray) -> FloatArray:
    """Return the probability of the ball of each radius around each code.

    By the probabilities (n_codes, n_bits) that bits differ from the code's.
    """
    n_codes, n_bits = flips.shape
    exactly = np.zeros((n_codes, n_bits + 1))
    exactly[:, 0] = 1
    for bit, flip in enumerate(flips.T[:, :, None]):
        more = exactly[:, : bit + 1] * flip
        exactly[:, : bit + 1] *= 1 - flip
        exactly[:, 1 : bit + 2] += more
    return np.cumsum(exactly, axis=1).clip(max=1)


class _Balls:
    """Balls of one radius, which may overlap."""

    def __init__(self, codes: CodeArray, flips: FloatArray, radius: int) -> None:
        self._codes, self._flips, self._radius = codes, flips, radius
        self._n_bits = flips.shape[1]
        self._at_once = _TABLE // ((self._n_bits + 1) * (radius + 1))
        shares = _ball_volumes(flips)[:, radius]
        self._total = shares.sum()
        self._weights = shares / self._total if self._total else shares

    @property
    def can_be_sampled(self) -> bool:
        """Return whether the tables fit into memory and probabilities into floats."""
        return self._at_once > 0 and bool(self._total > _SMALLEST)

    def union(self, n_samples: int, rng: np.random.Generator) -> tuple[float, float]:
        """Estimate the probability of the union, and return its standard error too."""
        counts = rng.multinomial(n_samples, self._weights)
        shares = []
        for start in range(0, len(counts), self._at_once):
            flips = self._flips[start : start + self._at_once]
            # P(at most k of the bits from j on differ) as [j, code, k].
            tails = np.ones((self._n_bits + 1, len(flips), self._radius + 1))
            for bit in range(self._n_bits - 1, -1, -1):
                flip = flips[:, bit, None]
                tails[bit] = (1 - flip) * tails[bit + 1]
                tails[bit, :, 1:] += flip * tails[bit + 1, :, :-1]
            row = np.repeat(np.arange(len(flips)), counts[start : start + len(flips)])
            left = np.full(len(row), self._radius)
            bits = unpack(self._codes[start + row], self._n_bits).astype(np.bool_)
            for bit in range(self._n_bits):
                # If this bit differs, the rest may differ in one bit less.
                fewer = np.where(left > 0, tails[bit + 1, row, left - 1], 0)
                chance = flips[row, bit] * fewer / tails[bit, row, left]
                flipped = rng.random(len(row)) < chance
                bits[:, bit] ^= flipped
                left -= flipped
            codes, step = pack(bits), max(1, _PAIRS // len(self._codes))
            for first in range(0, len(codes), step):
                distances = hamming_distances(codes[first : first + step], self._codes)
                shares.append(1 / (distances <= self._radius).sum(axis=1))
        values = np.concatenate(shares)
        error = values.std(ddof=1) / np.sqrt(n_samples)
        return float(self._total * values.mean()), float(self._total * error)


def novelty_radius(
    codes: CodeArray,
    groups: ArrayLike,
    *,
    coverage: float = 0.95,
    n_samples: int = 1000,
    random_state: int = 0,
) -> int:
    """Return the Hamming radius beyond which a query counts as unknown.

    For each sampled item its own group is left out, and the distance to its nearest
    neighbour elsewhere is noted. The returned radius covers the share
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
    n_samples : int, default=1000
        Items to try, or all if there are fewer.
    random_state : int, default=0

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
    if not 0 < coverage < 1:
        raise ArgumentError(f"coverage must lie between 0 and 1, got {coverage}")
    rng = generator(random_state)
    chosen = rng.permutation(len(codes))[: check_count(n_samples, "n_samples")]
    nearest = []
    for start in range(0, len(chosen), _QUERIES):
        rows = chosen[start : start + _QUERIES]
        distances = hamming_distances(codes[rows], codes)
        distances[numbers[rows, None] == numbers] = 8 * codes.shape[1]
        nearest.append(distances.min(axis=1))
    return int(np.quantile(np.concatenate(nearest), coverage, method="higher"))

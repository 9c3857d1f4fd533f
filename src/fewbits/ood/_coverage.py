"""The share of all codes that lies near class codes, before seeing items."""

from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fewbits._checks import check_count, whole_number
from fewbits._typing import CodeArray
from fewbits.codes import as_codes, hamming_topk, pack, unpack
from fewbits.errors import ArgumentError, CodeError
from fewbits.ood._balls import Balls, hamming_ball_volumes
from fewbits.ood._cube import MAX_CUBE_BITS, hypercube_volumes

FloatArray = NDArray[np.float64]


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
        Probability of a 1 for each bit of a random code, bits being independent; such
        as `bit_marginals` of known items. None makes all codes equally likely.
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
    space = Space(class_codes, n_bits, ones, n_samples, random_state)
    return space.coverage(min(radius, space.n_bits))


class Space:
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
        self.codes = distinct_codes(class_codes, self.n_bits)
        self.ones = _probabilities(ones, self.n_bits)
        self._n_samples = whole_number(n_samples, "n_samples")
        if self._n_samples < 2:
            raise ArgumentError(f"n_samples must be at least 2, got {n_samples}")
        try:
            self._rng = np.random.default_rng(random_state)
        except (TypeError, ValueError) as error:
            raise ArgumentError(f"random_state is not a seed: {error}") from None

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
        return np.asarray(hamming_ball_volumes(self.flips).sum(axis=0))

    def coverage(self, radius: int) -> Coverage:
        """Return the probability of all codes within `radius`."""
        total = float(self.uppers[radius])
        upper = min(1.0, total)
        if 2 * radius < self._smallest_distance:
            return Coverage(upper, 0.0, upper, "disjoint")
        if self.n_bits <= MAX_CUBE_BITS:
            return Coverage(float(self._cube[radius]), 0.0, upper, "counted")
        balls = Balls(self.codes, self.flips, radius)
        if not balls.can_be_sampled:
            return Coverage(upper, 0.0, upper, "bound")
        share, error = balls.union(self._n_samples, self._rng)
        return Coverage(min(share, upper), error, upper, "sampled")

    @cached_property
    def _cube(self) -> FloatArray:
        return hypercube_volumes(self.codes, self.n_bits, self.ones)

    @cached_property
    def _smallest_distance(self) -> int:
        if len(self.codes) == 1:
            return 2 * self.n_bits + 1  # a single ball overlaps with none
        return int(hamming_topk(self.codes, self.codes, 2).distances[:, 1].min())


def bit_marginals(codes: CodeArray, n_bits: int) -> FloatArray:
    """Return the probability of a 1 for each bit, never exactly 0 or 1.

    Parameters
    ----------
    codes : ndarray of shape (n, n_bytes), dtype uint8
        Packed codes of known items.
    n_bits : int
        Length of the codes.

    Returns
    -------
    ndarray of shape (n_bits,), dtype float64
        ``(ones + 1) / (n + 2)``, Laplace's rule: a bit that has never changed so far
        may still do so.

    Examples
    --------
    >>> import numpy as np
    >>> bit_marginals(np.array([[0b10], [0b11]], np.uint8) << 6, 2)
    array([0.75, 0.5 ])
    """
    codes = as_codes(codes, n_bits=n_bits)
    step = max(1, (1 << 24) // n_bits)
    ones = np.zeros(n_bits)
    for start in range(0, len(codes), step):
        ones += unpack(codes[start : start + step], n_bits).sum(axis=0, dtype=np.int64)
    return (ones + 1) / (len(codes) + 2)


def distinct_codes(codes: CodeArray, n_bits: int) -> CodeArray:
    """Return every code once; at least one is needed."""
    codes = as_codes(codes, n_bits=n_bits)
    if not len(codes):
        raise CodeError("need at least one class code, got none")
    if not np.array_equal(pack(unpack(codes, n_bits)), codes):
        raise CodeError(f"codes have bits set beyond the {n_bits} that were given")
    return np.unique(codes, axis=0)


def _probabilities(ones: ArrayLike | None, n_bits: int) -> FloatArray:
    if ones is None:
        return np.full(n_bits, 0.5)
    try:
        values = np.asarray(ones, dtype=np.float64)
    except (TypeError, ValueError):
        raise ArgumentError("ones must be probabilities") from None
    if values.shape != (n_bits,) or not ((values >= 0) & (values <= 1)).all():
        raise ArgumentError(
            f"ones must be a probability for each of {n_bits} bits, got shape "
            f"{values.shape}"
            + ("" if values.shape != (n_bits,) else " with values outside 0 to 1")
        )
    return values

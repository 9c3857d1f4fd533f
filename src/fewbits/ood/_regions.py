"""Regions of the space of codes: what lies near class codes, and what is novel."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fewbits._checks import check_count, check_rate, whole_number
from fewbits._labels import as_classes
from fewbits._repr import short_repr
from fewbits._spans import spans
from fewbits._typing import CodeArray
from fewbits.codes import (
    as_codes,
    check_unused,
    hamming_distances,
    hamming_topk,
    smallest_distance,
    unpack,
)
from fewbits.errors import ArgumentError, CodeError

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
        Share of all codes in the region: the expected false-accept rate of
        out-of-distribution items whose codes are equally likely. Where codes of more
        than 20 bits lie near several classes, an upper bound.
    """

    class_codes: CodeArray = field(repr=False)
    n_bits: int
    radius: int
    predicted_rate: float

    __repr__ = short_repr

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
        codes = as_codes(codes, n_bits=self.n_bits)
        distances = hamming_topk(codes, self.class_codes, 1).distances[:, 0]
        return np.asarray(distances <= self.radius)


def acceptance_region(
    class_codes: CodeArray, n_bits: int, radius: int = 0
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

    Returns
    -------
    AcceptanceRegion

    Raises
    ------
    CodeError
        When there is no class code, or they are not packed codes of `n_bits` bits.
    ArgumentError
        When `radius` is negative.

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
    codes = as_codes(class_codes, n_bits=whole_number(n_bits, "n_bits"))
    if not len(codes):
        raise CodeError("need at least one class code, got none")
    check_unused(codes, n_bits, "class codes")
    codes = np.unique(codes, axis=0)
    share = _share(codes, n_bits, min(radius, n_bits))
    return AcceptanceRegion(codes, n_bits, radius, share)


def _share(codes: CodeArray, n_bits: int, radius: int) -> float:
    """Return the share of all codes within a radius of different codes."""
    from scipy.special import bdtr

    # The sum over balls: exact where no code lies in two, and else an upper bound.
    share = min(len(codes) * float(bdtr(radius, n_bits, 0.5)), 1.0)
    disjoint = len(codes) == 1 or 2 * radius < smallest_distance(codes)
    if disjoint or n_bits > _CUBE_BITS:
        return share
    near = np.zeros(2**n_bits, np.bool_)
    near[unpack(codes, n_bits) @ (1 << np.arange(n_bits)[::-1])] = True
    for _ in range(radius):
        wider = near.copy()  # with all that is one bit away
        for bit in range(n_bits):
            wider |= near.reshape(-1, 2, 2**bit)[:, ::-1].reshape(-1)
        near = wider
    return float(near.mean())


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

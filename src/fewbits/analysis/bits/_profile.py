"""Attributes that distinguish a class from the others."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fewbits._labels import as_classes
from fewbits._repr import one_line
from fewbits._typing import CodeArray, IdArray
from fewbits.analysis._checks import check_codes
from fewbits.analysis.bits._columns import count_ones
from fewbits.errors import ArgumentError


@dataclass(frozen=True, eq=False, slots=True)
class ClassProfile:
    """A class bit by bit; arrays of shape (n_bits,).

    Attributes
    ----------
    label : str or number
    n_inside, n_outside : int
        Items of the class, and all others.
    inside, outside : ndarray of float64
        Share of ones among them.
    z : ndarray of float64
        The difference of the shares in standard errors; 0 for a constant bit.
    order : ndarray of int64
        Bits by ``|z|``, the most telling first, ties by number.
    """

    label: Any
    n_inside: int
    n_outside: int
    inside: NDArray[np.float64]
    outside: NDArray[np.float64]
    z: NDArray[np.float64]
    order: IdArray

    def __repr__(self) -> str:
        return one_line(self)


def class_profile(
    codes: CodeArray, n_bits: int, labels: ArrayLike, label: Any
) -> ClassProfile:
    """Compare the bits of a class with those of everything else.

    Parameters
    ----------
    codes : ndarray of shape (n, n_bytes), dtype uint8
    n_bits : int
        Length of the codes.
    labels : array-like of shape (n,)
        Classes of the items, all strings or all numbers.
    label : str or number
        The class.

    Returns
    -------
    ClassProfile

    Raises
    ------
    ArgumentError
        When labels are not one per code, no item is of the class, or every item is.

    Notes
    -----
    `z` is that of the test that two proportions are equal. With the share ``p`` of all
    items it is ``(inside - outside) / sqrt(p (1 - p) (1 / n_inside + 1 / n_outside))``.
    It takes items as independent, and is rough below some five ones and five zeros.

    Examples
    --------
    >>> import numpy as np
    >>> codes = np.array([[0b11000000]] * 4 + [[0b01000000]] * 4, np.uint8)
    >>> profile = class_profile(codes, 2, ["cat"] * 4 + ["dog"] * 4, "cat")
    >>> profile.inside, profile.outside, profile.z.round(2), profile.order
    (array([1., 1.]), array([0., 1.]), array([2.83, 0.  ]), array([0, 1]))
    """
    codes = check_codes(codes, n_bits)
    names, classes = as_classes(labels, len(codes))
    members = classes == _place(names.tolist(), label)
    n_inside = int(members.sum())
    n_outside = len(codes) - n_inside
    if not n_outside:
        raise ArgumentError(
            f"every item is of class {label!r}: nothing to compare with"
        )
    ones = count_ones(codes, n_bits)
    ones_inside = count_ones(codes[members], n_bits)
    inside, outside = ones_inside / n_inside, (ones - ones_inside) / n_outside
    pooled = ones / len(codes)
    error = np.sqrt(pooled * (1 - pooled) * (1 / n_inside + 1 / n_outside))
    z = np.divide(inside - outside, error, out=np.zeros(n_bits), where=error > 0)
    order = np.argsort(-np.abs(z), kind="stable")
    return ClassProfile(label, n_inside, n_outside, inside, outside, z, order)


def _place(names: list[Any], label: Any) -> int:
    if label not in names:
        raise ArgumentError(f"no item is of class {label!r}")
    return names.index(label)

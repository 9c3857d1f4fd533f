"""The classes on either side of each bit of a codebook."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from fewbits._repr import one_line
from fewbits._typing import CodeArray
from fewbits.analysis.taxonomy._classes import class_bits


class BitClasses(NamedTuple):
    """The classes on either side of a bit.

    Attributes
    ----------
    bit : int
    on, off : tuple of str
        Classes whose code has a 1, and a 0.
    balance : float
        Share of the classes with a 1.
    """

    bit: int
    on: tuple[str, ...]
    off: tuple[str, ...]
    balance: float

    def __repr__(self) -> str:
        return one_line(self)


def classes_per_bit(
    codes: CodeArray, n_bits: int, names: Sequence[Any] | None = None
) -> tuple[BitClasses, ...]:
    """Return for each bit of a codebook the classes that have it on and off.

    Parameters
    ----------
    codes, n_bits, names
        As in `class_bits`.

    Returns
    -------
    tuple of BitClasses

    Raises
    ------
    CodeError, ArgumentError
        As in `class_bits`.

    Examples
    --------
    >>> codes = np.array([[0b100], [0b101], [0b111]], np.uint8) << 5
    >>> for found in classes_per_bit(codes, 3, ["cat", "lynx", "trout"]):
    ...     print(found.bit, found.on, round(found.balance, 2))
    0 ('cat', 'lynx', 'trout') 1.0
    1 ('trout',) 0.33
    2 ('lynx', 'trout') 0.67
    """
    words, bits = class_bits(codes, n_bits, names)
    return tuple(
        BitClasses(
            bit,
            tuple(words[i] for i in np.flatnonzero(column)),
            tuple(words[i] for i in np.flatnonzero(column == 0)),
            float(column.mean()),
        )
        for bit, column in enumerate(bits.T)
    )


class BitGroup(NamedTuple):
    """Bits that split the classes alike.

    Attributes
    ----------
    bits : tuple of int
        Bits that are equal over all classes, rising; the smallest of the group first.
    inverted : tuple of int
        Bits that are 1 where these are 0.
    """

    bits: tuple[int, ...]
    inverted: tuple[int, ...]

    def __str__(self) -> str:
        equal = ", ".join(map(str, self.bits))
        if not self.inverted:
            return equal
        return f"{equal}; inverted: {', '.join(map(str, self.inverted))}"


def equivalent_bits(codes: CodeArray, n_bits: int) -> tuple[BitGroup, ...]:
    """Return groups of bits that say the same about the classes of a codebook.

    Parameters
    ----------
    codes, n_bits
        As in `class_bits`.

    Returns
    -------
    tuple of BitGroup
        Each bit in one of them, in the order of their smallest bits.

    Raises
    ------
    CodeError, ArgumentError
        As in `class_bits`.

    Examples
    --------
    >>> codes = np.array([[0b1001], [0b0110], [0b0111]], np.uint8) << 4
    >>> [str(group) for group in equivalent_bits(codes, 4)]
    ['0; inverted: 1, 2', '3']
    """
    _, bits = class_bits(codes, n_bits)
    groups: dict[bytes, tuple[list[int], list[int]]] = {}
    for bit, column in enumerate(bits.T):
        split = (column ^ column[0]).tobytes()
        equal, inverted = groups.setdefault(split, ([], []))
        same = not equal or column[0] == bits[0, equal[0]]
        (equal if same else inverted).append(bit)
    return tuple(BitGroup(tuple(a), tuple(b)) for a, b in groups.values())

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

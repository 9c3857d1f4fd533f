"""The classes of each bit of a codebook, and a picture of the codebook."""

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from fewbits._repr import one_line
from fewbits._typing import CodeArray
from fewbits.analysis._checks import check_codes
from fewbits.analysis.taxonomy._taxonomy import class_names
from fewbits.codes import unpack
from fewbits.report._drawing import Drawing
from fewbits.report._heat_map import as_order
from fewbits.report._html import Html, element, shortened
from fewbits.report._png import picture

_LARGEST_CELL, _WIDTH, _HEIGHT = 14, 560, 1200
_NAMES, _TOP = 240, 20
_READABLE = 8  # pixels that a row needs for a name beside it
_PALETTE = np.array([[234, 229, 219], [31, 95, 168]], np.uint8)


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
    codes : ndarray of shape (n_classes, n_bytes), dtype uint8
        A packed code for each class; from 2 to 5,000.
    n_bits : int
        Length of the codes.
    names : sequence of length n_classes, default=None
        None numbers the classes.

    Returns
    -------
    tuple of BitClasses

    Raises
    ------
    CodeError
        When the codes are not packed codes of `n_bits` bits.
    ArgumentError
        When there are too few or too many classes, or names are not one per class.

    Examples
    --------
    >>> codes = np.array([[0b100], [0b101], [0b111]], np.uint8) << 5
    >>> for found in classes_per_bit(codes, 3, ["cat", "lynx", "trout"]):
    ...     print(found.bit, found.on, round(found.balance, 2))
    0 ('cat', 'lynx', 'trout') 1.0
    1 ('trout',) 0.33
    2 ('lynx', 'trout') 0.67
    """
    codes = check_codes(codes, n_bits)
    words = class_names(names, len(codes))
    return tuple(
        BitClasses(
            bit,
            tuple(words[i] for i in np.flatnonzero(column)),
            tuple(words[i] for i in np.flatnonzero(column == 0)),
            float(column.mean()),
        )
        for bit, column in enumerate(unpack(codes, n_bits).T)
    )


def codebook_picture(
    codes: CodeArray,
    n_bits: int,
    names: Sequence[Any] | None = None,
    *,
    order: ArrayLike | None = None,
) -> Drawing:
    """Draw a codebook: a row for each class, a column for each bit, dark where it is 1.

    Parameters
    ----------
    codes, n_bits, names
        As in `classes_per_bit`; names are shown beside up to 150 classes.
    order : array-like of shape (n_classes,), dtype int, default=None
        Classes from top to bottom, such as `Taxonomy.order`.

    Returns
    -------
    Drawing

    Raises
    ------
    CodeError, ArgumentError
        As in `classes_per_bit`, and when the order is none.

    Examples
    --------
    >>> codes = np.array([[0b100], [0b101], [0b111]], np.uint8) << 5
    >>> codebook_picture(codes, 3, ["cat", "lynx", "trout"]).description
    'Codes of 3 classes, 3 bits each'
    """
    codes = check_codes(codes, n_bits)
    words = class_names(names, len(codes))
    rows = as_order(order, len(codes))
    cell = min(_LARGEST_CELL, _HEIGHT / len(rows))
    across = min(_LARGEST_CELL, _WIDTH / n_bits)
    width, height = round(across * n_bits), round(cell * len(rows))
    shown = cell >= _READABLE
    parts = [
        *_bit_numbers(n_bits, across),
        picture(unpack(codes[rows], n_bits), _PALETTE, 0, _TOP, width, height),
        *(_row_names([words[i] for i in rows], width, cell) if shown else ()),
    ]
    return Drawing(
        max(width + (_NAMES if shown else 0), 40),
        _TOP + height,
        f"Codes of {len(rows)} classes, {n_bits} bits each",
        tuple(parts),
    )


def _bit_numbers(n_bits: int, across: float) -> Iterator[Html]:
    step = next(s for s in (1, 5, 10, 50, 100, 500, 10_000) if s * across >= 30)
    for bit in range(0, n_bits, step):
        yield element("text", str(bit), x=round(bit * across, 1), y=_TOP - 6)


def _row_names(names: Sequence[str], left: float, cell: float) -> Iterator[Html]:
    for i, name in enumerate(names):
        yield element(
            "text",
            element("title", name),
            shortened(name, 36),
            x=left + 6,
            y=round(_TOP + (i + 0.5) * cell + 4, 1),
            class_="leaf",
            style=f"font-size: {min(12.0, cell):.1f}px",
        )

"""Picture of a codebook."""

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from fewbits._typing import CodeArray
from fewbits.analysis.taxonomy import class_bits
from fewbits.report._drawing import Drawing
from fewbits.report._heat_map import as_order
from fewbits.report._png import picture
from fewbits.report.html import Html, element, shortened

_LARGEST_CELL, _WIDTH, _HEIGHT = 14, 560, 1200
_NAMES, _TOP = 240, 20
_READABLE = 8  # pixels that a row needs for a name beside it
_PALETTE = np.array([[234, 229, 219], [31, 95, 168]], np.uint8)


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
        As in `fewbits.analysis.taxonomy.class_bits`; names are shown beside up to 150
        classes.
    order : array-like of shape (n_classes,), dtype int, default=None
        Classes from top to bottom, such as `Taxonomy.order`.

    Returns
    -------
    Drawing

    Raises
    ------
    CodeError, ArgumentError
        As in `fewbits.analysis.taxonomy.class_bits`, and when the order is none.

    Examples
    --------
    >>> codes = np.array([[0b100], [0b101], [0b111]], np.uint8) << 5
    >>> codebook_picture(codes, 3, ["cat", "lynx", "trout"]).description
    'Codes of 3 classes, 3 bits each'
    """
    words, bits = class_bits(codes, n_bits, names)
    rows = as_order(order, len(bits))
    cell = min(_LARGEST_CELL, _HEIGHT / len(rows))
    across = min(_LARGEST_CELL, _WIDTH / n_bits)
    width, height = round(across * n_bits), round(cell * len(rows))
    shown = cell >= _READABLE
    parts = [
        *_bit_numbers(n_bits, across),
        picture(bits[rows], _PALETTE, 0, _TOP, width, height),
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

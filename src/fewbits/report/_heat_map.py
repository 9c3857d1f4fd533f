"""Heat map of the similarity of all pairs of classes."""

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fewbits._typing import CodeArray, IdArray
from fewbits.analysis.taxonomy import (
    Similarities,
    code_similarities,
    vector_similarities,
)
from fewbits.errors import ArgumentError
from fewbits.report._drawing import Drawing
from fewbits.report._png import picture
from fewbits.report.html import Html, element, shortened

_SIDE, _NAMES, _SCALE = 560, 200, 40
_READABLE = 70  # classes whose names have room beside the rows
_SHADES = 64
_DARK = np.array([23, 59, 110])  # of the most alike


def code_heat_map(
    codes: CodeArray,
    n_bits: int,
    names: Sequence[Any] | None = None,
    *,
    order: ArrayLike | None = None,
) -> Drawing:
    """Draw the inner products of all pairs of class codes, as -1 and +1, over n_bits.

    Parameters
    ----------
    codes : ndarray of shape (n_classes, n_bytes), dtype uint8
    n_bits : int
    names : sequence of length n_classes, default=None
        Shown beside up to 70 classes.
    order : array-like of shape (n_classes,), dtype int, default=None
        Classes from top to bottom, such as `Taxonomy.order`.

    Returns
    -------
    Drawing
        The scale ends at the 1st and the 99th percentile of pairs of different classes.

    Raises
    ------
    CodeError
        When the codes are not packed codes of `n_bits` bits.
    ArgumentError
        When there are too few or too many classes, names are not one per class, or the
        order is none.

    References
    ----------
    Figure 2 of Kusupati et al., "LLC: Accurate, Multi-purpose Learnt Low-dimensional
    Binary Codes", NeurIPS 2021.

    Examples
    --------
    >>> codes = np.array([[0b000], [0b001], [0b111]], np.uint8) << 5
    >>> code_heat_map(codes, 3).description
    'Inner products of 3 class codes, from -1.00 to 0.33'
    """
    products = code_similarities(codes, n_bits, names)
    return _draw(products, order, "Inner products of {} class codes")


def vector_heat_map(
    vectors: ArrayLike,
    names: Sequence[Any] | None = None,
    *,
    order: ArrayLike | None = None,
) -> Drawing:
    """Draw the cosines of all pairs of class vectors, such as a classifier's rows.

    Parameters
    ----------
    vectors : array-like of shape (n_classes, n_features)
        Finite, none of zeros only.
    names, order
        As in `code_heat_map`; give both the same order to compare them.

    Returns
    -------
    Drawing

    Raises
    ------
    FeatureError
        When the vectors are no such matrix.
    ArgumentError
        As for `code_heat_map`.

    Examples
    --------
    >>> vector_heat_map([[1, 0], [0, 2], [3, 0]]).description
    'Cosines of 3 class vectors, from 0.00 to 1.00'
    """
    cosines = vector_similarities(vectors, names)
    return _draw(cosines, order, "Cosines of {} class vectors")


def _draw(found: Similarities, order: ArrayLike | None, title: str) -> Drawing:
    names, values = found
    rows = as_order(order, len(names))
    pairs = values[~np.eye(len(values), dtype=bool)]
    low, high = np.quantile(pairs, [0.01, 0.99])
    shades = (values[np.ix_(rows, rows)] - low) / (high - low if high > low else 1.0)
    pixels = (shades.clip(0, 1) * (_SHADES - 1)).round().astype(np.uint8)
    left = _NAMES if len(rows) <= _READABLE else 0
    parts = [
        *(_row_names([names[i] for i in rows]) if left else ()),
        picture(pixels, _palette(), left, 0, _SIDE, _SIDE),
        *_scale(left, f"{low:.2f}", f"{high:.2f}"),
    ]
    what = f"{title.format(len(rows))}, from {low:.2f} to {high:.2f}"
    return Drawing(left + _SIDE, _SIDE + _SCALE, what, tuple(parts))


def _row_names(names: Sequence[str]) -> Iterator[Html]:
    step = _SIDE / len(names)
    for i, name in enumerate(names):
        yield element(
            "text",
            element("title", name),
            shortened(name, 28),
            x=_NAMES - 6,
            y=round((i + 0.5) * step + 3, 1),
            text_anchor="end",
            class_="leaf",
            style=f"font-size: {min(12.0, step):.1f}px",
        )


def _scale(left: int, low: str, high: str) -> Iterator[Html]:
    """Draw the shades with what they stand for below the picture."""
    y, width = _SIDE + 12, 160
    shades = np.arange(_SHADES, dtype=np.uint8)[None]
    yield element("text", low, x=left, y=y + 12)
    yield picture(shades, _palette(), left + 44, y, width, 14)
    yield element("text", high, x=left + 44 + width + 6, y=y + 12)


def _palette() -> NDArray[np.uint8]:
    share = np.linspace(0, 1, _SHADES)[:, None]
    return np.asarray((255 + share * (_DARK - 255)).round(), np.uint8)


def as_order(order: ArrayLike | None, n: int) -> IdArray:
    """Return every class once, in the order given or in that of their numbers."""
    rows = np.arange(n) if order is None else np.asarray(order)
    if rows.dtype.kind not in "iu" or not np.array_equal(np.sort(rows), np.arange(n)):
        raise ArgumentError(f"an order must hold each of {n} classes once")
    return rows.astype(np.int64)

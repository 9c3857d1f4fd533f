"""Heat map of the similarity of all pairs of classes."""

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fewbits._typing import CodeArray, IdArray
from fewbits.analysis.taxonomy import class_bits, class_vectors
from fewbits.codes import hamming_distances
from fewbits.errors import ArgumentError
from fewbits.report._drawing import Drawing
from fewbits.report._png import picture
from fewbits.report.html import Html, element, shortened

Attributes = dict[str, str | int | float]
_SIDE, _NAMES, _SCALE = 560, 200, 40
_ABOVE = 200  # height of the names of columns
_READABLE = 70  # classes whose names have room beside rows and columns
_SHADES = 128
#: From the least alike to the most: shades between, where most pairs are, differ well.
_STOPS = np.array([[255, 255, 255], [173, 205, 238], [62, 124, 196], [12, 28, 62]])


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
        Shown beside rows and columns of up to 70 classes.
    order : array-like of shape (n_classes,), dtype int, default=None
        Classes from top to bottom, such as `Taxonomy.order`.

    Returns
    -------
    Drawing
        The scale goes from the least alike pair to a class with itself.

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
    'Inner products of 3 class codes, from -1.00 to 1.00'
    """
    words, _ = class_bits(codes, n_bits, names)
    products = 1 - 2 * hamming_distances(codes, codes) / n_bits
    return _draw(words, products, order, "Inner products of {} class codes")


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
    words, unit = class_vectors(vectors, names)
    return _draw(words, unit @ unit.T, order, "Cosines of {} class vectors")


def _draw(
    names: Sequence[str],
    values: NDArray[np.float64],
    order: ArrayLike | None,
    title: str,
) -> Drawing:
    rows = as_order(order, len(names))
    low, high = float(values.min()), float(values.max())
    shades = (values[np.ix_(rows, rows)] - low) / (high - low if high > low else 1.0)
    pixels = (shades.clip(0, 1) * (_SHADES - 1)).round().astype(np.uint8)
    left, top = (_NAMES, _ABOVE) if len(rows) <= _READABLE else (0, 0)
    parts = [
        *(_all_names([names[i] for i in rows]) if left else ()),
        picture(pixels, _palette(), left, top, _SIDE, _SIDE),
        *_scale(left, top + _SIDE + 12, f"{low:.2f}", f"{high:.2f}"),
    ]
    what = f"{title.format(len(rows))}, from {low:.2f} to {high:.2f}"
    return Drawing(left + _SIDE, top + _SIDE + _SCALE, what, tuple(parts))


def _all_names(names: Sequence[str]) -> Iterator[Html]:
    """Write the names beside the rows, and upwards above the columns."""
    step = _SIDE / len(names)
    style = f"font-size: {min(12.0, step):.1f}px"
    for i, name in enumerate(names):
        title, middle = element("title", name), (i + 0.5) * step + 3
        row: Attributes = {
            "x": _NAMES - 6,
            "y": round(_ABOVE + middle, 1),
            "text_anchor": "end",
        }
        words = shortened(name, 28)
        yield element("text", title, words, class_="leaf", style=style, **row)
        x, y = round(_NAMES + middle, 1), _ABOVE - 6
        column: Attributes = {"x": x, "y": y, "transform": f"rotate(-90 {x} {y})"}
        words = shortened(name, 28)
        yield element("text", title, words, class_="leaf", style=style, **column)


def _scale(left: int, y: int, low: str, high: str) -> Iterator[Html]:
    """Draw the shades with what they stand for below the picture."""
    width = 160
    shades = np.arange(_SHADES, dtype=np.uint8)[None]
    yield element("text", low, x=left, y=y + 12)
    yield picture(shades, _palette(), left + 44, y, width, 14)
    yield element("text", high, x=left + 44 + width + 6, y=y + 12)


def _palette() -> NDArray[np.uint8]:
    places, stops = np.linspace(0, 1, _SHADES), np.linspace(0, 1, len(_STOPS))
    channels = [np.interp(places, stops, channel) for channel in _STOPS.T]
    return np.stack(channels, axis=1).round().astype(np.uint8)


def as_order(order: ArrayLike | None, n: int) -> IdArray:
    """Return every class once, in the order given or in that of their numbers."""
    rows = np.arange(n) if order is None else np.asarray(order)
    if rows.dtype.kind not in "iu" or not np.array_equal(np.sort(rows), np.arange(n)):
        raise ArgumentError(f"an order must hold each of {n} classes once")
    return rows.astype(np.int64)

"""A taxonomy as a drawing, one line of text for each class."""

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fewbits._checks import check_count
from fewbits.analysis.taxonomy import Taxonomy
from fewbits.errors import ArgumentError
from fewbits.report._drawing import Drawing
from fewbits.report.html import Html, element, shortened

FloatArray = NDArray[np.float64]

_WIDTH, _NAMES, _MARGIN = 840, 280, 12
_ROW, _TOP = 16, 44
_LONGEST = 40  # characters of a name; the whole of it shows under the pointer
_COLOURED = 6  # groups with a colour each; the style defines as many


def dendrogram(
    tree: Taxonomy, groups: Sequence[Any] | None = None, *, width: int = _WIDTH
) -> Drawing:
    """Draw a taxonomy: merges at their heights, classes in the order of the tree.

    Parameters
    ----------
    tree : Taxonomy
    groups : sequence of length n_classes, default=None
        Known groups of the classes; the six most frequent get colours.
    width : int, default=840
        In pixels, 280 of them for names.

    Returns
    -------
    Drawing
        A hundred classes are 1,700 pixels high.

    Raises
    ------
    ArgumentError
        When groups are not one per class, or the width is below 400.

    Examples
    --------
    >>> import numpy as np
    >>> from fewbits.analysis.taxonomy import taxonomy
    >>> codes = np.array([[0b000], [0b001], [0b111]], np.uint8) << 5
    >>> drawing = dendrogram(taxonomy(codes, 3, ["cat", "lynx", "trout"]))
    >>> drawing.description
    'Tree of 3 classes: cat, lynx, trout'
    """
    span = check_count(width, "width", 400) - _NAMES
    named = _colours(groups, len(tree.names))
    top = _TOP + (_ROW if named else 0)
    places = _places(tree, top)
    parts = [
        *_legend(named, width),
        *_axis(tree, span, top - 8),
        *_branches(tree, span, places),
        *_leaves(tree, groups, named, (span, places)),
    ]
    words = [shortened(tree.names[i], _LONGEST) for i in tree.order]
    return Drawing(
        width=width,
        height=top + _ROW * len(tree.names) + _MARGIN,
        description=f"Tree of {len(words)} classes: {', '.join(words)}",
        parts=tuple(parts),
    )


def _places(tree: Taxonomy, top: float) -> FloatArray:
    """Return the vertical position of each class and each merge, from the top."""
    n = len(tree.names)
    places = np.empty(2 * n - 1)
    places[tree.order] = top + _ROW * (np.arange(n) + 0.5)
    for merge, (first, second) in enumerate(tree.linkage[:, :2].astype(int)):
        places[n + merge] = (places[first] + places[second]) / 2
    return places


def _branches(tree: Taxonomy, span: int, places: FloatArray) -> Iterator[Html]:
    heights = np.concatenate([np.zeros(len(tree.names)), tree.linkage[:, 2]])
    across = _across(tree, span, heights)
    for merge, (a, b) in enumerate(tree.linkage[:, :2].astype(int)):
        x = across[len(tree.names) + merge]
        yield element(
            "path",
            d=f"M{across[a]} {places[a]:.1f}H{x}V{places[b]:.1f}H{across[b]}",
            class_="branch",
        )


def _across(tree: Taxonomy, span: int, heights: FloatArray) -> FloatArray:
    """Return places from left to right: the root first, classes last."""
    highest = tree.linkage[-1, 2] or 1.0
    width = span - 2 * _MARGIN
    places: FloatArray = (_MARGIN + (1 - heights / highest) * width).round(1)
    return places


def _leaves(
    tree: Taxonomy,
    groups: Sequence[Any] | None,
    named: Sequence[str],
    at: tuple[int, FloatArray],
) -> Iterator[Html]:
    span, places = at
    x = span - _MARGIN + 8
    for i, name in enumerate(tree.names):
        title, y = name, round(float(places[i]), 1)
        if groups is not None:
            title = f"{name}, {groups[i]}"
            yield _dot(x, y, named, str(groups[i]))
        words = element("title", title)
        offset = 8 if groups is not None else 0
        line = shortened(name, _LONGEST)
        yield element("text", words, line, x=x + offset, y=y + 4, class_="leaf")


def _axis(tree: Taxonomy, span: int, y: float) -> Iterator[Html]:
    yield element("text", f"height ({tree.unit})", x=span, y=y - 8)
    yield element("path", d=f"M{_MARGIN} {y}H{span - _MARGIN}", class_="axis")
    for height in _ticks(float(tree.linkage[-1, 2])):
        x = float(_across(tree, span, np.array([height]))[0])
        yield element("path", d=f"M{x} {y}v-4", class_="axis")
        yield element("text", f"{height:g}", x=x, y=y - 8, text_anchor="middle")


def _ticks(highest: float) -> list[float]:
    """Return round heights, 0 among them, of which there are at most six."""
    if not highest > 0:
        return [0.0]
    power = 10 ** np.floor(np.log10(highest))
    step = next(s * power for s in (0.2, 0.5, 1, 2) if highest / (s * power) < 6)
    return [float(f"{i * step:.12g}") for i in range(int(highest / step) + 1)]


def _legend(named: Sequence[str], width: int) -> Iterator[Html]:
    apart = (width - _MARGIN) // _COLOURED
    for i, name in enumerate(named):
        x = _MARGIN + i * apart
        yield _dot(x, 12, named, name)
        yield element(
            "text", element("title", name), shortened(name, 18), x=x + 8, y=16
        )


def _dot(x: float, y: float, named: Sequence[str], group: str) -> Html:
    css = f"dot class-{named.index(group)}" if group in named else "dot"
    return element("circle", cx=x, cy=y, r=4, class_=css)


def _colours(groups: Sequence[Any] | None, n: int) -> list[str]:
    """Return the most frequent groups."""
    if groups is None:
        return []
    if isinstance(groups, str) or len(groups) != n:
        raise ArgumentError(f"need a group for each of {n} classes, got {len(groups)}")
    counts = Counter(map(str, groups))
    return [name for name, _ in counts.most_common(_COLOURED)]

"""Maps of the code space as drawings: near points have near codes."""

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fewbits.analysis.maps import CodeMap
from fewbits.report._thumbnails import Pictures
from fewbits.report.html import Html, element, shortened, text

_SIDE, _MARGIN = 600, 28  # of the longer side; room around the points
_PICTURE = 40  # side of a picture on the map
_MAX_PICTURES = 90
_LONGEST = 120  # characters of a text that shows when the pointer rests on it
_COLOURED = 10  # classes with a colour each; the style defines as many
_TITLES = {
    "smacof": "By multidimensional scaling: distances between points stand for bits",
    "classical": "By principal coordinates: distances between points stand for bits",
    "tsne": "By t-SNE: only small distances are meaningful",
}

FloatArray = NDArray[np.float64]


def map_section(
    maps: Sequence[CodeMap],
    words: Sequence[Any] | None,
    pictures: Pictures | None,
    classes: Sequence[str] | None,
) -> Html:
    """Return the maps side by side; images at their places as far as they fit."""
    if not maps:
        return Html("")
    drawings = [_drawing(each, words, pictures, classes) for each in maps]
    return element(
        "section",
        element("h2", "Maps"),
        element("div", *drawings, class_="charts maps"),
    )


def _drawing(
    found: CodeMap,
    words: Sequence[Any] | None,
    pictures: Pictures | None,
    classes: Sequence[str] | None,
) -> Html:
    places, (width, height) = _places(found.coordinates)
    colours = _colours(found, classes)
    names = [_name(row, words, classes) for row in found.rows.tolist()]
    rows = found.rows.tolist()
    seen = (
        [] if pictures is None else [(i, pictures.get(rows[i])) for i in _apart(places)]
    )
    shown = {i: made[0] for i, made in seen if made is not None}
    dots = [
        _dot(places[i], names[i], colours[i])
        for i in range(len(rows))
        if i not in shown
    ]
    framed = colours if classes is not None else [_COLOURED] * len(rows)
    drawn = [
        part
        for i in sorted(shown)
        for part in _picture(shown[i], places[i], names[i], framed[i])
    ]
    drawing = element(
        "svg",
        *dots,
        *drawn,
        viewBox=f"0 0 {width} {height}",
        role="img",
        aria_label=f"Map of {len(places)} codes, stress {found.stress:.2f}",
    )
    caption = f"{_TITLES[found.method]} ({len(places):,} items, stress "
    legend = _legend(found, classes)
    title = element("figcaption", f"{caption}{found.stress:.2f})", legend)
    return element("figure", title, drawing, class_="card")


def _places(coordinates: FloatArray) -> tuple[FloatArray, tuple[int, int]]:
    """Return places in a drawing, the same scale on both axes, and its size."""
    low, high = coordinates.min(axis=0), coordinates.max(axis=0)
    scale = (_SIDE - 2 * _MARGIN) / (float((high - low).max()) or 1.0)
    width, height = (int(z) + 2 * _MARGIN for z in (high - low) * scale)
    return (coordinates - low) * scale + _MARGIN, (width, height)


def _apart(places: FloatArray) -> list[int]:
    """Return points whose pictures do not cover each other, chosen in their order."""
    chosen: list[int] = []
    for i, place in enumerate(places):
        gaps = np.abs(places[chosen] - place).max(axis=1)
        if (gaps >= _PICTURE).all():
            chosen.append(i)
        if len(chosen) == _MAX_PICTURES:
            break
    return chosen


def _picture(source: str, place: FloatArray, name: str, colour: int) -> Iterator[Html]:
    """Draw a picture, with an edge in the colour of its class."""
    x, y = (round(float(z) - _PICTURE / 2, 1) for z in place)
    yield element(
        "image",
        element("title", name),
        href=source,
        x=x,
        y=y,
        width=_PICTURE,
        height=_PICTURE,
        preserveAspectRatio="xMidYMid slice",
    )
    if colour < _COLOURED:
        css = f"edge class-{colour}"
        yield element("rect", class_=css, width=_PICTURE, height=_PICTURE, x=x, y=y)


def _dot(place: FloatArray, name: str, colour: int) -> Html:
    x, y = (round(float(z), 1) for z in place)
    css = f"dot class-{colour}" if colour < _COLOURED else "dot"
    return element("circle", element("title", name), cx=x, cy=y, r=4, class_=css)


def _name(row: int, words: Sequence[Any] | None, classes: Sequence[str] | None) -> str:
    parts = [] if words is None else [shortened(words[row], _LONGEST)]
    if classes is not None and classes[row] not in parts:
        parts.append(shortened(classes[row], _LONGEST))
    return ", ".join(parts) or f"item {row}"


def _common(found: CodeMap, classes: Sequence[str] | None) -> list[str]:
    """Return the most frequent classes among the points."""
    if classes is None:
        return []
    counts = Counter(classes[row] for row in found.rows.tolist())
    return [name for name, _ in counts.most_common(_COLOURED)]


def _colours(found: CodeMap, classes: Sequence[str] | None) -> list[int]:
    common = _common(found, classes)
    if classes is None:
        return [0] * len(found.rows)
    number = {name: i for i, name in enumerate(common)}
    return [number.get(classes[row], _COLOURED) for row in found.rows.tolist()]


def _legend(found: CodeMap, classes: Sequence[str] | None) -> Html:
    keys = [
        element("span", text(name, 40), class_=f"key class-{i}")
        for i, name in enumerate(_common(found, classes))
    ]
    return element("span", *keys)

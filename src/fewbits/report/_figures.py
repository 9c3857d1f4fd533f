"""Figures on the page about bits: histograms, maps and thumbnails."""

from base64 import b64encode
from collections import Counter
from collections.abc import Mapping, Sequence
from io import BytesIO
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fewbits._images import open_rgb
from fewbits.analysis.maps import CodeMap
from fewbits.errors import FeatureError
from fewbits.report.html import Html, element, join, shortened, text

_SIDE, _ROOM = 600, 28  # of the longer side; room around the points
_PICTURE = 40  # side of a picture on the map
_MAX_PICTURES = 90
_LONGEST = 120  # characters of a text that shows when the pointer rests on it
_COLOURED = 10  # classes with a colour each; the style defines as many
_TITLES = {
    "smacof": "By multidimensional scaling: distances between points stand for bits",
    "tsne": "By t-SNE: only small distances are meaningful",
}
FloatArray = NDArray[np.float64]
_WIDTH, _HEIGHT = 560, 180
_LEFT, _BOTTOM, _TOP = 4, 24, 8
_SIZE = 96  # pixels of the longer side
_TINY = 32  # pictures up to this size are enlarged by the reader, pixel by pixel


class Pictures:
    """Thumbnails of items by row, each made once; what cannot be read has none."""

    def __init__(self, items: Sequence[Any]) -> None:
        self._items = items
        self._thumbnails: dict[int, tuple[str, bool] | None] = {}
        self._reasons: list[str] = []

    def get(self, row: int) -> tuple[str, bool] | None:
        """Return an image as a ``data:`` URI, and whether it is tiny; or None."""
        if row not in self._thumbnails:
            try:
                image = open_rgb(self._items[row])
                from PIL import Image

                tiny = max(image.size) <= _TINY
                image.thumbnail((_SIZE, _SIZE), Image.Resampling.LANCZOS)
                file, kind = BytesIO(), "png" if tiny else "jpeg"
                image.save(file, kind.upper(), **({} if tiny else {"quality": 80}))
                data = b64encode(file.getvalue()).decode()
                self._thumbnails[row] = f"data:image/{kind};base64,{data}", tiny
            except FeatureError as error:
                self._thumbnails[row] = None
                self._reasons.append(str(error))
        return self._thumbnails[row]

    def notes(self) -> list[str]:
        """Return a sentence about what could not be read so far, if anything."""
        if not self._reasons:
            return []
        return [
            f"{len(self._reasons):,} of the {len(self._thumbnails):,} images that "
            f"belong on this page cannot be read: {self._reasons[0]}"
        ]


def map_section(
    maps: Sequence[CodeMap],
    words: Sequence[Any] | None,
    pictures: Pictures | None,
    classes: Sequence[str] | None,
) -> Html:
    """Return the maps side by side; images at their places as far as they fit."""
    figures = (_map(code_map, words, pictures, classes) for code_map in maps)
    side_by_side = element("div", *figures, class_="charts maps")
    return element("section", element("h2", "Maps"), side_by_side)


def _map(
    code_map: CodeMap,
    words: Sequence[Any] | None,
    pictures: Pictures | None,
    classes: Sequence[str] | None,
) -> Html:
    # The same scale on both axes.
    low, high = code_map.coordinates.min(axis=0), code_map.coordinates.max(axis=0)
    scale = (_SIDE - 2 * _ROOM) / (float((high - low).max()) or 1.0)
    width, height = (int(z) + 2 * _ROOM for z in (high - low) * scale)
    places = (code_map.coordinates - low) * scale + _ROOM
    rows = code_map.rows.tolist()
    common, colours = [], [0] * len(rows)
    if classes is not None:
        counts = Counter(classes[row] for row in rows)
        common = [name for name, _ in counts.most_common(_COLOURED)]
        number = {name: i for i, name in enumerate(common)}
        colours = [number.get(classes[row], _COLOURED) for row in rows]
    thumbnails = {}
    if pictures is not None:
        shown: list[int] = []  # whose pictures do not cover each other
        for i, place in enumerate(places):
            gaps = np.abs(places[shown] - place).max(axis=1)
            if (gaps >= _PICTURE).all() and len(shown) < _MAX_PICTURES:
                shown.append(i)
        for i in shown:
            if (thumbnail := pictures.get(rows[i])) is not None:
                thumbnails[i] = thumbnail[0]
    dots, images = [], []
    for i, row in enumerate(rows):
        parts = [] if words is None else [shortened(words[row], _LONGEST)]
        if classes is not None and classes[row] not in parts:
            parts.append(shortened(classes[row], _LONGEST))
        title = element("title", ", ".join(parts) or f"item {row}")
        css = f" class-{colours[i]}" if colours[i] < _COLOURED else ""
        if i not in thumbnails:
            x, y = (round(float(z), 1) for z in places[i])
            dots.append(element("circle", title, cx=x, cy=y, r=4, class_=f"dot{css}"))
            continue
        x, y = (round(float(z) - _PICTURE / 2, 1) for z in places[i])
        side = {"width": _PICTURE, "height": _PICTURE}
        images.append(
            element(
                "image",
                title,
                href=thumbnails[i],
                x=x,
                y=y,
                **side,
                preserveAspectRatio="xMidYMid slice",
            )
        )
        if css and classes is not None:
            images.append(element("rect", class_=f"edge{css}", **side, x=x, y=y))
    figure = element(
        "svg",
        *dots,
        *images,
        viewBox=f"0 0 {width} {height}",
        role="img",
        aria_label=f"Map of {len(places)} codes, stress {code_map.stress:.2f}",
    )
    keys = [
        element("span", text(name, 40), class_=f"key class-{i}")
        for i, name in enumerate(common)
    ]
    size = f"({len(places):,} items, stress {code_map.stress:.2f})"
    caption = f"{_TITLES[code_map.method]} {size}"
    title = element("figcaption", caption, element("span", *keys))
    return element("figure", title, figure, class_="card")


def histogram(
    title: str,
    series: Mapping[str, FloatArray],
    ticks: Mapping[float, str],
    description: str,
) -> Html:
    """Draw shares per bin, the first series filled, further ones as lines."""
    n_bins = len(next(iter(series.values())))
    highest = max(float(values.max()) for values in series.values()) or 1.0
    base, shapes = _HEIGHT - _BOTTOM, []
    for i, values in enumerate(series.values()):
        path = f"M{_x(0, n_bins)} {base}"
        for place, height in enumerate(values / highest, 1):
            path += f"V{base - height * (base - _TOP):.1f}H{_x(place, n_bins)}"
        # Plain colours for readers that do not apply the page's style to drawings.
        paint = {"fill": "none" if i else "currentColor", "stroke": "currentColor"}
        css = f"{'line' if i else 'area'} series-{i}"
        shapes.append(element("path", d=f"{path}V{base}", class_=css, **paint))
    # The first and the last label stay inside.
    anchors = ["start", *["middle"] * (len(ticks) - 2), "end"]
    labels = [
        element("text", label, x=_x(place, n_bins), y=_HEIGHT - 6, text_anchor=anchor)
        for (place, label), anchor in zip(ticks.items(), anchors, strict=True)
    ]
    axis = element("path", d=f"M{_LEFT} {base}H{_WIDTH - _LEFT}", class_="axis")
    drawing = element(
        "svg",
        *shapes,
        axis,
        *labels,
        viewBox=f"0 0 {_WIDTH} {_HEIGHT}",
        role="img",
        aria_label=f"{title}: {description}",
    )
    keys = [
        element("span", name, class_=f"key series-{i}") for i, name in enumerate(series)
    ]
    legend = join(keys) if len(keys) > 1 else ""
    return element("figure", element("figcaption", title, legend), drawing)


def _x(place: float, n_bins: int) -> float:
    return round(_LEFT + place / n_bins * (_WIDTH - 2 * _LEFT), 1)

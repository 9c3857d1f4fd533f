"""Names beside dots, where they cover neither each other nor the dots."""

from collections.abc import Iterator, Mapping
from functools import partial
from itertools import product
from math import cos, pi, sin
from typing import Any, NamedTuple

from experiments._looks import in_order, look_of

#: Of figures where a pixel is a point.
POINTS_PER_INCH = 72
SIZE, RADIUS = 8, 4.0
#: Points between a dot and its name; from the second on a line joins them.
DISTANCES = (6.0, 15.0, 24.0, 36.0, 50.0, 66.0, 84.0)
#: Right of the dot, left, above and below it, and what is between them.
TURNS = tuple(turn * pi / 8 for turn in (0, 8, 4, 12, 2, 14, 6, 10, *range(1, 16, 2)))
#: Times that names look for a better place, once all have one.
SWEEPS = 5
#: What a point of distance weighs, a square point of cover, and a line across others.
FAR, COVER, CROSSED = 1.0, 20.0, 15.0
#: Of a line, where it is looked at.
PARTS = tuple(n / 8 for n in range(1, 8))


class Box(NamedTuple):
    """A rectangle on the page, in points."""

    left: float
    bottom: float
    right: float
    top: float

    def common(self, other: "Box") -> float:
        """Return the area that two boxes share."""
        width = min(self.right, other.right) - max(self.left, other.left)
        height = min(self.top, other.top) - max(self.bottom, other.bottom)
        return max(width, 0.0) * max(height, 0.0)

    def has(self, x: float, y: float) -> bool:
        """Whether a point is in the box."""
        return self.left < x < self.right and self.bottom < y < self.top

    def nearest(self, x: float, y: float) -> tuple[float, float]:
        """Return the point of the box that is nearest to another."""
        return (
            min(max(x, self.left), self.right),
            min(max(y, self.bottom), self.top),
        )

    @property
    def centre(self) -> tuple[float, float]:
        """Where the middle is."""
        return (self.left + self.right) / 2, (self.bottom + self.top) / 2


def write_names(
    axes: Any,
    dots: Mapping[str, tuple[float, float, float]],
    texts: Mapping[str, str],
) -> None:
    """Write the name of each dot beside it, or what `texts` has for it."""
    axes.autoscale(False)
    axes.figure.draw_without_rendering()
    axes.figure.set_layout_engine("none")
    names = in_order(dots)
    marks = {name: _mark(axes, *dots[name]) for name in names}
    sizes = {name: _size(axes, texts.get(name, name)) for name in names}
    frame = Box(*axes.get_window_extent().extents)
    to_data = axes.transData.inverted().transform
    for name, (distance, box) in settled(marks, sizes, frame).items():
        text, corner = texts.get(name, name), to_data((box.left, box.bottom))
        axes.text(*corner, text, fontsize=SIZE, va="bottom")
        if distance > DISTANCES[0]:
            ends = to_data([marks[name].centre, box.nearest(*marks[name].centre)])
            colour = look_of(name).get("color", "0.6")
            axes.plot(*ends.T, color=colour, linewidth=0.6, zorder=1)


def _mark(axes: Any, x: float, mean: float, error: float) -> Box:
    """Return what a dot and its bar take."""
    (across, low), (_, high) = axes.transData.transform(
        [(x, mean - error), (x, mean + error)]
    )
    return Box(across - RADIUS, low - RADIUS, across + RADIUS, high + RADIUS)


def _size(axes: Any, text: str) -> tuple[float, float]:
    drawn = axes.text(0.5, 0.5, text, fontsize=SIZE, transform=axes.transAxes)
    box = drawn.get_window_extent()
    drawn.remove()
    return box.width + 2, box.height


def settled(
    marks: Mapping[str, Box], sizes: Mapping[str, tuple[float, float]], frame: Box
) -> dict[str, tuple[float, Box]]:
    """Return a distance and a place for each name: the best beside the others' places.

    Parameters
    ----------
    marks : mapping
        What the dots take.
    sizes : mapping
        Width and height of what is written.
    frame : Box
        Where names may be.
    """
    places: dict[str, tuple[float, Box]] = {}
    for _ in range(SWEEPS):
        for name, mark in marks.items():
            taken = [box for other, box in marks.items() if other != name]
            taken += [box for other, (_, box) in places.items() if other != name]
            places[name] = min(
                _candidates(mark, *sizes[name]),
                key=partial(_cost, mark=mark, taken=taken, frame=frame),
            )
    return places


def _candidates(mark: Box, width: float, height: float) -> Iterator[tuple[float, Box]]:
    x, y = mark.centre
    for distance, turn in product(DISTANCES, TURNS):
        left = x + cos(turn) * (distance + width / 2) - width / 2
        bottom = y + sin(turn) * (distance + height / 2) - height / 2
        yield distance, Box(left, bottom, left + width, bottom + height)


def _cost(place: tuple[float, Box], mark: Box, taken: list[Box], frame: Box) -> float:
    """Return what speaks against a place: its distance, and what it covers."""
    distance, box = place
    outside = box.common(box) - box.common(frame)
    covered = box.common(mark) + sum(box.common(other) for other in taken)
    (x, y), (to_x, to_y) = mark.centre, box.nearest(*mark.centre)
    line = [(x + part * (to_x - x), y + part * (to_y - y)) for part in PARTS]
    crossed = sum(any(other.has(*point) for point in line) for other in taken)
    return FAR * distance + COVER * (covered + outside) + CROSSED * crossed

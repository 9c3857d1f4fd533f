"""The frontier for a terminal, and as a drawing."""

import math
from collections.abc import Sequence

from fewbits.analysis._drawing import Drawing
from fewbits.analysis._html import Html, element
from fewbits.training.tuning._measured import Measured

_COLUMNS, _LINES = 60, 12
_WIDTH, _HEIGHT, _LEFT, _TOP, _BOTTOM = 640, 400, 64, 36, 48


def frontier_text(
    measured: Sequence[Measured], frontier: Sequence[Measured], quality: str
) -> str:
    """Return a plot in characters: quality over bytes, these on a logarithmic axis.

    Parameters
    ----------
    measured, frontier : sequence of Measured
        Dots, and what nothing else beats as circles.
    quality : str
        What the vertical axis is called.

    Returns
    -------
    str
        Lines of 68 characters at most.
    """
    points = [*measured, *frontier]
    grid = [[" "] * _COLUMNS for _ in range(_LINES)]
    for i, (x, y) in enumerate(_places(points)):
        column, line = round(x * (_COLUMNS - 1)), round((1 - y) * (_LINES - 1))
        grid[line][column] = "·" if i < len(measured) else "●"
    low, high = _quality_span(points)
    names = [f"{high:.3f}", *[""] * (_LINES - 2), f"{low:.3f}"]
    lines = [
        f"{name:>6} │{''.join(row)}".rstrip()
        for name, row in zip(names, grid, strict=True)
    ]
    least, most = (f"{f(each.bytes_per_item for each in points):,}" for f in (min, max))
    axis = f"{'':>6} └{'─' * _COLUMNS}"
    below = f"{'':>8}{least}{most:>{_COLUMNS - len(least)}}"
    return "\n".join([f"{quality} against bytes per item", *lines, axis, below])


def frontier_drawing(
    measured: Sequence[Measured], frontier: Sequence[Measured], quality: str
) -> Drawing:
    """Return the same as a drawing.

    Parameters
    ----------
    measured, frontier, quality
        As for `frontier_text`.

    Returns
    -------
    Drawing
        Its ``save`` writes SVG.
    """
    points = [*measured, *frontier]
    spots = [
        (
            _LEFT + x * (_WIDTH - _LEFT - 20),
            _TOP + (1 - y) * (_HEIGHT - _TOP - _BOTTOM),
        )
        for x, y in _places(points)
    ]
    n = len(measured)
    dots = [
        _dot(spot, each, "dot" if i < n else "dot class-0")
        for i, (spot, each) in enumerate(zip(spots, points, strict=True))
    ]
    line = " ".join(f"{x:.1f},{y:.1f}" for x, y in spots[n:])
    branch = element("polyline", points=line, class_="branch")
    return Drawing(
        _WIDTH,
        _HEIGHT,
        f"{quality} against bytes per item of {len(frontier)} configurations that "
        "nothing else beats",
        (*_axes(points, quality), branch, *dots),
    )


def _dot(spot: tuple[float, float], found: Measured, css: str) -> Html:
    words = (
        f"{found.configuration.described()}: {found.quality:.3f}, "
        f"{found.bytes_per_item:,} bytes"
    )
    x, y = (round(z, 1) for z in spot)
    return element("circle", element("title", words), cx=x, cy=y, r=4, class_=css)


def _axes(points: Sequence[Measured], quality: str) -> list[Html]:
    base, right = _HEIGHT - _BOTTOM, _WIDTH - 20
    low, high = _quality_span(points)
    fewest, most = (f(each.bytes_per_item for each in points) for f in (min, max))
    axis = element("path", d=f"M{_LEFT - 8} {_TOP}V{base + 8}H{right}", class_="axis")
    texts = [
        (quality, _LEFT - 8, _TOP - 14, "start"),
        (f"{high:.3f}", _LEFT - 14, _TOP + 5, "end"),
        (f"{low:.3f}", _LEFT - 14, base + 5, "end"),
        (f"{fewest:,}", _LEFT, base + 26, "middle"),
        (f"{most:,} bytes per item", right, base + 26, "end"),
    ]
    return [
        axis,
        *(element("text", t, x=x, y=y, text_anchor=a) for t, x, y, a in texts),
    ]


def _places(points: Sequence[Measured]) -> list[tuple[float, float]]:
    """Return where in a square of side 1 the points are."""
    xs = [math.log(each.bytes_per_item) for each in points]
    ys = [each.quality for each in points]
    left, right = _span(xs)
    low, high = _quality_span(points)
    return [
        ((x - left) / (right - left), (y - low) / (high - low))
        for x, y in zip(xs, ys, strict=True)
    ]


def _quality_span(points: Sequence[Measured]) -> tuple[float, float]:
    """Return the ends of the axis of qualities, which lie between 0 and 1."""
    low, high = _span([each.quality for each in points])
    return max(low, 0.0), min(high, 1.0)


def _span(values: Sequence[float]) -> tuple[float, float]:
    """Return the ends of an axis, never the same."""
    low, high = min(values), max(values)
    return (low, high) if high > low else (low - 0.5, high + 0.5)

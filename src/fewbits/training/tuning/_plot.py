"""Plots of the Pareto frontier, for a terminal and as SVG."""

import math
from collections.abc import Sequence

from fewbits.report import Drawing
from fewbits.report.html import Html, element
from fewbits.training.tuning._measured import Measured

_COLUMNS, _LINES = 60, 12
_WIDTH, _HEIGHT, _LEFT, _TOP, _BOTTOM = 640, 400, 64, 36, 48
_RIGHT = _WIDTH - 20
#: Costs on the horizontal axis: names of metrics, and their labels.
_COSTS = {
    "bytes": ("bytes_per_item", "bytes per item"),
    "memory": ("memory_bytes", "bytes per item in memory"),
    "encode time": ("encode_us", "microseconds to encode a vector"),
}
#: Powers of two between the ends of an axis, at most, and how far from these.
_TICKS, _CLEAR = 5, 0.12


def frontier_text(
    measured: Sequence[Measured],
    frontier: Sequence[Measured],
    quality: str,
    cost: str = "bytes",
) -> str:
    """Return a plot in characters: quality against a cost on a logarithmic axis.

    Parameters
    ----------
    measured, frontier : sequence of Measured
        Dots, and circles for the Pareto frontier.
    quality : str
        Label of the vertical axis.
    cost : {"bytes", "memory", "encode time"}, default="bytes"
        Cost on the horizontal axis.

    Returns
    -------
    str
        Lines of 68 characters at most.
    """
    points = [*measured, *_rising(frontier, cost)]
    grid = [[" "] * _COLUMNS for _ in range(_LINES)]
    for i, (x, y) in enumerate(_places(points, cost)):
        column, line = round(x * (_COLUMNS - 1)), round((1 - y) * (_LINES - 1))
        grid[line][column] = "·" if i < len(measured) else "●"
    low, high = _quality_span(points)
    names = [f"{high:.3f}", *[""] * (_LINES - 2), f"{low:.3f}"]
    lines = [
        f"{name:>6} │{''.join(row)}".rstrip()
        for name, row in zip(names, grid, strict=True)
    ]
    title = f"{quality} against {_COSTS[cost][1]} (logarithmic)"
    return "\n".join([title, *lines, *_ruler(_ticks(points, cost))])


def _ruler(ticks: Sequence[tuple[float, str]]) -> tuple[str, str]:
    """Return the horizontal axis in characters, and the numbers below it."""
    axis, below = ["─"] * _COLUMNS, [" "] * _COLUMNS
    for x, number in ticks:
        column = round(x * (_COLUMNS - 1))
        axis[column] = "┬"
        left = max(0, min(column - len(number) // 2, _COLUMNS - len(number)))
        below[left : left + len(number)] = number
    return f"{'':>6} └{''.join(axis)}", f"{'':>8}{''.join(below)}".rstrip()


def frontier_drawing(
    measured: Sequence[Measured],
    frontier: Sequence[Measured],
    quality: str,
    cost: str = "bytes",
) -> Drawing:
    """Return the same as a drawing.

    Parameters
    ----------
    measured, frontier, quality, cost
        As for `frontier_text`.

    Returns
    -------
    Drawing
        Its ``save`` writes SVG.
    """
    best = _rising(frontier, cost)
    points = [*measured, *best]
    spots = [
        (_across(x), _TOP + (1 - y) * (_HEIGHT - _TOP - _BOTTOM))
        for x, y in _places(points, cost)
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
        f"{quality} against {_COSTS[cost][1]} of {len(best)} configurations on "
        "the Pareto frontier",
        (*_axes(points, quality, cost), branch, *dots),
    )


def _dot(spot: tuple[float, float], found: Measured, css: str) -> Html:
    words = (
        f"{found.configuration.described()}: {found.quality:.3f}, "
        f"{found.bytes_per_item:,} bytes, {found.encode_us:.2f} microseconds to encode"
    )
    x, y = (round(z, 1) for z in spot)
    return element("circle", element("title", words), cx=x, cy=y, r=4, class_=css)


def _axes(points: Sequence[Measured], quality: str, cost: str) -> list[Html]:
    base = _HEIGHT - _BOTTOM
    low, high = _quality_span(points)
    ticks = [(round(_across(x), 1), number) for x, number in _ticks(points, cost)]
    marks = "".join(f"M{x} {base + 8}v4" for x, _ in ticks)
    path = f"M{_LEFT - 8} {_TOP}V{base + 8}H{_RIGHT}{marks}"
    axis = element("path", d=path, class_="axis")
    texts = [
        (quality, _LEFT - 8, _TOP - 14, "start"),
        (f"{high:.3f}", _LEFT - 14, _TOP + 5, "end"),
        (f"{low:.3f}", _LEFT - 14, base + 5, "end"),
        *((number, x, base + 26, "middle") for x, number in ticks),
        (f"{_COSTS[cost][1]} (logarithmic)", _RIGHT, base + 44, "end"),
    ]
    return [
        axis,
        *(element("text", t, x=x, y=y, text_anchor=a) for t, x, y, a in texts),
    ]


def _across(x: float) -> float:
    return _LEFT + x * (_RIGHT - _LEFT)


def _value(found: Measured, cost: str) -> float:
    return float(getattr(found, _COSTS[cost][0]))


def _rising(frontier: Sequence[Measured], cost: str) -> list[Measured]:
    """Return the Pareto frontier of this cost and quality, the cheapest first."""
    kept: list[Measured] = []
    for each in sorted(frontier, key=lambda e: (_value(e, cost), -e.quality)):
        if not kept or each.quality > kept[-1].quality:
            kept.append(each)
    return kept


def _places(points: Sequence[Measured], cost: str) -> list[tuple[float, float]]:
    """Return the positions of the points in a unit square."""
    xs = [math.log(_value(each, cost)) for each in points]
    ys = [each.quality for each in points]
    left, right = _span(xs)
    low, high = _quality_span(points)
    return [
        ((x - left) / (right - left), (y - low) / (high - low))
        for x, y in zip(xs, ys, strict=True)
    ]


def _ticks(points: Sequence[Measured], cost: str) -> list[tuple[float, str]]:
    """Return places on the horizontal axis: its ends, and powers of two between."""
    values = [_value(each, cost) for each in points]
    least, most = min(values), max(values)
    left, right = _span([math.log(least), math.log(most)])

    def place(value: float) -> float:
        return (math.log(value) - left) / (right - left)

    lowest, highest = math.ceil(math.log2(least)), math.floor(math.log2(most))
    step = 1 + max(0, highest - lowest) // _TICKS
    powers = [2.0**i for i in range(lowest, highest + 1, step)]
    inner = [each for each in powers if _CLEAR < place(each) < 1 - _CLEAR]
    return [(place(each), _number(each)) for each in sorted({least, *inner, most})]


def _number(value: float) -> str:
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"


def _quality_span(points: Sequence[Measured]) -> tuple[float, float]:
    """Return the ends of the axis of qualities, which lie between 0 and 1."""
    low, high = _span([each.quality for each in points])
    return max(low, 0.0), min(high, 1.0)


def _span(values: Sequence[float]) -> tuple[float, float]:
    """Return the ends of an axis, never the same."""
    low, high = min(values), max(values)
    return (low, high) if high > low else (low - 0.5, high + 0.5)

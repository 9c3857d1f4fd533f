"""Lines of a metric by the number of bits, as a drawing."""

import math
from collections.abc import Mapping, Sequence

from fewbits.report import Drawing
from fewbits.report.html import Html, element

_WIDTH, _HEIGHT, _LEFT, _TOP, _BOTTOM, _NAMES = 640, 400, 64, 36, 48, 150
_LEAST = 14.0  #: Pixels between two names.

Points = Sequence[tuple[float, float]]


def lines_drawing(lines: Mapping[str, Points], x: str, y: str) -> Drawing:
    points = [point for line in lines.values() for point in line]
    left, right = _span([math.log2(bits) for bits, _ in points])
    low, high = _span([value for _, value in points])
    base, end = _HEIGHT - _BOTTOM, _WIDTH - _NAMES

    def spot(point: tuple[float, float]) -> tuple[float, float]:
        across = (math.log2(point[0]) - left) / (right - left)
        up = (point[1] - low) / (high - low)
        return _LEFT + across * (end - _LEFT), base - up * (base - _TOP)

    parts: list[Html] = []
    for i, line in enumerate(lines.values()):
        parts += _line(
            [(spot(point), point) for point in sorted(line)], f"class-{i % 10}"
        )
    ends = {name: spot(max(line))[1] for name, line in lines.items()}
    # Names from the top down, none on top of another.
    least = -math.inf
    for name in sorted(ends, key=lambda each: ends[each]):
        least = max(ends[name], least + _LEAST)
        parts.append(_text(name, end + 10, least))
    path = f"M{_LEFT - 8} {_TOP}V{base + 8}H{end}"
    ticks = [
        (spot((bits, low))[0], f"{bits:g}") for bits in sorted({p[0] for p in points})
    ]
    axis = [element("path", d=path, class_="axis")]
    axis += [_text(number, place, base + 26, "middle") for place, number in ticks]
    axis += [
        _text(y, _LEFT - 8, _TOP - 14),
        _text(_number(high), _LEFT - 14, _TOP + 5, "end"),
        _text(_number(low), _LEFT - 14, base + 5, "end"),
        _text(x, end, base + 44, "end"),
    ]
    return Drawing(
        _WIDTH, _HEIGHT, f"{y} by {x} of {', '.join(lines)}", (*axis, *parts)
    )


def side_by_side(drawings: Sequence[Drawing]) -> Drawing:
    if len(drawings) == 1:
        return drawings[0]
    parts = [
        element(
            "g",
            *each.parts,
            transform=f"translate({i % 2 * _WIDTH} {i // 2 * _HEIGHT})",
        )
        for i, each in enumerate(drawings)
    ]
    rows = -(-len(drawings) // 2)
    description = "; ".join(each.description for each in drawings)
    return Drawing(2 * _WIDTH, rows * _HEIGHT, description, tuple(parts))


def _line(
    spots: list[tuple[tuple[float, float], tuple[float, float]]], css: str
) -> list[Html]:
    path = " ".join(f"{x:.1f},{y:.1f}" for (x, y), _ in spots)
    dots = [
        element(
            "circle",
            element("title", f"{bits:g} bits: {_number(value)}"),
            cx=round(x, 1),
            cy=round(y, 1),
            r=4,
            class_=f"dot {css}",
        )
        for (x, y), (bits, value) in spots
    ]
    stroke = f"stroke: var(--{css})"
    return [element("polyline", points=path, class_="branch", style=stroke), *dots]


def _text(words: str, x: float, y: float, anchor: str = "start") -> Html:
    return element("text", words, x=round(x, 1), y=round(y, 1), text_anchor=anchor)


def _number(value: float) -> str:
    if abs(value) >= 100:
        return f"{value:,.0f}"
    return f"{value:.3f}" if value < 1 else f"{value:.3g}"


def _span(values: Sequence[float]) -> tuple[float, float]:
    low, high = min(values), max(values)
    return (low, high) if high > low else (low - 0.5, high + 0.5)

"""Charts as inline SVG, in the colours of the page that they are on."""

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from fewbits.report.html import Html, element, join

FloatArray = NDArray[np.float64]

_WIDTH, _HEIGHT = 560, 180
_LEFT, _BOTTOM, _TOP = 4, 24, 8


def histogram(
    title: str,
    series: Mapping[str, FloatArray],
    ticks: Mapping[float, str],
    description: str,
) -> Html:
    """Draw shares per bin, the first series filled, further ones as lines.

    Parameters
    ----------
    title : str
    series : mapping of str to ndarray of shape (n_bins,)
    ticks : mapping of float to str
        Texts below the axis, by place in bins.
    description : str
        Alternative text for readers who cannot see the chart.
    """
    n_bins = len(next(iter(series.values())))
    highest = max(float(values.max()) for values in series.values()) or 1.0
    shapes = [
        _steps(values / highest, f"series-{i}", filled=i == 0)
        for i, values in enumerate(series.values())
    ]
    labels = [
        element("text", label, x=_x(place, n_bins), y=_HEIGHT - 6, text_anchor=anchor)
        for (place, label), anchor in zip(
            ticks.items(), _anchors(len(ticks)), strict=True
        )
    ]
    base = _HEIGHT - _BOTTOM
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
    return element(
        "figure", element("figcaption", title, _legend(list(series))), drawing
    )


def _steps(heights: FloatArray, css_class: str, filled: bool) -> Html:
    """Draw one step per bin."""
    n_bins = len(heights)
    base = _HEIGHT - _BOTTOM
    tops = base - heights * (base - _TOP)
    path = [f"M{_x(0, n_bins)} {base}"]
    for i, top in enumerate(tops):
        path.append(f"V{top:.1f}H{_x(i + 1, n_bins)}")
    path.append(f"V{base}")
    kind = "area" if filled else "line"
    # Plain colours for readers that do not apply the page's style to drawings.
    paint = {"fill": "currentColor" if filled else "none", "stroke": "currentColor"}
    return element("path", d="".join(path), class_=f"{kind} {css_class}", **paint)


def _legend(names: Sequence[str]) -> Html:
    if len(names) < 2:
        return Html("")
    return join(
        [
            element("span", name, class_=f"key series-{i}")
            for i, name in enumerate(names)
        ]
    )


def _x(place: float, n_bins: int) -> float:
    return round(_LEFT + place / n_bins * (_WIDTH - 2 * _LEFT), 1)


def _anchors(n: int) -> list[str]:
    """Keep the first and the last label inside."""
    return ["start", *["middle"] * (n - 2), "end"] if n > 1 else ["start"] * n

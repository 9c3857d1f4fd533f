"""Few plots, as small SVG files that are the same for the same records."""

import re
from collections.abc import Iterable, Mapping, Sequence
from io import StringIO
from math import isnan
from pathlib import Path
from typing import Any

from research.core.compare import over_seeds
from research.core.record import Record

#: Distinguishable by readers who are colour-blind (Okabe and Ito).
COLOURS = ("#000000", "#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9")
MARKERS = "os^Dv*P"

Curve = Sequence[tuple[float, float, float]]


def curves(
    records: Iterable[Record],
    metric: str,
    methods: Sequence[str],
    by: str = "method",
    x: str = "bits",
) -> dict[str, Curve]:
    """Return points (x, mean, standard error) of each method that has any."""
    found: dict[str, list[tuple[float, float, float]]] = {name: [] for name in methods}
    for at, mean in over_seeds(records, metric).items():
        settings = dict(at)
        if settings.get(by) in found:
            error = 0.0 if isnan(mean.error) else mean.error
            found[settings[by]].append((settings[x], mean.mean, error))
    return {name: sorted(points) for name, points in found.items() if points}


def panels(
    path: Path,
    drawn: Mapping[str, Mapping[str, Curve]],
    x: str,
    y: str,
    log: bool = True,
) -> None:
    """Draw panels side by side, one legend for all of them.

    Parameters
    ----------
    path : Path
        An SVG file.
    drawn : mapping
        Curves by name, by the title of their panel.
    x, y : str
        What the axes say.
    log : bool, default=True
        Whether x is logarithmic, to base 2.
    """
    import matplotlib as mpl
    from matplotlib.figure import Figure

    names = list(dict.fromkeys(name for each in drawn.values() for name in each))
    style: Any = {"svg.fonttype": "none", "svg.hashsalt": "fewbits", "font.size": 8}
    with mpl.rc_context(style):
        figure = Figure(figsize=(2.6 * len(drawn), 2.7), layout="constrained")
        axes: Any = figure.subplots(1, len(drawn), squeeze=False)[0]
        for axis, (title, found) in zip(axes, drawn.items(), strict=True):
            for name, points in found.items():
                _draw(axis, name, points, names.index(name))
            axis.set(title=title, xlabel=x, xscale="log" if log else "linear")
            if log:
                axis.set_xscale("log", base=2)
                axis.xaxis.set_major_formatter("{x:g}")
        axes[0].set_ylabel(y)
        handles = {h.get_label(): h for axis in axes for h in axis.containers}
        figure.legend(
            [handles[name] for name in names],
            names,
            loc="outside lower center",
            ncols=len(names),
            frameon=False,
        )
        drawn_as = StringIO()
        figure.savefig(drawn_as, format="svg", metadata={"Date": None, "Creator": None})
    path.write_text(_shorter(drawn_as.getvalue()), "utf-8")


def _shorter(svg: str) -> str:
    """Return the picture with coordinates of a tenth of a point, half as large."""
    rounded = re.sub(r"-?\d+\.\d{2,}", lambda n: f"{float(n[0]):.1f}", svg)
    return re.sub(r"[ \t]*\n[ \t]*", "\n", rounded)


def _draw(axis: Any, name: str, points: Curve, place: int) -> None:
    xs, ys, errors = zip(*points, strict=True)
    colour, marker = COLOURS[place % len(COLOURS)], MARKERS[place % len(MARKERS)]
    axis.errorbar(
        *(xs, ys, errors),
        label=name,
        color=colour,
        marker=marker,
        markersize=3,
        linewidth=1,
    )

"""Plots that look alike."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np

from experiments._looks import in_order, look_of
from experiments._plain_ticks import plain_ticks
from fewbits.analysis.bounds import BoundRegression

mpl.use("svg")
# The same data must give the same file.
mpl.rcParams.update({"svg.hashsalt": "fewbits", "font.size": 10, "lines.markersize": 4})

#: Of curves against time.
EACH_LENGTH = "(a point for each length of code, joined from short to long)"
Curve = Sequence[tuple[float, float, float]]  # x, mean, standard error


def line_plot(
    path: Path,
    curves: Mapping[str, Curve],
    *,
    x: str,
    y: str,
    title: str = "",
    x_ticks: Sequence[float] | None = None,
    x_scale: str = "log",
    levels: Mapping[str, float] | None = None,
    methods: bool = False,
) -> None:
    """Draw curves with bars of one standard error, and levels to compare them with.

    Curves of `methods` have their looks and their order, and stand over plain numbers.
    They are broken at ticks where they were not measured; without ticks, they join
    their points as they come.
    """
    from matplotlib import pyplot

    many, crowded = len(curves) > 10, len(curves) > 6
    size = (7.6, 5.2 if many else 3.8) if crowded else (6.4, 3.8)
    figure, axes = pyplot.subplots(figsize=size, layout="constrained")
    if many:
        axes.set_prop_cycle(color=mpl.colormaps["tab20"].colors)
    for name in in_order(curves) if methods else curves:
        curve = curves[name] if methods and x_ticks is None else sorted(curves[name])
        if methods:
            curve = broken(curve, x_ticks or ())
        xs, means, errors = (list(column) for column in zip(*curve, strict=True))
        look = {"marker": "o", **(look_of(name) if methods else {})}
        axes.errorbar(xs, means, yerr=errors, capsize=2, label=name, **look)
    styles = ("--", ":", "-.")
    for (name, level), style in zip((levels or {}).items(), styles, strict=False):
        axes.axhline(level, color="0.4", linewidth=0.9, linestyle=style, label=name)
    axes.set_xscale(x_scale)
    _ticks(axes, x_ticks)
    axes.set(xlabel=x, ylabel=y, title=title)
    axes.grid(alpha=0.3)
    height = "center" if methods else "upper"  # below long titles
    owner, place = (figure, f"outside right {height}") if crowded else (axes, "best")
    longer = {"handlelength": 3.2} if methods else {}  # so that dashes are seen
    owner.legend(frameon=False, fontsize=8, loc=place, **longer)
    if methods:
        plain_ticks(axes, x_ticks)
    save(figure, path)


def save(figure: Any, path: Path) -> None:
    """Write a figure, and make room for the next."""
    from matplotlib import pyplot

    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, metadata={"Date": None})
    pyplot.close(figure)


def broken(curve: Curve, ticks: Sequence[float]) -> Curve:
    """Return a curve with a gap at each tick between its ends that it does not have."""
    known = {x for x, *_ in curve}
    gaps = [x for x in ticks if min(known) < x < max(known) and x not in known]
    return sorted([*curve, *((x, np.nan, np.nan) for x in gaps)]) if gaps else curve


def _ticks(axes: Any, ticks: Sequence[float] | None) -> None:
    if ticks is not None:
        axes.set_xticks(ticks, [f"{tick:g}" for tick in ticks])
        axes.minorticks_off()


def scatter_plot(
    path: Path,
    groups: Mapping[str, Sequence[tuple[float, float]]],
    *,
    x: str = "",
    y: str = "",
    title: str = "",
    diagonal: bool = False,
    line: BoundRegression | None = None,
) -> None:
    """Draw points in groups, as many colours as there are groups.

    A regression is drawn as a line with its confidence band.
    """
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(figsize=(6.4, 4.4), layout="constrained")
    colours = mpl.colormaps["tab10" if len(groups) <= 10 else "tab20"].colors
    for i, (name, points) in enumerate(groups.items()):
        xs, ys = zip(*points, strict=True)
        axes.scatter(xs, ys, s=9, color=colours[i % len(colours)], label=name)
    if diagonal:
        axes.axline((0, 0), slope=1, color="0.5", linewidth=0.8)
    if line is not None:
        at = np.linspace(*axes.get_xlim(), 100)
        axes.plot(at, line.line(at), color="0.4", linewidth=0.8)
        axes.fill_between(at, *line.band(at), color="0.5", alpha=0.15, linewidth=0)
    axes.set(xlabel=x, ylabel=y, title=title)
    axes.grid(alpha=0.3)
    axes.legend(frameon=False, fontsize=8)
    save(figure, path)

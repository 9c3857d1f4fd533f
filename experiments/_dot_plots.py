"""Plots of single dots that have their names beside them."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from experiments._labels import POINTS_PER_INCH, write_names
from experiments._looks import in_order, look_of
from experiments._plain_ticks import plain_ticks
from experiments._plots import save
from experiments._summary import decimal

Dot = tuple[float, float, float]  # x, mean, standard error

#: No more of the dots than this share may be left below the axis.
MOST_BELOW = 0.25


def dot_plot(
    path: Path, dots: Mapping[str, Dot], *, x: str, y: str, title: str
) -> None:
    """Draw dots with bars of one standard error and names beside them.

    A few that are far below all others do not set the axis of y; they stand at its
    foot, with what they have.
    """
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(
        figsize=(7.6, 5.2), dpi=POINTS_PER_INCH, layout="constrained"
    )
    below = far_below(dots)
    for name in in_order(set(dots) - set(below)):
        _draw(axes, name, dots[name])
    axes.set_xscale("log")
    axes.set(xlabel=x, ylabel=y, title=title)
    axes.margins(0.07)
    foot, top = axes.get_ylim()
    axes.set_ylim(foot, top)
    at_foot = {name: (dots[name][0], foot, 0.0) for name in below}
    for name, dot in at_foot.items():
        _draw(axes, name, dot, clip_on=False)
    axes.grid(alpha=0.3)
    plain_ticks(axes)
    texts = {name: f"{name}: {decimal(dots[name][1], 3)}, below" for name in below}
    write_names(axes, {**dots, **at_foot}, texts)
    save(figure, path)


def _draw(axes: Any, name: str, dot: Dot, **options: object) -> None:
    at, mean, error = dot
    look = {"marker": "o", **look_of(name), "linestyle": "none", **options}
    axes.errorbar(at, mean, yerr=error, capsize=2, **look)


def far_below(dots: Mapping[str, Dot]) -> list[str]:
    """Return the few dots that would take more than half of the axis, lowest first."""
    names = sorted(dots, key=lambda name: (dots[name][1], name))
    means = [dots[name][1] for name in names]
    most = int(len(dots) * MOST_BELOW)
    gaps = {n: means[n] - means[n - 1] for n in range(1, most + 1)}
    n = max(gaps, key=lambda n: gaps[n], default=0)
    apart = means[n] - means[0] > (means[-1] - means[0]) / 2
    return names[:n] if apart else []

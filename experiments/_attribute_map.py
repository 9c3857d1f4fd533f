"""Maps of codes side by side, the largest groups in colours."""

from pathlib import Path
from typing import Any

import numpy as np

import experiments._plots  # noqa: F401  sets what makes drawings reproducible
from experiments._cells import Cell

TITLES = {"smacof": "MDS of Hamming distances", "tsne": "t-SNE"}
LONGEST = 44
#: Filled dots for items of known classes, crosses for those of novel ones.
MARKS: dict[int, dict[str, Any]] = {
    0: {"marker": "o", "s": 9, "linewidths": 0},
    1: {"marker": "x", "s": 13, "linewidths": 1},
}


def draw_maps(path: Path, found: Cell) -> None:
    """Draw the maps of a cell."""
    from matplotlib import pyplot

    figure, panels = pyplot.subplots(1, 2, figsize=(9, 5.4), layout="constrained")
    for axes, (method, each) in zip(panels, found["maps"].items(), strict=True):
        _draw_points(axes, np.array(each["points"]), found)
        axes.set_aspect("equal", adjustable="datalim")  # panels of the same size
        axes.set(title=TITLES[method], xticks=[], yticks=[])
    keys = [_key(pyplot, i) for i in range(len(found["groups"]))]
    names = [shortened(name) for name in found["groups"]]
    figure.legend(
        [*keys, _key(pyplot, -1)],
        [*names, "others"],
        loc="outside lower center",
        ncols=3,
        frameon=False,
        fontsize=8,
    )
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, metadata={"Date": None})
    pyplot.close(figure)


def _draw_points(axes: Any, points: Any, found: Cell) -> None:
    groups, novel = np.array(found["group"]), np.array(found["novel"])
    for group in range(-1, len(found["groups"])):  # others below all
        for kind, mark in MARKS.items():
            x, y = points[(groups == group) & (novel == kind)].T
            axes.scatter(x, y, color=_colour(group), **mark)


def _key(pyplot: Any, group: int) -> Any:
    return pyplot.Line2D([], [], color=_colour(group), marker="o", linestyle="")


def _colour(group: int) -> str:
    return "#d0d0d0" if group < 0 else f"C{group}"


def shortened(name: str) -> str:
    """Return a name as words, without its range of codes, cut at a word."""
    text = name.split(" (")[0].replace("_", " ")
    if len(text) <= LONGEST:
        return text
    return text[: LONGEST + 1].rsplit(" ", 1)[0].rstrip(",") + " …"

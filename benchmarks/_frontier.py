"""Draws what `benchmarks.compare_faiss` measured."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

Row = Mapping[str, Any]

_COLOURS = {
    "sign": "#009E73",
    "ITQ": "#0072B2",
    "additive": "#E69F00",
    "additive + 2 bytes": "#56B4E9",
    "neighbours": "#CC79A7",
}


def draw(rows: Sequence[Row], path: Path) -> None:
    """Draw recall against bytes and against queries per second."""
    import matplotlib as mpl
    from matplotlib.figure import Figure

    style: Any = {"svg.fonttype": "none", "svg.hashsalt": "fewbits", "font.size": 8}
    with mpl.rc_context(style):
        picture = Figure(figsize=(7.6, 4.4), layout="constrained")
        left, right = picture.subplots(1, 2, sharey=True)
        for number, row in enumerate(rows, 1):
            point(left, number, row["bytes"], row)
            point(right, number, row["queries_per_second"], row)
        left.set(xlabel="bytes per vector", ylabel="recall@10", xscale="log")
        right.set(xlabel="queries per second, one thread", xscale="log")
        picture.legend(
            left.lines,
            [row["way"] for row in rows],
            loc="outside lower center",
            ncols=3,
            frameon=False,
        )
        picture.savefig(path, metadata={"Date": None})


def point(axis: Any, number: int, x: float, row: Row) -> None:
    """Draw ours by colour (learner) and shape (re-ranking), faiss's by number."""
    marker, colour = f"${number}$", "#D55E00"
    if row["way"].startswith("fewbits"):
        learner, _, again = row["way"].removeprefix("fewbits ").partition(", ")
        colour = _COLOURS[learner]
        marker = {"": "o", "re-ranked by scores": "^", "re-ranked by int8": "s"}[again]
    style = {"marker": marker, "markersize": 7, "color": colour, "alpha": 0.8}
    axis.plot([x], [row["recall"]], linestyle="", **style)

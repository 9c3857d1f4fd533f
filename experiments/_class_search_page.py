"""The page on finding the members of novel classes."""

from typing import Any

from experiments._cells import Cell
from experiments._classic_features import N_EACH
from experiments._novel_protocol import MOST_KNOWN, N_NOVEL
from experiments._pages import IMAGES, TITLES, write_page
from experiments._plots import line_plot
from experiments._summary import (
    by_method,
    curves_of,
    grid,
    markdown,
    shortest,
)
from experiments.class_search import (
    EXAMPLES,
    LENGTHS,
    METHODS,
    N_LEARN,
    N_TARGETS,
    RANKS,
)

INTRODUCTION = f"""# Finding the members of a class nobody knows

Made by `python -m experiments.pages` from `class_search.jsonl`, which
`python -m experiments.class_search` writes. Figures 5 and 6 of the PiCoDes paper on
other data: {N_NOVEL} classes are held out, and codes are learnt from up to {N_LEARN}
items of each other class, of {MOST_KNOWN} classes at most. A held-out class is given by
a few items, a linear SVM tells their codes from those of random training items, and a
collection with {N_TARGETS} members of each held-out class and everything else that was
not learnt from is ranked by it. Precision is the share of members among the first
answers; means over classes, then over seeds ± one standard error; a seed draws the
classes, the items and the starting points. `class` is the code of the known class that
a linear SVM on the features predicts, one bit for each class; `classemes` are the signs
of its scores for all known classes, a bit for each. Classic descriptors are of up to
{N_EACH} images a class, deep features of all, so their collections differ."""


def write() -> None:
    """Write the page, if anything was measured."""
    write_page("class_search", [INTRODUCTION], sections)


def sections(cells: list[Cell], name: str) -> list[str]:
    """Return the costs, and a part for each length that was measured."""
    measured = {cell["cell"]["bits"] for cell in cells}
    parts = [section(cells, name, bits) for bits in LENGTHS if bits in measured]
    return [costs(cells, name), *parts]


def section(cells: list[Cell], name: str, bits: int) -> str:
    """Return plots and tables of one length, beside the controls."""
    chosen = [cell for cell in cells if cell["cell"]["bits"] in (0, bits)]
    chosen.sort(
        key=lambda cell: place((cell["cell"]["bits"], "", cell["cell"]["method"]))
    )
    by_number = spread(chosen, "examples", RANKS.index(N_TARGETS))
    by_rank = spread(chosen, "rank", str(max(EXAMPLES)))
    image = IMAGES / f"class_search_{name}_{bits}"
    pictures = [
        (by_number, "examples of the class", f"precision at {N_TARGETS}", EXAMPLES),
        (by_rank, "rank", f"precision, {max(EXAMPLES)} examples", RANKS),
    ]
    parts = [f"### {bits} bits"]
    for (rows, x, y, ticks), suffix in zip(pictures, ("", "_rank"), strict=True):
        table = by_method(rows, lambda found: found["value"], "at")
        path = image.with_name(f"{image.name}{suffix}.svg")
        line_plot(path, curves_of(table), x=x, y=y, title=TITLES[name], x_ticks=ticks)
        parts += [f"![{y} against {x}](../images/{path.name})", f"**{y.capitalize()}**"]
        parts.append(grid(table, f"{x.split()[0]} {{}}"))
    return "\n\n".join(parts)


def spread(cells: list[Cell], over: str, fixed: int | str) -> list[Cell]:
    """Return a cell for each number of examples at one rank, or the other way round."""
    rows = []
    for cell in cells:
        precision = cell["figures"]["precision"]
        if over == "examples":
            values = {int(n): ranks[int(fixed)] for n, ranks in precision.items()}
        else:
            values = dict(zip(RANKS, precision[str(fixed)], strict=True))
        rows += [
            {"cell": {**cell["cell"], "at": at}, "figures": {"value": value}}
            for at, value in values.items()
        ]
    return rows


def costs(cells: list[Cell], name: str) -> str:
    """Return sizes and times."""
    tables = {
        figure: shortest(cells, figure)
        for figure in ("items", "bytes", "search_seconds", "fit_seconds")
    }
    rows = [
        [
            method,
            bits or width_of(method, tables["bytes"][key] / tables["items"][key]),
            f"{tables['bytes'][key] / 1e6:.2f} MB",
            f"{tables['search_seconds'][key] * 1e3:.1f} ms",
            f"{tables['fit_seconds'][key]:.1f} s",
        ]
        for key in sorted(tables["items"], key=place)
        for bits, _, method in [key]
    ]
    header = ["", "bits", "collection", "a search, learning included", "learning codes"]
    items = int(max(tables["items"].values()))
    text = (
        f"The collection has {items:,} items. Times are the shortest of the seeds', on "
        "a busy machine. Most of a search among so few items is learning the SVM by "
        "LIBLINEAR; what ranking a million codes takes is among the "
        "[benchmarks](benchmarks.md)."
    )
    return text + "\n\n" + markdown(header, rows)


def width_of(method: str, n_bytes: float) -> str:
    """Return the bits of codes that have a bit for each known class."""
    return "" if method == "float" else f"up to {8 * n_bytes:.0f}"


def place(key: tuple[Any, ...]) -> tuple[Any, ...]:
    """Return where a method stands: by length, what has none first."""
    bits, _, method = key
    order = ("float", "class", "classemes", *METHODS)
    return bits, order.index(method) if method in order else len(order), method

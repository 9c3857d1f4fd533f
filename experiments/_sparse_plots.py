"""The plots of the page on sparse projections."""

from functools import partial
from typing import Any

from experiments._cells import Cell
from experiments._dot_plots import dot_plot
from experiments._pages import IMAGES, TITLES
from experiments._plots import EACH_LENGTH, line_plot
from experiments._projections import DENSITIES, ITERATIVE, METHODS, named
from experiments._ranking import RANKS
from experiments._summary import over_seeds, shortest

Table = dict[tuple[str, int, str], tuple[float, float, int]]

PAPER = ("LSH", "ITQ", *map(named, (0.05, 0.1, 0.15)), "BP-opt", "CBE-opt")
#: Without which a plot says little.
REFERENCES = ("LSH", "ITQ")
#: One step or thirty.
STEPS = ("SP 10%", *ITERATIVE)
#: Of the densities, those that stand for the rest beside all other methods.
EVERY = tuple(
    name
    for name in METHODS
    if not name.startswith("SP ") or name in {"SP 1%", "SP 10%"}
)
RECALL = "Share of the 10 nearest among the first"
#: Figures that are drawn of all methods, what they are called, and what ends files.
OF_EVERY = (
    ("ann_map", "ANN mAP of all methods", "_all"),
    ("label_map", "mAP over labels", ""),
    *((f"recall{at}", f"{RECALL} {at}", "") for at in RANKS),
)
MICROSECONDS = "microseconds to encode a vector by itself, one thread"


def figure_of(cells: list[Cell], figure: str) -> Table:
    """Return mean, standard error and count by (data, bits, method)."""
    found: dict[Any, Any] = over_seeds(cells, figure)
    return {(data, bits, method): v for (bits, data, method), v in found.items()}


def plots(cells: list[Cell], times: list[Cell], name: str, d: int) -> list[str]:
    """Draw a set of features; return the plots in Markdown."""
    made = [
        against_bits(cells, name, "ann_map", PAPER, "ANN mAP"),
        against_time(cells, times, name, "ann_map", PAPER, "ANN mAP"),
        *(at_length(cells, times, name, bits) for bits in shown_at(cells, name, d)),
        against_density(cells, name),
        one_or_thirty(cells, name),
        *(
            draw(name, figure, EVERY, label, suffix)
            for figure, label, suffix in OF_EVERY
            if has_references(cells, name, figure)
            for draw in (
                partial(against_bits, cells),
                partial(against_time, cells, times),
            )
        ),
    ]
    return [link for link in made if link]


def has_references(cells: list[Cell], name: str, figure: str) -> bool:
    """Whether what others are compared with has a figure at half of its lengths."""
    ranked, table = figure_of(cells, "ann_map"), figure_of(cells, figure)
    lengths = [key for key in ranked if key[0] == name and key[2] in REFERENCES]
    return 2 * sum(key in table for key in lengths) >= len(lengths)


def shown_at(cells: list[Cell], name: str, d: int) -> list[int]:
    """Return d, 2d and 4d bits, and the longest that all weights have, if less."""
    table = figure_of(cells, "ann_map")
    sparse = {bits for data, bits, m in table if (data, m) == (name, "SP 100%")}
    longest = {max(sparse)} if sparse and max(sparse) < d else set()
    return sorted({d, 2 * d, 4 * d} | longest)


def one_or_thirty(cells: list[Cell], name: str) -> str:
    """Draw the two sparse steps, where both are measured (figure 3)."""
    if not any(
        data == name and m in ITERATIVE for data, _, m in figure_of(cells, "ann_map")
    ):
        return ""
    label = "ANN mAP of one step and of thirty"
    return against_bits(cells, name, "ann_map", STEPS, label, "_steps")


def against_bits(
    cells: list[Cell],
    name: str,
    figure: str,
    methods: tuple[str, ...],
    label: str,
    suffix: str = "",
) -> str:
    """Draw a figure against the length of the code (figures 2a, 3, 5a and 6a)."""
    table = {key: v for key, v in figure_of(cells, figure).items() if key[0] == name}
    curves = {
        method: [(bits, *v[:2]) for (_, bits, m), v in table.items() if m == method]
        for method in methods
    }
    ticks = sorted({bits for _, bits, method in table if method in methods})
    stem = f"sparse_{name}{'' if figure == 'ann_map' else '_' + figure}{suffix}"
    return drawn(stem, name, curves, f"{label} against bits", "bits", label, ticks)


def against_time(
    cells: list[Cell],
    times: list[Cell],
    name: str,
    figure: str,
    methods: tuple[str, ...],
    label: str,
    suffix: str = "",
) -> str:
    """Draw a figure against the time to encode, a point for each length."""
    curves = {
        method: [
            (us, *value[:2]) for us, value in timed(cells, times, name, figure, method)
        ]
        for method in methods
    }
    stem = f"sparse_{name}{'' if figure == 'ann_map' else '_' + figure}{suffix}_time"
    text, x = f"{label} against the time to encode", f"{MICROSECONDS}\n{EACH_LENGTH}"
    return drawn(stem, name, curves, text, x, label)


def at_length(cells: list[Cell], times: list[Cell], name: str, n_bits: int) -> str:
    """Draw ANN mAP against the time to encode at a length (figures 2b and 2c)."""
    known = without_gaps(
        {
            method: [
                (us, *value[:2])
                for us, value in timed(cells, times, name, "ann_map", method, n_bits)
            ]
            for method in ("threshold", *dict.fromkeys((*PAPER, *EVERY)))
        }
    )
    if not known:
        return ""
    path = IMAGES / f"sparse_{name}_at_{n_bits}.svg"
    dots = {method: dot for method, (dot,) in known.items()}
    title = f"{TITLES[name]}, {n_bits} bits"
    dot_plot(path, dots, x=MICROSECONDS, y="ANN mAP", title=title)
    text = f"ANN mAP against the time to encode at {n_bits} bits"
    return f"![{text}](../images/{path.name})"


def against_density(cells: list[Cell], name: str) -> str:
    """Draw ANN mAP against the share of weights that are kept (figure 4)."""
    table = figure_of(cells, "ann_map")
    curves = {
        f"{bits} bits": [
            (100 * density, *table[name, bits, named(density)][:2])
            for density in DENSITIES
            if (name, bits, named(density)) in table
        ]
        for bits in sorted({bits for data, bits, _ in table if data == name})
    }
    label, ticks = "% of weights kept", [100 * density for density in DENSITIES]
    text = "ANN mAP against sparsity"
    return drawn(f"sparse_{name}_density", name, curves, text, label, "ANN mAP", ticks)


def timed(
    cells: list[Cell],
    times: list[Cell],
    name: str,
    figure: str,
    method: str,
    n_bits: int | None = None,
) -> list[tuple[float, tuple[float, float, int]]]:
    """Return the times of single vectors, and the figure that goes with each."""
    table = figure_of(cells, figure)
    return [
        (us, table[name, bits, method])
        for (bits, data, m), us in sorted(shortest(times, "single_us").items())
        if (data, m) == (name, method)
        and (name, bits, method) in table
        and n_bits in (None, bits)
    ]


def drawn(
    stem: str,
    name: str,
    curves: dict[str, Any],
    text: str,
    x: str,
    y: str,
    ticks: list[Any] | None = None,
) -> str:
    """Draw what was measured and return a link to it; nothing if nothing was."""
    known = without_gaps(curves)
    if not known:
        return ""
    path = IMAGES / f"{stem}.svg"
    line_plot(path, known, x=x, y=y, title=TITLES[name], x_ticks=ticks, methods=True)
    return f"![{text}](../images/{path.name})"


def without_gaps(curves: dict[str, Any]) -> dict[str, Any]:
    """Leave out what was not measured, and the error bars of single seeds."""
    return {
        name: [(x, mean, 0.0 if error != error else error) for x, mean, error in curve]
        for name, curve in curves.items()
        if curve
    }

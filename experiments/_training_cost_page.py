"""The page on what learning PiCoDes and DBC costs."""

import statistics

import numpy as np

from experiments._cells import RESULTS, Cell, Cells
from experiments._summary import decimal, markdown
from experiments.training_cost import BASE, FACTORS, LARGE, N_ITER

INTRODUCTION = f"""# What learning PiCoDes and DBC costs

Made by `python -m experiments.pages` from `training_cost.jsonl`, which
`python -m experiments.training_cost` writes. Milliseconds of processor time per bit and
iteration, over {N_ITER} iterations after the first ones, median over seeds, on one
thread; {BASE["items"]:,} items of {BASE["features"]} features in {BASE["classes"]}
classes, {BASE["bits"]} bits, and one of these numbers at a time made smaller or larger.
The exponent is that of the power of the number by which the time grows."""

PAPER = {"items": 79_770, "features": 6415, "bits": 2048, "classes": 2659}


def write() -> None:
    """Write the page, if anything was measured."""
    cells = [c for c in Cells("training_cost") if c["cell"]["items"] != LARGE["items"]]
    if not cells:
        return
    parts = [INTRODUCTION]
    for method in ("PiCoDes", "DBC"):
        chosen = [cell for cell in cells if cell["cell"]["method"] == method]
        parts += [f"## {method}", table(chosen)]
    large = [c for c in Cells("training_cost") if c["cell"]["items"] == LARGE["items"]]
    if large:
        small = [cell for cell in cells if cell["cell"]["method"] == "PiCoDes"]
        parts += ["## The problem of the PiCoDes paper", extrapolation(large[0], small)]
    (RESULTS / "training_cost.md").write_text("\n\n".join(parts) + "\n", "utf-8")


def table(cells: list[Cell]) -> str:
    """Return times against each number, and how they grow."""
    rows = []
    for name in BASE:
        times = against(cells, name)
        shown = [decimal(1e3 * times[f], 1) if times[f] else "" for f in FACTORS]
        rows.append([name, *shown, decimal(exponent(times), 2)])
    return markdown(["", *(f"x {factor:g}" for factor in FACTORS), "exponent"], rows)


def against(cells: list[Cell], name: str) -> dict[float, float]:
    """Return seconds where one number is multiplied by each factor; 0 for unknown."""
    return {
        factor: seconds(cells, {**BASE, name: int(factor * BASE[name])})
        for factor in FACTORS
    }


def exponent(times: dict[float, float]) -> float:
    """Return the power of the factor by which times grow."""
    known = {factor: found for factor, found in times.items() if found}
    if len(known) < 2:
        return float("nan")
    logs = np.log([list(known), list(known.values())])
    return float(np.polyfit(logs[0], logs[1], 1)[0])


def seconds(cells: list[Cell], size: dict[str, int]) -> float:
    """Return the median of the seconds per bit and iteration at a size, or 0."""
    found = [
        cell["figures"]["seconds_per_bit"]
        for cell in cells
        if all(cell["cell"][name] == value for name, value in size.items())
    ]
    return statistics.median(found) if found else 0.0


def extrapolation(cell: Cell, small: list[Cell]) -> str:
    """Say what a part of the paper's problem took, and what the whole would.

    `small` are the measurements that tell how times grow.
    """
    size, found = cell["cell"], cell["figures"]
    bits, later = size["bits"], found["seconds_per_bit"]
    whole = found["seconds_to_start"] + later * bits * N_ITER
    each = whole / (bits * (1 + N_ITER))
    powers = {name: exponent(against(small, name)) for name in ("items", "classes")}
    growth = np.prod([(PAPER[name] / size[name]) ** p for name, p in powers.items()])
    days = each * float(growth) * PAPER["bits"] * 10 / 86_400
    peak, rows = found["peak_bytes"] / 2**30, PAPER["items"] / size["items"]
    return (
        f"{size['items']:,} items of {size['features']:,} features in "
        f"{size['classes']} classes, {bits} bits, one thread: the start and the first "
        f"iteration take {found['seconds_to_start']:.0f} s, and a later iteration "
        f"{later:.1f} s a bit; in the mean over the start and {1 + N_ITER} iterations "
        f"that is {each:.1f} s per bit and iteration. The peak is {peak:.1f} GiB, of "
        f"which the features themselves are {found['input_bytes'] / 2**30:.2f} GiB.\n\n"
        f"With {PAPER['items']:,} items in {PAPER['classes']:,} classes, "
        f"{PAPER['bits']:,} bits and 10 iterations, and times that grow as above with "
        f"items (exponent {powers['items']:.2f}) and classes "
        f"({powers['classes']:.2f}), learning takes {days:.0f} days on one thread, and "
        f"{peak * rows:.0f} GiB if all of the peak grows with the items. This is on "
        "paper: nobody waited for it."
    )

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
        parts += ["## The problem of the PiCoDes paper", extrapolation(large[0])]
    (RESULTS / "training_cost.md").write_text("\n\n".join(parts) + "\n", "utf-8")


def table(cells: list[Cell]) -> str:
    """Return times against each number, and how they grow."""
    rows = []
    for name in BASE:
        times = {
            factor: seconds(cells, {**BASE, name: int(factor * BASE[name])})
            for factor in FACTORS
        }
        known = {factor: found for factor, found in times.items() if found}
        logs = np.log([list(known), list(known.values())])
        slope = np.polyfit(logs[0], logs[1], 1)[0] if len(known) > 1 else float("nan")
        shown = [decimal(1e3 * times[f], 1) if times[f] else "" for f in FACTORS]
        rows.append([name, *shown, decimal(float(slope), 2)])
    return markdown(["", *(f"x {factor:g}" for factor in FACTORS), "exponent"], rows)


def seconds(cells: list[Cell], size: dict[str, int]) -> float:
    """Return the median of the seconds per bit and iteration at a size, or 0."""
    found = [
        cell["figures"]["seconds_per_bit"]
        for cell in cells
        if all(cell["cell"][name] == value for name, value in size.items())
    ]
    return statistics.median(found) if found else 0.0


def extrapolation(cell: Cell) -> str:
    """Say what a part of the paper's problem took, and what the whole would."""
    size, found = cell["cell"], cell["figures"]
    each = found["seconds_per_bit"]
    rows = PAPER["items"] / size["items"]
    days = each * rows * PAPER["bits"] * 10 / 86_400
    return (
        f"{size['items']:,} items of {size['features']:,} features in "
        f"{size['classes']} classes, {size['bits']} bits: {each:.1f} s per bit and "
        f"iteration, {found['peak_bytes'] / 2**30:.1f} GiB at the peak, of which the "
        f"features themselves are {found['input_bytes'] / 2**30:.2f} GiB. With all "
        f"{PAPER['items']:,} items, {PAPER['bits']:,} bits and 10 iterations, linear "
        f"in the items, that is {days:.0f} days."
    )

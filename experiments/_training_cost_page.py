"""The page on what learning PiCoDes and DBC costs."""

import math
import statistics
from typing import NamedTuple

import numpy as np

from experiments._cells import RESULTS, Cell, Cells
from experiments._picodes_parts import N_PROJECTORS, counted_bytes
from experiments._summary import decimal, markdown
from experiments.training_cost import BASE, FACTORS, LARGE, N_ITER, PARTS

#: How far times may be from a power of a number.
GOOD_FIT = 0.25

INTRODUCTION = f"""# What learning PiCoDes and DBC costs

Made by `python -m experiments.pages` from `training_cost.jsonl`, which
`python -m experiments.training_cost` writes. Milliseconds of processor time per bit
and iteration, over {N_ITER} iterations (of PiCoDes the second and third, of DBC the
first ones), median over seeds, on one thread; {BASE["items"]:,} items of
{BASE["features"]} features in {BASE["classes"]} classes, {BASE["bits"]} bits, and
one of these numbers at a time made smaller or larger. The exponent is that of the
power of the number by which the time grows: one where a power describes it (the
times lie within {GOOD_FIT:.0%} of it), else the least and the greatest between
neighbouring sizes. PiCoDes follow none in places: a projector takes as many passes
of LIBLINEAR over the items as its labels ask for, up to 200."""

PAPER = {"items": 79_770, "features": 6415, "bits": 2048, "classes": 2659}
PAPER_ITER = 10  # ours: the paper gives none
TIMED = {
    "seconds_to_start": "principal components, once",
    "seconds_per_classifier": "a classifier",
    "seconds_of_costs": "costs of a bit",
    "seconds_per_projector": "a projector",
}
WHOLE = f"""## The problem of the PiCoDes paper

Its {PAPER["features"]:,} features, and parts of its items (more than features, or the
principal components would be fewer), in {LARGE[0]["classes"]}
classes and with {LARGE[0]["bits"]} bits from random directions. Processor time on one
thread; of a projector the median over {N_PROJECTORS} bits, with the search along the
line, of a classifier the mean over the classes."""


def write() -> None:
    """Write the page, if anything was measured."""
    every = list(Cells("training_cost"))
    cells = [cell for cell in every if cell["cell"]["method"] != PARTS]
    if not cells:
        return
    texts = [INTRODUCTION]
    for method in ("PiCoDes", "DBC"):
        chosen = [cell for cell in cells if cell["cell"]["method"] == method]
        texts += [f"## {method}", table(chosen)]
    sizes = [size["items"] for size in LARGE]
    parts = [cell for cell in every if cell["cell"]["method"] == PARTS]
    large = [cell for cell in parts if cell["cell"]["items"] in sizes]
    if len(large) > 1:  # or nothing is known of how times grow
        texts += [WHOLE, whole_problem(large)]
    (RESULTS / "training_cost.md").write_text("\n\n".join(texts) + "\n", "utf-8")


def table(cells: list[Cell]) -> str:
    """Return times against each number, and how they grow."""
    rows = []
    for name in BASE:
        times = against(cells, name)
        shown = [decimal(1e3 * times[f], 1) if times[f] else "" for f in FACTORS]
        sizes = " / ".join(f"{int(factor * BASE[name]):,}" for factor in FACTORS)
        rows.append([f"{name}: {sizes}", *shown, described(times)])
    header = (f"{factor:g} times" if factor != 1 else "as above" for factor in FACTORS)
    return markdown(["", *header, "exponent"], rows)


def against(cells: list[Cell], name: str) -> dict[float, float]:
    """Return seconds where one number is multiplied by each factor; 0 for unknown."""
    return {
        factor: seconds(cells, {**BASE, name: int(factor * BASE[name])})
        for factor in FACTORS
    }


def described(times: dict[float, float]) -> str:
    """Return the exponent, or a dash where times do not follow a power."""
    known = {factor: found for factor, found in times.items() if found}
    if len(known) < 2:
        return ""
    logs = np.log([list(known), list(known.values())])
    slope, offset = np.polyfit(logs[0], logs[1], 1)
    off = np.abs(logs[1] - slope * logs[0] - offset).max()
    if off <= np.log1p(GOOD_FIT):
        return decimal(float(slope), 2)
    least, most = (decimal(end, 2) for end in local_exponents(known))
    return f"{least} to {most}"


def local_exponents(times: dict[float, float]) -> tuple[float, float]:
    """Return the least and the greatest power between neighbouring sizes."""
    logs = np.log([list(times), list(times.values())])
    slopes = np.diff(logs[1]) / np.diff(logs[0])
    return float(slopes.min()), float(slopes.max())


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


def whole_problem(cells: list[Cell]) -> str:
    """Return what the parts took, and what they would on the problem of the paper."""
    columns = sorted(cells, key=lambda cell: int(cell["cell"]["items"]))
    rows = []
    for key, name in TIMED.items():
        seconds = [cell["figures"][key] for cell in columns]
        powers = (decimal(power, 2) for power in growths(columns, key))
        rows.append([name, *(f"{s:.3g} s" for s in seconds), *powers])
    memory = {"memory at the peak": peak_of, "arrays of a projector": counted}
    for name, count in memory.items():
        memories = [f"{count(cell) / 2**30:.2f} GiB" for cell in columns]
        rows.append([name, *memories, "", "", ""])
    header = [f"{cell['cell']['items']:,} items" for cell in columns]
    powers = ("least exponent", "of all", "greatest")
    return markdown(["", *header, *powers], rows) + "\n\n" + extrapolation(columns)


def peak_of(cell: Cell) -> float:
    """Return the memory at the peak, in bytes."""
    return float(cell["figures"]["peak_bytes"])


def counted(cell: Cell) -> float:
    """Return the memory of the arrays that a projector needs, in bytes."""
    return counted_bytes(**{name: cell["cell"][name] for name in PAPER})


def growths(cells: list[Cell], key: str) -> tuple[float, float, float]:
    """Return the powers of the number of items by which a time grows.

    The least between neighbouring sizes, the one that fits all, and the greatest.
    """
    times = {cell["cell"]["items"]: cell["figures"][key] for cell in cells}
    if len(times) < 2:
        return (math.nan,) * 3
    least, most = local_exponents(times)
    return least, exponent(times), most


class Days(NamedTuple):
    """Days of one thread: of an iteration, and of all with the start."""

    classifiers: float
    projectors: float
    total: float


def days_of(cells: list[Cell], which: int) -> Days:
    """Return the days that the problem of the paper would take.

    The times grow with the items by the least (0) power that was seen between two
    sizes, by the one that fits all (1), or by the greatest (2).
    """
    size, found = cells[-1]["cell"], cells[-1]["figures"]
    more = PAPER["items"] / size["items"]
    start, classifier, costs, projector = (
        found[key] * more ** growths(cells, key)[which] for key in TIMED
    )
    # A classifier reads as many numbers more as there are bits more.
    classifiers = classifier * PAPER["bits"] / size["bits"] * PAPER["classes"]
    bits = PAPER["bits"] * (projector + costs * PAPER["classes"] / size["classes"])
    one, two = classifiers / 86_400, bits / 86_400
    return Days(one, two, start / 86_400 + PAPER_ITER * (one + two))


def extrapolation(cells: list[Cell]) -> str:
    """Say what the problem of the paper would take: on paper, nobody waited for it."""
    size = cells[-1]["cell"]
    least, middle, most = (days_of(cells, i) for i in range(3))
    arrays = counted_bytes(**PAPER) / 2**30
    peak = arrays * peak_of(cells[-1]) / counted(cells[-1])
    ends = f"{least.total:.3g} or {most.total:.3g}"
    return (
        f"The problem of the paper has {PAPER['items']:,} items in "
        f"{PAPER['classes']:,} classes. If the times grow on as they do here with the "
        "items, and in proportion to the classes and the bits, its classifiers for "
        f"{PAPER['bits']:,} bits take {middle.classifiers:.2g} days of one thread in "
        f"an iteration, its projectors {middle.projectors:.2g}, and {PAPER_ITER} "
        f"iterations with the start {middle.total:.3g} days; if they grow as between "
        f"the two sizes where they grow least or most, {ends}. The classifiers use all "
        "cores, as they do not depend on each other; the projectors follow one upon "
        f"another. The arrays of a projector take {arrays:.1f} GiB, {peak:.1f} if the "
        f"peak exceeds them as it does at {size['items']:,} items. On paper, as nobody "
        "waited for it; a classifier here has a larger share of positive items than "
        "one of so many classes."
    )

"""The page on settings and forms of codes that keep neighbours."""

from experiments._cells import Cell
from experiments._pages import write_page
from experiments._summary import by_method, decimal, figure, markdown, shown
from experiments._verdicts import minus, over_seeds, signed, values_of
from experiments.neighbour_choices import BASE, FAST, LENGTHS

INTRODUCTION = """# How codes that keep neighbours were set

Made by `python -m experiments.pages` from `neighbour_choices.jsonl`, which `python -m
experiments.neighbour_choices` writes. `NeighbourCodes`, `FastNeighbourCodes` (*fast*)
are trained on rows that are queries of no seed that
[their page](neighbour_codes.md) reports; recall@10 is that of the rows that
learners keep aside of them, among 20,000 others at most, in the best iteration. One
setting at a time differs from the *base* (a rate of .02, a perplexity of 20, 30
iterations, no pull to a tight frame), then those that helped do together; differences
are paired by seed, means ± one standard error.
*Kronecker* and *butterfly* are other fast maps, trained in the same way: two products
with small matrices, and all stages of 2 x 2 blocks. What they mean for the defaults is
written in [the decision](../decisions/learners-neighbour-codes.md)."""


def write() -> None:
    """Write the page, if anything was measured."""
    write_page("neighbour_choices", [INTRODUCTION], lambda cells, _: [table(cells)])


def table(cells: list[Cell]) -> str:
    """Return recall, what it is less the base, and seconds, for each length."""
    lengths = [n for n in LENGTHS if any(c["cell"]["bits"] == n for c in cells)]
    columns = [column(cells, n_bits) for n_bits in lengths]
    rows = [
        [method, *(text for each in columns for text in each.get(method, [""] * 3))]
        for method in dict.fromkeys(cell["cell"]["method"] for cell in cells)
    ]
    header = [
        title
        for n_bits in lengths
        for title in (f"recall@10, {n_bits} bits", "less the base", "seconds")
    ]
    return markdown(["", *header], rows)


def column(cells: list[Cell], n_bits: int) -> dict[str, list[str]]:
    """Return what the table says of each method at a length."""
    some = [cell for cell in cells if cell["cell"]["bits"] == n_bits]
    recall, seconds = (
        by_method(some, figure(key), "bits") for key in ("recall10", "seconds")
    )
    return {
        method: [
            shown(*found[n_bits][:2]),
            difference(some, method),
            decimal(seconds[method][n_bits][0], 0),
        ]
        for method, found in recall.items()
    }


def difference(cells: list[Cell], method: str) -> str:
    """Return the recall of a method less that of its base, paired by seed."""
    usual = FAST if method.startswith("fast") else BASE
    if method == usual:
        return ""
    pick = figure("recall10")
    gaps = over_seeds(
        minus(values_of(cells, method, pick), values_of(cells, usual, pick))
    )
    return " ".join(map(signed, gaps.values()))

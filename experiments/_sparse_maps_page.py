"""The part of the page on sparse projections about what sparse maps see and learn."""

from collections.abc import Iterator
from itertools import groupby

from experiments._cells import Cell, Cells
from experiments._pages import TITLES, sets_of
from experiments._summary import by_method, figure, grid, mean_and_error
from experiments._verdicts import signed
from experiments.sparse_maps import SPARSE

TEXT = """## What sparse maps see, and learn from fewer rows

Made from `sparse_maps.jsonl`, which `python -m experiments.sparse_maps` writes. The
paper reads its figure 4, where 10 % of the weights rank better than all, as overfitting
of dense maps. A map that overfits loses most where rows are few. Codes as long as the
features, learnt from some rows of the database, rank all of it: ANN mAP."""
SEEN = """Share of the variance of the features that have a weight in any bit of codes
learnt from all rows:"""
THIN, DENSE = "SP 10%", "SP 100%"


def sparse_maps() -> Iterator[str]:
    """Yield the parts of the section; none without measurements."""
    cells = list(Cells("sparse_maps"))
    if cells:
        yield TEXT
    for name, found in sets_of(cells):
        yield f"### {TITLES[name]}"
        yield from tables(found)


def tables(cells: list[Cell]) -> Iterator[str]:
    """Yield the tables of one set of features."""
    longest = max(cell["cell"]["bits"] for cell in cells)
    whole = [cell for cell in cells if cell["cell"]["bits"] == longest]
    yield f"ANN mAP of {longest:,} bits:"
    yield grid(by_method(whole, figure("ann_map"), "rows"), "{:,} rows")
    yield f"{THIN} less {DENSE}: {gaps(whole)}."
    rows = max(cell["cell"]["rows"] for cell in cells)
    all_rows = [
        cell
        for cell in cells
        if cell["cell"]["rows"] == rows and cell["cell"]["method"] in SPARSE
    ]
    if all_rows:
        yield SEEN
        yield grid(by_method(all_rows, figure("variance_seen"), "bits"), "{:,} bits")


def gaps(cells: list[Cell]) -> str:
    """Return what a sparse map has beyond a dense one, by how many rows they saw."""
    return ", ".join(_gaps(cells))


def ends_of_gaps() -> dict[str, tuple[str, str]]:
    """Return the same of each set for the fewest rows and for the most."""
    found: dict[str, list[Cell]] = {}
    for each in Cells("sparse_maps"):
        found.setdefault(each["cell"]["data"], []).append(each)
    ends = {}
    for name, cells in found.items():
        longest = max(cell["cell"]["bits"] for cell in cells)
        texts = _gaps([cell for cell in cells if cell["cell"]["bits"] == longest])
        if len(texts) > 1:
            ends[name] = texts[0], texts[-1]
    return ends


def _gaps(cells: list[Cell]) -> list[str]:
    values: dict[str, dict[tuple[int, int], float]] = {}
    for each in cells:
        cell = each["cell"]
        found = values.setdefault(cell["method"], {})
        found[cell["rows"], cell["seed"]] = each["figures"]["ann_map"]
    thin, dense = values.get(THIN, {}), values.get(DENSE, {})
    both = sorted(at for at in thin if at in dense)
    texts = []
    for rows, same in groupby(both, key=lambda at: at[0]):
        gap = mean_and_error([thin[at] - dense[at] for at in same])
        texts.append(f"{signed(gap)} with {rows:,} rows")
    return texts

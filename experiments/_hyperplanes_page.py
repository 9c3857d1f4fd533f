"""The part of the page on sparse projections about how hyperplanes lie."""

from collections.abc import Iterator

from experiments._cells import Cell, Cells
from experiments._pages import TITLES, sets_of
from experiments._summary import by_method, figure, grid
from experiments.hyperplanes import COMPARED

TEXT = """## How the hyperplanes lie

Made from `hyperplanes.jsonl`, which `python -m experiments.hyperplanes` writes; the
codes and their ANN mAP are those of above. *Looseness* is how far the frame potential
of the hyperplanes' unit normals exceeds its least, as a share of that: 0 where they are
orthogonal, or, if they are more than d, a tight frame. *Margin* is the mean over bits
of (E|s|)² / E s² of the scores s: the larger, the farther from the hyperplanes points
lie; 2/π = .637 if scores are Gaussian. *Effective bits* are as many independent bits as
spread as much. (A Hadamard transform is padded to a power of two, and is orthogonal
where the number of features is one.)"""
READING = """Here the figures tell the methods apart. At d bits margins pay: ITQ and all
weights have wide ones, and rank best. Of the others, those that are orthogonal or
nearly so rank close together: random ones, bilinear and circulant maps, and a hundredth
of the weights, whose hyperplanes hardly share a feature. A tenth of the weights is
looser and ranks below them, and LSH is loosest and last. At 4d bits wide margins cost:
ITQ and all weights have the fewest effective bits, and rank below random maps; a tenth
of the weights is nearly tight there, with narrower margins, and ranks as a tight random
map does, or nearly."""
_READ = "icd10"  #: The set that `READING` is of.
FIGURES = {
    "ann_map": "ANN mAP",
    "looseness": "Looseness",
    "margin": "Margin",
    "effective_bits": "Effective bits",
}


def hyperplanes() -> Iterator[str]:
    """Yield the parts of the section; none without measurements."""
    cells = with_rankings()
    if cells:
        yield TEXT
    for name, found in sets_of(cells):
        yield f"### {TITLES[name]}"
        if name == _READ:
            yield READING
        yield from tables(found)


def with_rankings() -> list[Cell]:
    """Return the cells in the order of methods, with the ANN mAP of the same codes."""
    ranked = Cells("sparse_projections")
    found = []
    for each in Cells("hyperplanes"):
        known = ranked.get(each["cell"]) or {}
        ann_map = {k: v for k, v in known.items() if k == "ann_map"}
        found.append({**each, "figures": each["figures"] | ann_map})
    return sorted(found, key=lambda cell: COMPARED.index(cell["cell"]["method"]))


def tables(cells: list[Cell]) -> Iterator[str]:
    """Yield the tables of one set of features."""
    for name, caption in FIGURES.items():
        table = by_method(cells, figure(name), "bits")
        if table:
            digits = 0 if name == "effective_bits" else 3
            yield f"**{caption}**"
            yield grid(table, "{:,} bits", digits)

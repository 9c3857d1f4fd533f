"""The part of the page on sparse projections about how hyperplanes lie."""

from collections.abc import Iterator

from experiments._cells import Cell, Cells
from experiments._pages import TITLES
from experiments._summary import by_method, decimal, figure, grid
from experiments.hyperplanes import COMPARED

TEXT = """## How the hyperplanes lie

Made from `hyperplanes.jsonl`, which `python -m experiments.hyperplanes` writes; the
codes and their ANN mAP are those of above. *Looseness* is how far the frame potential
of the hyperplanes' unit normals exceeds its least, as a share of that: 0 where they are
orthogonal, or, if they are more than d, a tight frame. *Margin* is the mean over bits
of E|s|² / E s² of the scores s: the larger, the farther from the hyperplanes points
lie; 2/π = .637 if scores are Gaussian. *Effective bits* are as many independent bits as
spread as much.

Three things go with a good ranking. Hyperplanes that are orthogonal rank better than
those that are not, where nothing is learnt: the Hadamard transform beside LSH. Margins
are what ITQ learns, and pay up to about d bits. Beyond, what counts is that bits
differ: those of dense learnt maps hardly do so any more, as they turn to the same few
directions with wide margins, while those of sparse and of random maps go on. A tenth of
the weights lies between: it is looser up to d bits than both a hundredth, whose
hyperplanes hardly share a feature, and all of them, which are orthogonal; and it keeps
too little of the margin to make up for that. From 2d bits on all are nearly tight, and
it has more effective bits than a dense map and wider margins than a random one."""
FIGURES = {
    "ann_map": "ANN mAP",
    "looseness": "Looseness",
    "margin": "Margin",
    "effective_bits": "Effective bits",
}
_DENSE, _THIN, _RANDOM = "ITQ", "SP 10%", "Hadamard 3"


def hyperplanes() -> Iterator[str]:
    """Yield the parts of the section; none without measurements."""
    cells = with_rankings()
    if cells:
        yield TEXT
    for name, title in TITLES.items():
        found = [cell for cell in cells if cell["cell"]["data"] == name]
        if found:
            yield f"### {title}"
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


def redundancy(titles: dict[str, str]) -> Iterator[str]:
    """Yield how effective bits grow from the number of features on."""
    cells = with_rankings()
    found = []
    for name, title in titles.items():
        mine = [cell for cell in cells if cell["cell"]["data"] == name]
        table = by_method(mine, figure("effective_bits"), "bits")
        known = [table.get(method, {}) for method in (_DENSE, _THIN, _RANDOM)]
        lengths = sorted(set.intersection(*map(set, known)))[-3:]
        if len(lengths) > 1:
            few, many = lengths[0], lengths[-1]
            dense, thin, random = (
                f"{decimal(each[few][0], 0)} to {decimal(each[many][0], 0)}"
                for each in known
            )
            found.append(
                f"{dense} (ITQ), {thin} (10 %) and {random} (random, Hadamard) from "
                f"{few:,} to {many:,} bits of {title}"
            )
    if found:
        yield (
            "- *Bits that differ.* Dense learnt maps turn more and more bits to the "
            "same wide margins; sparse ones cannot. Effective bits grow from "
            f"{'; from '.join(found)} (see how the hyperplanes lie, below)."
        )

"""The page on the taxonomy of class codes."""

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from experiments._cells import Cell
from experiments._deep_claims import purity_beyond_chance
from experiments._pages import IMAGES, write_page
from experiments._summary import by_method, decimal, figure, grid, markdown
from experiments._verdicts import overall, signed
from experiments.llc import BESIDE
from experiments.llc_taxonomy import CODEBOOKS, N_PERMUTATIONS, PICTURED_BITS, REAL
from fewbits.analysis.taxonomy import Taxonomy, taxonomy
from fewbits.report import code_heat_map, dendrogram, vector_heat_map

INTRODUCTION = f"""# Do the codes of classes make a taxonomy?

Made by `python -m experiments.pages` from `llc_taxonomy.jsonl`, which
`python -m experiments.llc_taxonomy` writes. Section 3.2 and figures 1 and 2 of LLC
(Kusupati et al., NeurIPS 2021), which show a tree and no number: classes are clustered
by the Hamming distances of their codes (average linkage), and the tree is set beside a
known one. That of ICD-10's blocks are its chapters; that of the classes of images, and
of kinds of nouns six steps below the root, is WordNet's (the first hypernym of each
sense; the senses of Caltech's classes are given by hand, in
`experiments/_caltech_synsets.py`, CIFAR-10's are the first of their names). Ten classes
make few pairs, and say little. *Cophenetic* is the correlation of the heights at
which two classes meet in both trees, *distances* that of the codes' distances with the
known heights, *purity* the dendrogram purity (Heller and Ghahramani, 2005) of the level
with the most groups of two classes or more. Real-valued vectors are clustered by their
cosines; a shuffle of the classes says what chance gives; p-values are from
{N_PERMUTATIONS} permutations. Nothing is chosen. Means over seeds ±
one standard error."""

TABLES = {
    "cophenetic": "Cophenetic correlation (Pearson) with the known tree",
    "distances": "Correlation (Pearson) of distances with the known tree",
    "purity": "Dendrogram purity of the known groups",
    "with class means": "Distances of class means, Spearman's correlation",
    "with classifier rows": "Distances of classifier rows, Spearman's correlation",
}
#: As in the paper's figure.
N_SHOWN = 50


def write() -> None:
    """Write the page, if anything was measured."""
    write_page("llc_taxonomy", [INTRODUCTION], sections)


def sections(cells: list[Cell], name: str) -> Iterator[str]:
    """Yield the parts on one set of features."""
    order = [*CODEBOOKS, *BESIDE, *REAL]
    cells = sorted(cells, key=lambda cell: order.index(cell["cell"]["method"]))
    for key, title in TABLES.items():
        yield f"**{title}**"
        yield grid(by_method(cells, figure(key), "bits"), "{} bits").replace(
            "| 0 bits |", "| real |"
        )
    yield beyond_chance(cells)
    yield chance(cells)
    yield from pictures(cells, name)


def beyond_chance(cells: list[Cell]) -> str:
    """Say how far groups are subtrees beyond chance, mean over lengths, best first."""
    gaps = {
        method: overall(purity_beyond_chance(method)({"llc_taxonomy": cells}))
        for method in {cell["cell"]["method"]: None for cell in cells}
    }
    known = {method: gap for method, gap in gaps.items() if gap is not None}
    best = sorted(known, key=lambda method: -known[method][0])
    texts = [f"{method} {signed(known[method])}" for method in best]
    return f"Purity beyond chance, mean over lengths: {', '.join(texts)}."


def chance(cells: list[Cell]) -> str:
    """Return what purity chance gives, and the largest p-values of each method."""
    tops: dict[str, list[float]] = {}
    for cell in cells:
        found = cell["figures"]
        most = tops.setdefault(cell["cell"]["method"], [0.0, 0.0])
        tops[cell["cell"]["method"]] = [
            max(old, found[f"{key}_p"])
            for old, key in zip(most, ("cophenetic", "purity"), strict=True)
        ]
    level = sum(cell["figures"]["purity_chance"] for cell in cells) / len(cells)
    rows = [[name, *(decimal(p, 3) for p in most)] for name, most in tops.items()]
    return f"By chance the purity is about {level:.2f}.\n\n" + markdown(
        ["largest p-value", "cophenetic", "purity"], rows
    )


def pictures(cells: list[Cell], name: str) -> Iterator[str]:
    """Draw the tree of learnt codes, and heat maps of codes and of a classifier."""
    kept = {
        cell["cell"]["method"]: cell["figures"]
        for cell in cells
        if {"codes", "cosines"} & set(cell["figures"])
    }
    if "learnt" not in kept:
        return
    codes, paths = unpacked(kept["learnt"]), kept["learnt"]["paths"]
    first = slice(0, N_SHOWN)
    kinds = [kind for kind, _ in paths]
    small = tree_of(codes[first], paths[first])
    image = IMAGES / f"llc_taxonomy_{name}.svg"
    dendrogram(small, kinds[first]).save(image)
    yield f"**Tree of the first {N_SHOWN} classes, {PICTURED_BITS} learnt bits**"
    yield f"![dendrogram of class codes](../images/{image.name})"
    yield "**Products of all pairs of classes, in the order of their names**"
    for method in [each for each in ("learnt", "SVD") if each in kept]:
        image = IMAGES / f"llc_taxonomy_{name}_{method.lower()}.svg"
        code_heat_map(unpacked(kept[method]), PICTURED_BITS).save(image)
        yield f"![products of {method} codes](../images/{image.name})"
    if "classifier rows" in kept:
        image = IMAGES / f"llc_taxonomy_{name}_classifier.svg"
        vector_heat_map(vectors_of(kept["classifier rows"]["cosines"])).save(image)
        yield f"![cosines of classifier rows](../images/{image.name})"


def unpacked(found: Cell) -> NDArray[np.uint8]:
    """Return the codes that a cell keeps in hexadecimal."""
    return np.array([list(bytes.fromhex(code)) for code in found["codes"]], np.uint8)


def tree_of(codes: NDArray[np.uint8], paths: list[Any]) -> Taxonomy:
    """Return the tree of some classes."""
    return taxonomy(codes, PICTURED_BITS, [name for _, name in paths])


def vectors_of(cosines: list[list[int]]) -> NDArray[np.float64]:
    """Return vectors that have such cosines, but for what rounding has made of them."""
    scales, axes = np.linalg.eigh(np.array(cosines) / 100)
    found: NDArray[np.float64] = axes * np.sqrt(scales.clip(min=0))
    return found

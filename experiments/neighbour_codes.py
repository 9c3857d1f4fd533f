"""Codes trained to keep neighbours beside other short codes, and nested lengths.

    python -m experiments.neighbour_codes --data icd10
    FEWBITS_DATA=folder python -m experiments.neighbour_codes --data caltech101-1280
    python -m experiments.neighbour_codes --fresh --data wordnet

Recall of the ten nearest points, ANN mAP and seconds of learning at 32 to 512 bits. The
nested codes are prefixes of one model of 512 bits that was trained for all lengths.
What `sparse_projections` has measured in the same way is taken from there. Training
uses the database, never the queries. Of test images, the queries of a seed are no other
seed's, and none of seed 0's, which were in view when the method was made. Seeds that
are fresh were asked after the last change to the methods.
"""

from collections.abc import Iterator
from typing import Annotated, Any

import typer

from experiments._cells import Cell, Cells
from experiments._features import FeatureSet, load_features, same_draw
from experiments._options import Bits, Data, Only, one_line, wanted
from experiments._projections import (
    METHODS,
    N_ITER,
    SEEDS,
    USUAL_ITER,
    has_codes,
)
from experiments._ranking import Fit, encoder_figures, ranking_figures
from experiments._settings import configured
from experiments.sparse_projections import ADDED
from fewbits.learners import NeighbourCodes, shared_steps
from fewbits.learners._shared_steps import SharedSteps

LENGTHS = (32, 64, 128, 256, 512)
OURS, NESTED = "NeighbourCodes", "NeighbourCodes, nested"
FAST = (
    "FastNeighbourCodes",
    "FastNeighbourCodes, 1 round",
    "FastNeighbourCodes, diagonals",
)
OTHERS = (
    *("LSH", "Hadamard 3", "PCAH", "ITQ", "SP 10%"),
    *("CBE-rand", "CBE-opt", "BP-rand", "BP-opt", "SH", "BRE"),
)
#: Other encoders of the same learner, at some of the lengths.
FORMS: dict[str, dict[str, Any]] = {
    "NeighbourCodes, 10% of the weights": {"density": 0.1},
    "NeighbourCodes, a hidden layer": {"n_hidden": 512},
}
#: The same encoder, trained for wider neighbourhoods, or otherwise.
TRAININGS: dict[str, dict[str, Any]] = {
    "NeighbourCodes, perplexity 150": {"perplexity": 150, "n_neighbours": 500},
    "NeighbourCodes, 180 iterations": {"n_iter": 180},
    "NeighbourCodes, not tight": {"tightness": 0.0},
}
FORMS_AT = (64, 256)
#: The lengths that each method is measured at.
PLAN: dict[str, tuple[int, ...]] = {
    **dict.fromkeys((*OTHERS, OURS, *FAST, NESTED), LENGTHS),
    **dict.fromkeys((*FORMS, *TRAININGS), FORMS_AT),
}
#: Seeds of sets that are drawn anew for each, and what is measured of them.
FRESH = "neighbour_fresh"
FRESH_SEEDS = (4, 5, 6)
FRESH_METHODS = ("ITQ", OURS, FAST[0])


def main(
    data: Data,
    bits: Bits = None,
    only: Only = None,
    fresh: Annotated[
        bool, typer.Option("--fresh", help="Ask seeds that no change was made with.")
    ] = False,
) -> None:
    """Measure every cell that is not measured yet."""
    cells = Cells(FRESH if fresh else "neighbour_codes")
    only = only or (list(FRESH_METHODS) if fresh else None)
    for name in data:
        for seed in FRESH_SEEDS if fresh else SEEDS:
            with one_line():
                features = load_features(name, seed, unseen=True)
            with shared_steps() as steps:
                for cell, fit in lineup(name, features, seed, steps):
                    if wanted(cell, only, bits):
                        cells.measure(cell, lambda c=cell, f=fit: figures(c, f))


def lineup(
    name: str, features: FeatureSet, seed: int, steps: SharedSteps | None = None
) -> Iterator[tuple[Cell, Fit]]:
    """Yield each cell with its fit, which all nested codes share."""
    *shorter, longest = LENGTHS
    nested = NeighbourCodes(longest, lengths=shorter, random_state=seed)
    shared = Fit(nested, features, steps)
    for n_bits in LENGTHS:
        cell = {"data": name, "bits": n_bits, "seed": seed}
        for method in (*OTHERS, OURS, *FAST):
            if not has_codes(method, n_bits, features.database.shape[1]):
                continue
            learner = METHODS[method](n_bits, seed, USUAL_ITER)
            yield {**cell, "method": method}, Fit(learner, features, steps)
        yield {**cell, "method": NESTED}, shared
        others = {**FORMS, **TRAININGS} if n_bits in FORMS_AT else {}
        for method, options in others.items():
            form = configured(NeighbourCodes, n_bits, random_state=seed, **options)
            yield {**cell, "method": method}, Fit(form, features, steps)


def figures(cell: Cell, fit: Fit) -> Cell:
    """Rank the database for the queries by as many bits as a cell has."""
    known = measured_already(cell)
    if known is not None:
        return known
    assert fit.encoder is not None
    encoder = fit.encoder.prefix(cell["bits"])
    return {
        **ranking_figures(fit.features, encoder, cell["seed"]),
        **fit.figures(),
        **encoder_figures(encoder),
    }


def measured_already(cell: Cell) -> Cell | None:
    """Return the figures that `sparse_projections` has of the same queries."""
    if cell["data"] in N_ITER or not same_draw(cell["data"]):
        return None
    known = Cells("sparse_projections").get(cell)
    return known if known is not None and ADDED in known else None


if __name__ == "__main__":
    typer.run(main)

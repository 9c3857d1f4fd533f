"""Figures 2 to 6 and tables 1 and 2 of the sparse-projections paper, on real features.

    python -m experiments.sparse_projections --data icd10
    FEWBITS_DATA=folder python -m experiments.sparse_projections --data caltech101-1280

Codes of every projection are compared by ANN mAP (true neighbours are the points nearer
than the mean distance to the 50th neighbour), by mAP over labels, by the share of the
ten nearest points among the first 10 and 100, by the encoder's size, and by the
accuracy of a linear SVM on the codes; `encode_times` has the time to encode a vector.
Training uses the database, never the queries.
"""

from collections.abc import Iterator
from contextlib import nullcontext
from typing import Annotated

import typer

from experiments._cells import Cell, Cells
from experiments._features import FeatureSet, load_features
from experiments._options import Bits, Data, Only, one_line, wanted
from experiments._projections import CENTRED, FLOATS, SEEDS, lineup, seeds_of
from experiments._ranking import (
    Fit,
    encoder_figures,
    float_figures,
    ranking_figures,
)
from experiments._table2 import svm_figures
from fewbits.learners import on_device, shared_steps

#: What table 2 has of each set, in bits per feature (0 for float features).
TABLE_2_AT: dict[str, tuple[float, ...]] = {
    "caltech101-1280": (0, 0.4, 1, 2, 4),
    "caltech101-5120": (0, 1),
    "icd10": (0, 1, 4),
}
#: Items of a class to train on, at most: ICD-10's 285 blocks would take days with all.
TABLE_2_EACH = {"icd10": 30}
TABLE_2 = (
    "float",
    "threshold",
    "LSH",
    "ITQ",
    "SP 5%",
    "CBE-rand",
    "CBE-opt",
    "BP-rand",
    "BP-opt",
    "Hadamard 3",
    "SH",
    "BRE",
    "BRE, Gaussian",
    "NeighbourCodes",
    "FastNeighbourCodes",
)
#: A figure that the first measurements lack.
ADDED = "recall100"


def main(
    data: Data,
    seed: Annotated[
        list[int] | None, typer.Option(help="Three of each method if not given.")
    ] = None,
    bits: Bits = None,
    only: Only = None,
    complete: Annotated[
        bool, typer.Option(help="Measure again what lacks newer figures.")
    ] = False,
    table2: Annotated[bool, typer.Option(help="Train SVMs on codes, too.")] = True,
    device: Annotated[
        str | None, typer.Option(help="Learn by torch there, such as cuda.")
    ] = None,
) -> None:
    """Measure every cell that is not measured yet."""
    with on_device(device) if device else nullcontext():
        for name in data:
            for number in seed or range(max(SEEDS) + 1):
                with one_line():
                    features = load_features(name, number)
                for cell, fit in fits(name, features, number):
                    usual = number in seeds_of(cell["method"])
                    if wanted(cell, only, bits) and (seed or usual):
                        measure(cell, fit, complete)
                        if table2:
                            classify(cell, fit)


def fits(name: str, features: FeatureSet, seed: int) -> Iterator[tuple[Cell, Fit]]:
    """Yield every cell and its learner, which share steps."""
    with shared_steps() as steps:
        for cell, learner in lineup(name, features.database.shape[1], seed):
            yield cell, Fit(learner, features, steps)


def measure(cell: Cell, fit: Fit, complete: bool = False) -> None:
    """Measure one cell of the figures."""
    lacks = ADDED if complete and cell["method"] not in FLOATS else None
    Cells("sparse_projections").measure(cell, lambda: figures(cell, fit), lacks)


def classify(cell: Cell, fit: Fit) -> None:
    """Measure one cell of table 2, where it has one."""
    features, width = fit.features, fit.features.database.shape[1]
    lengths = TABLE_2_AT.get(cell["data"], ())
    if cell["method"] in TABLE_2 and cell["bits"] / width in lengths:
        each = TABLE_2_EACH.get(cell["data"])
        Cells("table2").measure(
            cell, lambda: svm_figures(features, fit.encoder, cell["seed"], each)
        )


def figures(cell: Cell, fit: Fit) -> Cell:
    """Rank the database for the queries."""
    features, encoder = fit.features, fit.encoder
    if encoder is None:
        centred = cell["method"] == CENTRED
        return float_figures(features, cell["seed"], centred=centred)
    return {
        **ranking_figures(features, encoder, cell["seed"]),
        **fit.figures(),
        **encoder_figures(encoder),
    }


if __name__ == "__main__":
    typer.run(main)

"""Figure 4 of the PiCoDes paper: how many classes to learn from, to know others.

    python -m experiments.known_classes --data caltech101-1280
    python -m experiments.known_classes --data icd10

As `experiments.novel_classes` with codes of 128 bits, learnt from fewer known classes:
each number of them has those of the smaller numbers. Novel classes stay the same.
"""

import typer

from experiments._cells import Cells
from experiments._options import Data, Only, Seeds, wanted
from experiments.novel_classes import Problem, lineup

N_BITS = 128
CALTECH = (10, 25, 50, 75)
N_KNOWN = {
    "caltech101-1280": CALTECH,
    "caltech101-classic": CALTECH,
    "icd10": (10, 25, 50, 100, 200),
}
METHODS = (
    *("float", "class", "classemes", "LSH", "ITQ", "CCA-ITQ", "PiCoDes"),
    *("DBC", "DBC, by category"),
)


def main(data: Data, seeds: Seeds = 3, only: Only = None) -> None:
    """Measure every cell that is not measured yet."""
    cells = Cells("known_classes")
    for name in data:
        for seed in range(seeds):
            for n_known in N_KNOWN[name]:
                for cell, measure in lineup(Problem(name, seed, n_known)):
                    ours = cell["method"] in METHODS and cell["bits"] in (0, N_BITS)
                    if ours and wanted(cell, only, None):
                        cells.measure({**cell, "known": n_known}, measure)


if __name__ == "__main__":
    typer.run(main)

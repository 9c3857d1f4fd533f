"""Codes on a plane, figure 5 of LBHash: what the control does to clusters.

    python -m experiments.posterior_map --data cifar10

HashNet and DBDH of 64 bits, with the control and without, trained as in
`posterior_control`; items of the base are placed by t-SNE. A point has the colour of
its class, so items with several labels are refused.
"""

from functools import partial

import numpy as np
import typer

from experiments._cells import Cell, Cells
from experiments._hash_problems import load_problem
from experiments._options import Data
from experiments.posterior_control import make, settings
from fewbits.analysis import code_bound, map_codes

METHODS, CONTROLS = ("hashnet", "dbdh"), ("", "D")
N_BITS, N_ITEMS, SEED, MOST_CLASSES = 64, 1000, 0, 10


def main(data: Data) -> None:
    """Measure every cell that is not measured yet."""
    cells = Cells("posterior_map")
    for name in data:
        if load_problem(name, SEED).labels.ndim > 1:
            raise SystemExit(f"error: items of {name} have several labels, no class")
        for method in METHODS:
            for control in CONTROLS:
                cell = {"data": name, "method": method, "control": control}
                cells.measure(cell, partial(figures, **cell))


def figures(data: str, method: str, control: str) -> Cell:
    """Train, and place items of up to ten classes."""
    chosen = settings(data, "linear", method, control)
    problem = load_problem(data, SEED)
    learner = make(method, control, chosen, "linear", N_BITS, SEED)
    learner.fit(problem.X[problem.train], problem.labels[problem.train])
    classes = np.unique(problem.labels[problem.train])[:MOST_CLASSES]
    base = problem.base[np.isin(problem.labels[problem.base], classes)]
    drawn = np.random.default_rng(SEED).permutation(base)[:N_ITEMS]
    codes, labels = learner.encode(problem.X[drawn]), problem.labels[drawn]
    placed = map_codes(codes, method="tsne", max_items=N_ITEMS, random_state=SEED)
    bound = code_bound(codes, N_BITS, labels)
    return {
        "points": placed.coordinates.round(1).tolist(),
        "labels": labels[placed.rows].tolist(),
        "bound": float(bound.ratio),
    }


if __name__ == "__main__":
    typer.run(main)

"""Codes on a plane, figure 5 of LBHash: what the control does to clusters.

    python -m experiments.posterior_map --data cifar10

HashNet and DBDH of 64 bits, with the control and without, and the control in place of
a loss, since beside one its weight may be tiny; all are trained as in
`posterior_control`. Items of the base are placed by t-SNE. A point has the colour of
its class, so items with several labels are refused.
"""

from functools import partial

import numpy as np
import typer

from experiments._cells import Cell, Cells
from experiments._hash_problems import load_problem
from experiments._options import Data
from experiments.posterior_control import Settings, best_epoch, make, settings
from fewbits.analysis.bits import map_codes
from fewbits.analysis.bounds import code_bound
from research.common.settings import with_settings

#: The paper's, and the control alone.
DRAWN = [(m, c) for m in ("hashnet", "dbdh") for c in ("", "D")] + [("D alone", "")]
N_BITS, N_ITEMS, SEED, MOST_CLASSES = 64, 1000, 0, 10


def main(data: Data) -> None:
    """Measure every cell that is not measured yet."""
    cells = Cells("posterior_map")
    for name in data:
        if load_problem(name, SEED).labels.ndim > 1:
            raise SystemExit(f"error: items of {name} have several labels, no class")
        for method, control in DRAWN:
            cell = {"data": name, "method": method, "control": control}
            known = cells.get(cell)
            by_cell = partial(figures, **cell)
            cells.measure(cell, by_cell, again=superseded(known, **cell))


def superseded(known: Cell | None, data: str, method: str, control: str) -> bool:
    """Whether settings or the number of epochs have changed since."""
    return known is not None and any(
        known.get(key) != value for key, value in made(data, method, control).items()
    )


def made(data: str, method: str, control: str) -> Cell:
    """Return what a network is trained with, as in `posterior_control`."""
    chosen = settings(data, "linear", method, control)
    epochs, _ = best_epoch(data, "linear", N_BITS, method, control)
    return {**chosen._asdict(), "epochs": epochs}


def figures(data: str, method: str, control: str) -> Cell:
    """Train, and place items of up to ten classes."""
    trained = made(data, method, control)
    problem = load_problem(data, SEED)
    chosen = Settings.of(trained)
    learner = make(method, control, chosen, "linear", N_BITS, SEED)
    with_settings(learner, max_epochs=trained["epochs"], validation=0)
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
        **trained,
    }


if __name__ == "__main__":
    typer.run(main)

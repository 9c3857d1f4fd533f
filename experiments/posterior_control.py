"""Tables 2 and 3 and figures 1, 2 and 4 of LBHash, with the controls that it lacks.

    python -m experiments.posterior_control choose --data caltech101
    python -m experiments.posterior_control measure --data caltech101

Six losses of the paper and OrthoHash train a head on frozen features: by themselves,
with the posterior control ("D"), with plain targets at the same centres ("centres"),
and with a surrogate that stays as it was drawn ("frozen"). The paper does not say
whether the control is added to a loss or takes its place: "D alone" is the latter, the
same whatever the loss. Learning rates and weights
are chosen on a part of the training items, with another seed than those that are
reported, at 32 bits, and kept for all lengths.
"""

import time
from collections.abc import Iterator
from functools import partial
from typing import Annotated, Any

import numpy as np
import typer

from experiments._cells import Cell, Cells
from experiments._hash_problems import HashProblem, load_problem
from experiments._options import Bits, Data, Only, Seeds, wanted
from fewbits.evaluation import knn_accuracy, mean_average_precision, share_label
from fewbits.learners.deep import CentreControl, DeepHash, PosteriorControl
from fewbits.learners.deep.losses import LOSSES

LENGTHS = (16, 32, 64)
HEADS: dict[str, tuple[int, ...]] = {"linear": (), "mlp": (1024,)}
RATES, WEIGHTS = (3e-4, 1e-3, 3e-3), (0.03, 0.1, 0.3, 1.0)
N_ITER, CHOSEN_SEED, CHOSEN_BITS = 100, 1000, 32
CONTROLS: dict[str, Any] = {
    "": None,
    "D": PosteriorControl,
    "centres": CentreControl,
    "frozen": partial(PosteriorControl, train=False),
}
#: The control in place of a loss; AdamW makes nothing of the weight of a single term.
ALONE = "D alone"
METHODS = (*LOSSES, ALONE)
#: Seeds of each: five for the tables, three for what is beside them.
N_SEEDS = {"": 5, "D": 5, "centres": 3, "frozen": 3}

app = typer.Typer()
Head = Annotated[list[str] | None, typer.Option(help="linear or mlp.")]


@app.command()
def choose(data: Data, head: Head = None, only: Only = None) -> None:
    """Choose learning rates, then weights, on items kept aside from training."""
    for name in data:
        for kind in head or ["linear"]:
            for loss in only or METHODS:
                rate_of(name, kind, loss)
                for control in ("D", "centres") if loss != ALONE else ():
                    weight_of(name, kind, loss, control)


@app.command()
def measure(
    data: Data,
    seeds: Seeds = 5,
    bits: Bits = None,
    head: Head = None,
    only: Only = None,
) -> None:
    """Measure every cell that is not measured yet."""
    cells = Cells("posterior_control")
    for name in data:
        for seed in range(seeds):
            for kind in head or ["linear"]:
                for cell in lineup(name, kind, seed):
                    if wanted(cell, only, bits):
                        cells.measure(cell, partial(figures, **cell))


def lineup(name: str, head: str, seed: int) -> Iterator[Cell]:
    """Yield the cells of one seed."""
    for loss in METHODS:
        for n_bits in LENGTHS:
            for control, n_seeds in N_SEEDS.items():
                if seed < n_seeds and not (control and loss == ALONE):
                    cell = {"data": name, "head": head, "bits": n_bits}
                    yield {**cell, "method": loss, "control": control, "seed": seed}


def figures(
    data: str, head: str, bits: int, method: str, control: str, seed: int
) -> Cell:
    """Train, then rank the base for the queries and vote by it."""
    problem = load_problem(data, seed)
    weight = None
    if control:
        known = "D" if control == "frozen" else control
        weight = weight_of(data, head, method, known)
    rate = rate_of(data, head, method)
    learner = make(method, control, weight, head, bits, rate, seed)
    start = time.perf_counter()
    learner.fit(problem.X[problem.train], problem.labels[problem.train])
    seconds = time.perf_counter() - start
    return {
        **quality(learner, problem),
        "rate": rate,
        "weight": weight,
        "epochs": learner.n_iter_,
        "seconds_per_epoch": float(
            np.median([record["seconds"] for record in learner.history_])
        ),
        "fit_seconds": round(seconds, 2),
        "history": {
            key: [round(record[key], 4) for record in learner.history_]
            for key in ("map", "bound")
        },
    }


def quality(learner: DeepHash, problem: HashProblem) -> Cell:
    """Return the mAP over the queries, and the accuracy of 100 votes."""
    base, query = (
        learner.encode(problem.X[rows]) for rows in (problem.base, problem.query)
    )
    labels, asked = problem.labels[problem.base], problem.labels[problem.query]
    right = share_label(asked, labels)
    found = {"map": mean_average_precision(query, base, right, at=problem.at).value}
    if labels.ndim == 1:
        found["accuracy"] = knn_accuracy(base, labels, query, asked, k=100).value
    if learner.classifier_ is not None and labels.ndim == 1:
        signs = np.where(learner.encoder_.project(problem.X[problem.query]) >= 0, 1, -1)
        voted = learner.classes_[(signs @ learner.classifier_.T).argmax(axis=1)]
        found["classifier"] = float(np.mean(voted == asked))
    return found


def make(
    loss: str,
    control: str,
    weight: float | None,
    head: str,
    bits: int,
    rate: float,
    seed: int,
) -> DeepHash:
    """Return an untrained learner."""
    beside = CONTROLS[control]
    chosen = None if beside is None else beside(weight=weight)
    if loss == ALONE:  # the loss is not computed, but there must be one
        loss, chosen = "csq", PosteriorControl(mode="replace")
    return DeepHash(
        bits,
        loss=loss,
        control=chosen,
        hidden=HEADS[head],
        n_iter=N_ITER,
        learning_rate=rate,
        random_state=seed,
    )


def rate_of(data: str, head: str, loss: str) -> float:
    """Return the learning rate that ranks best on items kept aside from training."""
    found = {rate: aside(data, head, loss, "", None, rate) for rate in RATES}
    return max(found, key=lambda rate: found[rate])


def weight_of(data: str, head: str, loss: str, control: str) -> float:
    """Return the weight of a control that does."""
    rate = rate_of(data, head, loss)
    found = {
        weight: aside(data, head, loss, control, weight, rate) for weight in WEIGHTS
    }
    return max(found, key=lambda weight: found[weight])


def aside(
    data: str, head: str, loss: str, control: str, weight: float | None, rate: float
) -> float:
    """Return the best mAP on items kept aside; measured once."""
    cell = {"data": data, "head": head, "method": loss, "control": control}
    cell |= {"weight": weight, "rate": rate}

    def train() -> Cell:
        problem = load_problem(data, CHOSEN_SEED)
        learner = make(loss, control, weight, head, CHOSEN_BITS, rate, CHOSEN_SEED)
        learner.fit(problem.X[problem.train], problem.labels[problem.train])
        return {"map": max(record["map"] for record in learner.history_)}

    best: float = Cells("posterior_choices").measure(cell, train)["map"]
    return best


if __name__ == "__main__":
    app()

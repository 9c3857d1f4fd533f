"""Retrieval by the codes of LLC, tables 3 and 4 of the paper, on frozen features.

    python -m experiments.llc_retrieval --data caltech101

LLC with learnt, SVD and random codebooks, beside losses that were made for retrieval,
codes that no network learns, the code of the predicted class, and real-valued vectors:
the features themselves, and those of as many numbers as LLC has bits, learnt by
classifying through them. Learning rates of losses are those that `posterior_control`
chooses on items kept aside; so is the epoch of everything that is trained. What it has
measured of these losses is taken from there.
"""

import time
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np
import typer
from torch import Tensor

from experiments._cells import Cell, Cells
from experiments._class_codes import PredictedClass
from experiments._hash_problems import HashProblem, load_problem
from experiments._options import Bits, Data, Only, Seeds, wanted
from experiments.llc import CODEBOOK_EPOCHS, CODEBOOKS, N_ITER, possible
from experiments.posterior_control import Settings, loss_of, settings
from fewbits.evaluation import mean_average_precision, share_label
from fewbits.learners import CCAITQ, ITQ, Learner
from fewbits.learners.deep import LLC, DeepHash
from fewbits.learners.deep._targets import Batch
from fewbits.learners.deep.losses import Loss, Setting
from fewbits.learners.deep.losses._greedy import class_loss, linear_classifier

LENGTHS = (8, 10, 16, 32, 48, 64)
BOOKS = ("LLC", "LLC from SVD", "SVD", "random")
LOSSES = {"HashNet": "hashnet", "GreedyHash": "greedyhash", "OrthoHash": "orthohash"}
SHALLOW: dict[str, Callable[..., Learner]] = {
    "ITQ": ITQ,
    "PCA, random rotation": partial(ITQ, n_iter=0),
    "CCA-ITQ": CCAITQ,
}
REAL = "real-valued, learnt"
#: Without a length of their own.
WHOLE = ("features", "predicted class")


class RealValued(Loss):
    """Classify by the scores themselves: what GreedyHash is without the sign."""

    def start(self, setting: Setting) -> None:
        self.layer = linear_classifier(setting)

    def forward(self, scores: Tensor, batch: Batch) -> Tensor:
        return class_loss(self.layer(scores), batch)


def main(data: Data, seeds: Seeds = 5, bits: Bits = None, only: Only = None) -> None:
    """Measure every cell that is not measured yet."""
    cells = Cells("llc_retrieval")
    for name in data:
        for seed in range(seeds):
            problem = load_problem(name, seed)
            n_classes = len(np.unique(problem.labels[problem.train]))
            for cell in lineup(name, seed, n_classes):
                if wanted(cell, only, bits):
                    cells.measure(cell, partial(figures, **cell))


def lineup(name: str, seed: int, n_classes: int) -> Iterator[Cell]:
    """Yield the cells of one seed."""
    for method in WHOLE:
        yield {"data": name, "bits": 0, "method": method, "seed": seed}
    for length in LENGTHS:
        for method in (*BOOKS, *LOSSES, *SHALLOW, REAL):
            if possible(method, length, n_classes):
                yield {"data": name, "bits": length, "method": method, "seed": seed}


def figures(data: str, bits: int, method: str, seed: int) -> Cell:
    """Learn codes, and rank the base for the queries."""
    chosen = Settings("", None, 1e-3)
    if method in LOSSES:
        known = Cells("posterior_control").get(
            {"data": data, "head": "linear", "bits": bits, "seed": seed}
            | {"method": LOSSES[method], "control": ""}
        )
        if known is not None:
            return {key: known[key] for key in ("map", "fit_seconds")}
        chosen = settings(data, "linear", LOSSES[method])
    problem = load_problem(data, seed)
    start = time.perf_counter()
    learner = make(method, bits, chosen, seed)
    if learner is not None:
        learner.fit(problem.X[problem.train], problem.labels[problem.train])
    seconds = time.perf_counter() - start
    found = {"map": ranked(learner, method, problem), "fit_seconds": round(seconds, 2)}
    if method in BOOKS:
        found["unique"] = learner.codebook_of_classes().n_unique
    return found


def make(method: str, bits: int, chosen: Settings, seed: int) -> Any:
    """Return an untrained learner, or None for the features themselves."""
    shared: dict[str, Any] = {"n_iter": N_ITER, "random_state": seed}
    if method in BOOKS:
        options = {"codebook_epochs": CODEBOOK_EPOCHS, **CODEBOOKS[method]}
        return LLC(bits, **shared, **options)
    if method in SHALLOW:
        return SHALLOW[method](bits, random_state=seed)
    if method == "predicted class":
        return PredictedClass()
    if method == "features":
        return None
    real = method == REAL
    loss = RealValued() if real else loss_of(LOSSES[method], chosen.variant)
    return DeepHash(bits, loss=loss, learning_rate=chosen.rate, **shared)


def ranked(learner: Any, method: str, problem: HashProblem) -> float:
    """Return the mAP, by Hamming distances or by the cosines of real numbers."""
    query, base = problem.query, problem.base
    right = share_label(problem.labels[query], problem.labels[base])
    metric = "hamming"
    sides = [problem.X[rows] for rows in (query, base)]
    if method in ("features", REAL):
        metric = "cosine"
        centre = problem.X[problem.train].mean(axis=0)
        sides = [
            side - centre if learner is None else learner.encoder_.project(side)
            for side in sides
        ]
    else:
        sides = [learner.encoder_.encode(side) for side in sides]
    found = mean_average_precision(*sides, right, at=problem.at, metric=metric)
    return float(found.value)


if __name__ == "__main__":
    typer.run(main)

"""Retrieval by the codes of LLC, tables 3 and 4 of the paper, on frozen features.

    python -m experiments.llc_retrieval --data caltech101

LLC with learnt, SVD and random codebooks, beside losses that were made for retrieval,
codes that no network learns, the code of the predicted class, and real-valued vectors:
the features themselves, and those of as many numbers as LLC has bits, learnt by
classifying through them. Learning rates, the regulariser of CCA-ITQ and the epoch of
everything that is trained are chosen on items kept aside, rates at 32 bits; those of
losses by `posterior_control`, from which also comes what it has measured of them.
"""

import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
import typer
from sklearn.metrics import label_ranking_average_precision_score
from torch import Tensor

from experiments._cells import Cell, Cells
from experiments._class_codes import PredictedClass
from experiments._hash_problems import HashProblem, choice_problem, load_problem
from experiments._options import Bits, Data, Only, Seeds, wanted
from experiments.llc import CODEBOOK_EPOCHS, CODEBOOKS, N_ITER, possible
from experiments.posterior_control import (
    CHOSEN_BITS,
    CHOSEN_SEED,
    MORE_RATES,
    N_SEEDS,
    RATES,
    Settings,
    best_of,
    loss_of,
    settings,
)
from fewbits.evaluation import mean_average_precision, share_label
from fewbits.learners import CCAITQ, ITQ, Learner
from fewbits.learners.deep import LLC, DeepHash
from fewbits.learners.deep._targets import Batch
from fewbits.learners.deep.losses import Loss, Setting
from fewbits.learners.deep.losses._greedy import class_loss, linear_classifier

LENGTHS = (8, 10, 16, 32, 48, 64)
BOOKS = ("LLC", "LLC from SVD", "SVD", "random", "predictable")
LOSSES = {"HashNet": "hashnet", "GreedyHash": "greedyhash", "OrthoHash": "orthohash"}
SHALLOW: dict[str, Callable[..., Learner]] = {
    "ITQ": ITQ,
    "PCA, random rotation": partial(ITQ, n_iter=0),
    "CCA-ITQ": CCAITQ,
}
REAL = "real-valued, learnt"
#: Without a length of their own.
WHOLE = ("features", "predicted class", "predicted class, its number")
#: Of CCA-ITQ.
REGULARISERS = (0.1, 0.3, 1.0, 3.0, 10.0)


class RealValued(Loss):
    """Classify by the scores themselves: what GreedyHash is without the sign."""

    def start(self, setting: Setting) -> None:
        self.layer = linear_classifier(setting)

    def forward(self, scores: Tensor, batch: Batch) -> Tensor:
        return class_loss(self.layer(scores), batch)

    @property
    def classifier(self) -> Tensor:
        weights: Tensor = self.layer.weight.detach()
        return weights


def main(data: Data, seeds: Seeds = 5, bits: Bits = None, only: Only = None) -> None:
    """Measure every cell that is not measured yet."""
    cells = Cells("llc_retrieval")
    for name in data:
        for seed in range(seeds):
            problem = load_problem(name, seed)
            several = problem.labels.ndim == 2
            for cell in lineup(name, seed, n_classes_of(problem), several):
                if wanted(cell, only, bits):
                    cells.measure(cell, partial(figures, **cell))


def n_classes_of(problem: HashProblem) -> int:
    """Return the number of classes that are trained on."""
    labels = problem.labels[problem.train]
    return labels.shape[1] if labels.ndim == 2 else len(np.unique(labels))


def lineup(
    name: str, seed: int, n_classes: int, several: bool = False
) -> Iterator[Cell]:
    """Yield the cells of one seed; items of `several` classes have no number."""
    for method in WHOLE[: 2 if several else None]:
        yield {"data": name, "bits": 0, "method": method, "seed": seed}
    for length in LENGTHS:
        for method in (*BOOKS, *LOSSES, *SHALLOW, REAL):
            if possible(method, length, n_classes):
                yield {"data": name, "bits": length, "method": method, "seed": seed}


def figures(data: str, bits: int, method: str, seed: int) -> Cell:
    """Learn codes, and rank the base for the queries."""
    chosen = Settings("", None, settled(data, method))
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
    if problem.labels.ndim == 2 and method in (*BOOKS, WHOLE[1]):
        found["label_ranking"] = label_ranking(learner, problem)
    return found


def label_ranking(learner: Any, problem: HashProblem) -> float:
    """Return how well classes are ranked for items that have several.

    By the products of scores with codes, as soft decoding does, or by an SVM for each;
    of each class of an item, the share of right ones among those above it.
    """
    X, Y = problem.X[problem.query], problem.labels[problem.query]
    if isinstance(learner, PredictedClass):
        scores = learner.svm_.scores(X)
    else:
        scores = learner.encoder_.project(X) @ learner.codebook_.T.astype(np.float32)
    return float(label_ranking_average_precision_score(Y, scores))


def settled(data: str, method: str) -> float:
    """Return the rate, or the regulariser, that ranks items kept aside best."""
    if method == "CCA-ITQ":
        return best_of(REGULARISERS, partial(aside, data, method)).value
    if method in BOOKS or method == REAL:
        return best_of(RATES, partial(aside, data, method), MORE_RATES).value
    return RATES[0]


def aside(data: str, method: str, value: float) -> float:
    """Return the mAP on items kept aside of training; measured once."""
    cell = {"data": data, "head": "linear", "method": method, "control": ""}
    cell |= {"weight": None, "rate": value}

    def train() -> Cell:
        problem = choice_problem(data, CHOSEN_SEED, N_SEEDS[""])
        fits = possible(method, CHOSEN_BITS, n_classes_of(problem))
        bits = CHOSEN_BITS if fits else LENGTHS[0]  # few classes have few directions
        learner = make(method, bits, Settings("", None, value), CHOSEN_SEED)
        if method in SHALLOW:
            rows = np.random.default_rng(CHOSEN_SEED).permutation(problem.train)
            query, base = np.split(rows, [len(rows) // 10])
            problem = replace(problem, train=base, base=base, query=query)
        learner.fit(problem.X[problem.train], problem.labels[problem.train])
        if method in SHALLOW:
            return {"map": ranked(learner, method, problem)}
        return {"map": max(record["map"] for record in learner.history_)}

    best: float = Cells("posterior_choices").measure(cell, train)["map"]
    return best


def make(method: str, bits: int, chosen: Settings, seed: int) -> Any:
    """Return an untrained learner, or None for the features themselves."""
    shared: dict[str, Any] = {"n_iter": N_ITER, "random_state": seed}
    if method in BOOKS:
        options = {"codebook_epochs": CODEBOOK_EPOCHS, **CODEBOOKS[method]}
        return LLC(bits, learning_rate=chosen.rate, **shared, **options)
    if method == "CCA-ITQ":
        return CCAITQ(bits, reg=chosen.rate, random_state=seed)
    if method in SHALLOW:
        return SHALLOW[method](bits, random_state=seed)
    if method.startswith("predicted class"):
        return PredictedClass(numbered=method.endswith("number"))
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

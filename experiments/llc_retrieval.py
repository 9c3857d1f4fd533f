"""Retrieval by the codes of LLC, tables 3 and 4 of the paper, on frozen features.

    python -m experiments.llc_retrieval --data caltech101

LLC with learnt, SVD and random codebooks, beside losses that were made for retrieval,
codes that no network learns, the code of the predicted class, and real-valued vectors:
the features themselves, and those of as many numbers as LLC has bits, learnt by
classifying through them. Learning rates and the regulariser of CCA-ITQ are chosen on
items held out, at 32 bits, and the number of epochs at each length; then all
training items are trained on. All is chosen by how well items held out rank those
that are trained on, or one another where the base has none of these, by what the method
ranks by: real numbers by cosines. Phase 1 of LLC always has as many epochs, and keeps
the last of them where nothing is held out.
Losses are those of `posterior_control`.
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

from experiments import posterior_control
from experiments._cells import Cell, Cells
from experiments._class_codes import PredictedClass
from experiments._hash_problems import HashProblem, choice_problem, load_problem
from experiments._options import Bits, Data, Only, Seeds, wanted
from experiments.llc import CODEBOOK_EPOCHS, CODEBOOKS, N_ITER, PAPER, possible
from experiments.posterior_control import (
    CHOSEN_BITS,
    CHOSEN_SEED,
    EPOCHS,
    MORE_EPOCHS,
    MORE_RATES,
    N_SEEDS,
    NEW_BASE,
    RATES,
    USUAL_EPOCHS,
    best_of,
    halves_aside,
    mean_of_seeds,
)
from fewbits.evaluation import mean_average_precision, same_label
from fewbits.learners import CCAITQ, ITQ, Learner
from fewbits.learners.deep import LLC, DeepHash
from fewbits.learners.deep._targets import Batch
from fewbits.learners.deep.losses import Loss, LossContext
from fewbits.learners.deep.losses._greedy import class_loss, linear_classifier
from research.common.settings import configured, with_settings

LENGTHS = (8, 10, 16, 32, 48, 64)
BOOKS = ("LLC", "LLC with a bias", "LLC from SVD", "SVD", "random", "predictable")
LOSSES = {"HashNet": "hashnet", "GreedyHash": "greedyhash", "OrthoHash": "orthohash"}
SHALLOW: dict[str, Callable[..., Learner]] = {
    "ITQ": ITQ,
    "PCA, random rotation": partial(ITQ, n_iter=0),
    "CCA-ITQ": CCAITQ,
}
REAL = "real-valued, learnt"
#: Epochs with which their rates are chosen; most sets ask for as many.
REAL_EPOCHS = 80
TRAINED = (*BOOKS, REAL)  #: In epochs, here; losses are in `posterior_control`.
#: Without a length of their own.
WHOLE = ("features", "predicted class", "predicted class, its number")
#: Of CCA-ITQ.
REGULARISERS = (0.1, 0.3, 1.0, 3.0, 10.0)


class RealValued(Loss):
    """Classify by the scores themselves: what GreedyHash is without the sign."""

    def start(self, context: LossContext) -> None:
        self.layer = linear_classifier(context)

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
                    again = superseded(cell, cells.get(cell))
                    cells.measure(cell, partial(figures, **cell), again=again)


def superseded(cell: Cell, known: Cell | None) -> bool:
    """Whether other settings have been chosen since a cell was measured."""
    if known is None:
        return False
    name, method = cell["data"], cell["method"]
    if method in LOSSES:
        return bool(known["map"] != loss_figures(**cell)["map"])
    if method not in (*TRAINED, "CCA-ITQ"):
        return False
    made = known.get("rate"), known.get("epochs")
    return settled(name, method, cell["bits"]) != made


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
    if method in LOSSES:
        return loss_figures(data, bits, method, seed)
    rate, epochs = settled(data, method, bits)
    problem = load_problem(data, seed)
    learner = make(method, bits, seed, rate, epochs)
    start = time.perf_counter()
    if learner is not None:
        learner.fit(problem.X[problem.train], problem.labels[problem.train])
    seconds = time.perf_counter() - start
    found = {"map": ranked(learner, method, problem), "fit_seconds": round(seconds, 2)}
    if rate:
        found |= {"rate": rate, "epochs": epochs}
    if method in BOOKS:
        found["unique"] = learner.codebook_of_classes().n_unique
    if problem.labels.ndim == 2 and method in (*BOOKS, WHOLE[1]):
        found["label_ranking"] = label_ranking(learner, problem)
    return found


def loss_figures(data: str, bits: int, method: str, seed: int) -> Cell:
    """Return what `posterior_control` has measured, or measures now."""
    cell = {"data": data, "head": "linear", "bits": bits, "method": LOSSES[method]}
    cell |= {"control": "", "seed": seed}
    cells = Cells("posterior_control")
    again = posterior_control.superseded(cell, cells.get(cell))
    by_loss = partial(posterior_control.figures, **cell)
    found = cells.measure(cell, by_loss, again=again)
    return {key: found[key] for key in ("map", "fit_seconds")}


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


def settled(data: str, method: str, bits: int) -> tuple[float, int]:
    """Return the rate, or the regulariser, that ranks items held out best.

    With it the number of epochs that does at this length, of what is trained in epochs.
    """
    if method == "CCA-ITQ":
        return best_of(REGULARISERS, partial(aside, data, method)).value, 0
    if method not in TRAINED:
        return 0.0, 0
    if data in NEW_BASE or method == REAL:
        return settled_by_ranking(data, method, bits)
    rate = best_of(RATES, partial(aside, data, method), MORE_RATES).value
    return rate, tried(data, method, rate, bits)["epochs"]


def settled_by_ranking(data: str, method: str, bits: int) -> tuple[float, int]:
    """Return rate and epochs where the trainer's own figures are no guide.

    These are of codes, and of a base that is trained on.
    """
    usual = USUAL_EPOCHS if data in NEW_BASE else REAL_EPOCHS
    at = bits_to_choose_at(data, method)

    def with_rate(rate: float) -> float:
        return after_epochs(data, method, rate, at)(usual)

    rate = best_of(RATES, with_rate, MORE_RATES).value
    after = after_epochs(data, method, rate, bits)
    return rate, round(best_of(EPOCHS, after, MORE_EPOCHS).value)


def after_epochs(
    data: str, method: str, rate: float, bits: int
) -> Callable[[float], float]:
    """Return how well items held out rank after a number of epochs."""
    cells = Cells("posterior_unseen")
    cell = {"data": data, "head": "linear", "method": method, "control": ""}
    cell |= {"rate": rate, **length_of(data, method, bits)}

    def of_seed(epochs: int, seed: int) -> float:
        this = {**cell, "epochs": epochs, "seed": seed}
        by_cell = partial(unseen_figures, data, method, rate, bits, epochs, seed)
        value: float = cells.measure(this, by_cell)["unseen"]
        return value

    return mean_of_seeds(of_seed)


def unseen_figures(
    data: str, method: str, rate: float, bits: int, epochs: int, seed: int
) -> Cell:
    """Train for a number of epochs, and let items held out rank."""
    problem = choice_problem(data, seed, N_SEEDS[""])
    learner = make(method, bits, seed, rate, epochs)
    with_settings(learner, validation=0.1)
    if method == REAL:  # keeps the last epoch: the best would be that of its signs
        with_settings(learner, eval_every=0)
    learner.fit(problem.X[problem.train], problem.labels[problem.train])
    if data in NEW_BASE:
        sides = halves_aside(learner, problem)
    else:
        rows = problem.train[learner.held_out_]
        sides = ((rows, np.setdiff1d(problem.train, rows)),)
    values = [
        ranked(learner, method, replace(problem, query=asked, base=base, at=None))
        for asked, base in sides
    ]
    return {"unseen": float(np.mean(values))}


def length_of(data: str, method: str, bits: int) -> Cell:
    """Return how a choice is told from that at the length where rates are chosen."""
    return {} if bits == bits_to_choose_at(data, method) else {"bits": bits}


def bits_to_choose_at(data: str, method: str) -> int:
    """Return the usual length, or the shortest: few classes have few directions."""
    problem = choice_problem(data, CHOSEN_SEED, N_SEEDS[""])
    fits = possible(method, CHOSEN_BITS, n_classes_of(problem))
    return CHOSEN_BITS if fits else LENGTHS[0]


def aside(data: str, method: str, value: float) -> float:
    """Return the mAP on items held out of training."""
    best: float = tried(data, method, value, bits_to_choose_at(data, method))["map"]
    return best


def tried(data: str, method: str, value: float, bits: int) -> Cell:
    """Return it with the number of epochs that was best; measured once."""
    cell = {"data": data, "head": "linear", "method": method, "control": ""}
    cell |= {"weight": None, "rate": value, **length_of(data, method, bits)}

    def train() -> Cell:
        problem = choice_problem(data, CHOSEN_SEED, N_SEEDS[""])
        learner = make(method, bits, CHOSEN_SEED, value)
        if method in SHALLOW:
            rows = np.random.default_rng(CHOSEN_SEED).permutation(problem.train)
            query, base = np.split(rows, [len(rows) // 10])
            if data in NEW_BASE:
                train, (query, base) = base, np.array_split(query, 2)
            else:
                train = base
            problem = replace(problem, train=train, base=base, query=query)
        learner.fit(problem.X[problem.train], problem.labels[problem.train])
        if method in SHALLOW:
            return {"map": ranked(learner, method, problem)}
        values = [record["map"] for record in learner.history_]
        best = np.argmax(posterior_control.smooth(values))
        return {"map": max(values), "epochs": 1 + int(best)}

    needed = "epochs" if method in TRAINED else None
    return Cells("posterior_choices").measure(cell, train, needed)


def make(method: str, bits: int, seed: int, value: float, epochs: int = 0) -> Any:
    """Return an untrained learner, or None for the features themselves.

    With `epochs` it trains on all items for so long, without them as long as any, with
    a tenth of the items held out.
    """
    shared: dict[str, Any] = {"max_epochs": epochs or N_ITER, "random_state": seed}
    if epochs:
        shared["validation"] = 0
    if method in BOOKS:
        options = {"codebook_epochs": CODEBOOK_EPOCHS, **PAPER, **CODEBOOKS[method]}
        return configured(LLC, bits, learning_rate=value, **shared, **options)
    if method == REAL:
        return configured(
            DeepHash, bits, loss=RealValued(), learning_rate=value, **shared
        )
    if method == "CCA-ITQ":
        return CCAITQ(bits, reg=value, random_state=seed)
    if method in SHALLOW:
        return SHALLOW[method](bits, random_state=seed)
    if method.startswith("predicted class"):
        return PredictedClass(numbered=method.endswith("number"))
    assert method == "features"
    return None


def ranked(learner: Any, method: str, problem: HashProblem) -> float:
    """Return the mAP, by Hamming distances or by the cosines of real numbers."""
    query, base = problem.query, problem.base
    right = same_label(problem.labels[query], problem.labels[base])
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

"""Figure 3 of the PiCoDes paper: classes that nobody trained on, told apart by codes.

    python -m experiments.novel_classes --data caltech101-1280

The classes are divided by the seed. Learners see up to 30 items of each training class;
a linear SVM on the codes is then trained on 10 items of each of 25 novel classes, its
weight of errors chosen by cross-validation on them, and tested on up to 25 others.
"""

from collections.abc import Iterator
from functools import partial
from typing import Any

import numpy as np
import typer
from numpy.typing import NDArray

from experiments._cells import Cell, Cells
from experiments._class_codes import PredictedClass
from experiments._features import load_features
from experiments._options import Bits, Data, Only, Seeds, wanted
from fewbits.evaluation import knn_accuracy, svm_accuracy
from fewbits.learners import (
    BRE,
    CCAITQ,
    DBC,
    ITQ,
    LSH,
    Classemes,
    Learner,
    PiCoDes,
    RelaxedPiCoDes,
    SpectralHashing,
)

N_NOVEL, N_LEARN, N_TRAIN, N_TEST = 25, 30, 10, 25
SVM_COSTS = [0.001, 0.01, 0.1, 1.0]
LENGTHS = (16, 32, 64, 128, 256)
#: Of PiCoDes. Chosen, like its default costs, on the classes of `tuned_on`, which are
#: training classes here and never novel ones.
COMPONENTS = 128
#: Of classemes, chosen in the same way: larger ones say no to nearly every new class.
CLASSEME_COST = 0.001


def main(data: Data, seeds: Seeds = 3, bits: Bits = None, only: Only = None) -> None:
    """Measure every cell that is not measured yet."""
    cells = Cells("novel_classes")
    for name in data:
        for seed in range(seeds):
            problem = Problem(name, seed)
            for cell, learner in lineup(name, seed, len(problem.known)):
                if wanted(cell, only, bits):
                    cells.measure(cell, partial(problem.figures, learner))


def tuned_on(classes: NDArray[Any]) -> NDArray[Any]:
    """Return the classes on which parameters were chosen."""
    return np.random.default_rng(5).permutation(classes)[50:75]


class Problem:
    """Items of known classes to learn from, and of novel ones to score by."""

    def __init__(self, name: str, seed: int) -> None:
        features = load_features(name, 0)
        self.X = np.concatenate([features.database, features.queries])
        self.y = np.concatenate([features.database_labels, features.query_labels])
        rng = np.random.default_rng(seed)
        classes, counts = np.unique(self.y, return_counts=True)
        fit_for_test = (counts >= N_LEARN) & ~np.isin(classes, tuned_on(classes))
        self.novel = rng.permutation(classes[fit_for_test])[:N_NOVEL]
        self.known = np.setdiff1d(classes, self.novel)
        self.learn = self._rows(self.known, rng, 0, N_LEARN)
        state = rng.bit_generator.state
        self.train = self._rows(self.novel, rng, 0, N_TRAIN)
        rng.bit_generator.state = state  # the same order again
        self.test = self._rows(self.novel, rng, N_TRAIN, N_TRAIN + N_TEST)

    def _rows(
        self, classes: NDArray[Any], rng: np.random.Generator, start: int, stop: int
    ) -> NDArray[np.int64]:
        each = [rng.permutation(np.flatnonzero(self.y == c)) for c in classes]
        return np.concatenate([rows[start:stop] for rows in each])

    def figures(self, learner: Any) -> Cell:
        """Learn on known classes; score a linear SVM and 1-NN on novel ones."""
        if learner is None:
            found = svm_accuracy(*self._sides(self.X), C=[*SVM_COSTS, 10.0])
            return {"accuracy": found.per_class_mean}
        learner.fit(self.X[self.learn], self.y[self.learn])
        sides = self._sides(learner.encoder_.encode(self.X))
        n_bits = learner.encoder_.n_bits
        svm = svm_accuracy(*sides, n_bits=n_bits, C=SVM_COSTS)
        nearest = knn_accuracy(*sides)
        return {"accuracy": svm.per_class_mean, "nearest": nearest.per_class_mean}

    def _sides(self, Z: NDArray[Any]) -> tuple[NDArray[Any], ...]:
        train, test = self.train, self.test
        return Z[train], self.y[train], Z[test], self.y[test]


def lineup(name: str, seed: int, n_known: int) -> Iterator[tuple[Cell, Any]]:
    """Yield a cell and its untrained learner; None stands for the float features."""
    yield {"data": name, "bits": 0, "method": "float", "seed": seed}, None
    yield {"data": name, "bits": 0, "method": "class", "seed": seed}, PredictedClass()
    for n_bits in LENGTHS:
        both: dict[str, Any] = {"n_bits": n_bits, "random_state": seed}
        learners: dict[str, Learner] = {
            "LSH": LSH(**both),
            "SH": SpectralHashing(n_bits),
            "BRE": BRE(**both),
            "ITQ": ITQ(**both),
            "CCA-ITQ": CCAITQ(**both),
            "PiCoDes": PiCoDes(**both, n_components=COMPONENTS),
            "PiCoDes, random start": PiCoDes(
                **both, n_components=COMPONENTS, init="random"
            ),
            "PiCoDes, whole steps": PiCoDes(
                **both, n_components=COMPONENTS, line_search=False
            ),
            "relaxed PiCoDes": RelaxedPiCoDes(**both, n_components=COMPONENTS),
            "DBC": DBC(**both, codes="category"),
        }
        if n_bits <= n_known:
            learners["classemes + RFE"] = Classemes(**both, cost=CLASSEME_COST)
        for method, learner in learners.items():
            cell = {"data": name, "bits": n_bits, "method": method, "seed": seed}
            yield cell, learner


if __name__ == "__main__":
    typer.run(main)

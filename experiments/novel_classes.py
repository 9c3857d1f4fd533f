"""Figure 3 of the PiCoDes paper: classes that nobody trained on, told apart by codes.

    python -m experiments.novel_classes --data caltech101-1280
    python -m experiments.novel_classes --data caltech101-classic
    python -m experiments.novel_classes --data icd10

The classes are divided by the seed. Learners see up to 30 items of each training class;
a linear SVM on the codes is then trained on 10 items of each of 25 novel classes, its
weight of errors chosen by cross-validation on them, and tested on up to 25 others.
"""

import time
import warnings
from collections import Counter
from collections.abc import Callable, Iterator
from functools import cached_property, partial
from typing import Any

import numpy as np
import typer
from numpy.typing import NDArray
from sklearn.decomposition import PCA

from experiments._cells import Cell, Cells
from experiments._class_codes import PredictedClass
from experiments._classic_features import is_classic
from experiments._components import n_components_of
from experiments._features import load_features
from experiments._learners import FREE, classemes, learners_of
from experiments._lp_beta_figures import lp_beta_figures
from experiments._novel_protocol import (
    MOST_KNOWN,
    N_NOVEL,
    N_TEST,
    N_TRAIN,
    drawn,
    float_costs,
    svm_costs,
    tuned_on,
)
from experiments._options import Bits, Data, Only, Seeds, wanted
from experiments._preparation import prepared
from fewbits.evaluation import knn_accuracy, svm_accuracy
from fewbits.learners import Learner, PiCoDes, RelaxedPiCoDes
from research.common.settings import configured

N_LEARN = 30  # items of a known class, at most
LENGTHS = (16, 32, 64, 128, 256, 512, 1024, 2048)
#: Lengths of DBC whose labels of a class differ.
FREE_AT = (32, 128, 512)
#: Ways to relax PiCoDes other than from ITQ with a temperature that falls.
RELAXED: dict[str, dict[str, Any]] = {
    "relaxed PiCoDes, T = 1": {"final_temperature": 1.0},
    "relaxed PiCoDes, random start": {"init": "random"},
}
#: The longest codes of PiCoDes that are learnt in other ways than the best.
ABLATED_UP_TO = 64


def main(data: Data, seeds: Seeds = 3, bits: Bits = None, only: Only = None) -> None:
    """Measure every cell that is not measured yet."""
    cells = Cells("novel_classes")
    for name in data:
        for seed in range(seeds):
            for cell, measure in lineup(Problem(name, seed)):
                if wanted(cell, only, bits):
                    cells.measure(cell, measure)


class Problem:
    """Items of known classes to learn from, and of novel ones to score by.

    Parameters
    ----------
    name : str
        Of a set of features.
    seed : int
        Draws classes and items.
    n_known : int, default=MOST_KNOWN
        Most known classes to learn from. The items of each, and all of the novel
        classes, are the same whatever it is.
    """

    experiment = "novel_classes"

    def __init__(self, name: str, seed: int, n_known: int = MOST_KNOWN) -> None:
        self.name, self.seed = name, seed
        self.raw, self.y = load_features(name, 0).joined()
        rng = np.random.default_rng(seed)
        classes, counts = np.unique(self.y, return_counts=True)
        fit_for_test = (counts >= N_LEARN) & ~np.isin(classes, tuned_on(name, classes))
        self.novel = rng.permutation(classes[fit_for_test])[:N_NOVEL]
        others = np.setdiff1d(classes[counts >= N_TRAIN], self.novel)
        learn = self._rows(others, rng, 0, N_LEARN)
        self.known = drawn(others, n_known, seed)
        self.learn = learn[np.isin(self.y[learn], self.known)]
        state = rng.bit_generator.state
        self.train = self._rows(self.novel, rng, 0, N_TRAIN)
        rng.bit_generator.state = state  # the same order again
        self.test = self._rows(self.novel, rng, N_TRAIN, N_TRAIN + N_TEST)

    def _rows(
        self, classes: NDArray[Any], rng: np.random.Generator, start: int, stop: int
    ) -> NDArray[np.int64]:
        each = [rng.permutation(np.flatnonzero(self.y == c)) for c in classes]
        return np.concatenate([rows[start:stop] for rows in each])

    @cached_property
    def X(self) -> NDArray[np.float32]:
        """What learners see of each item, made without the novel classes."""
        return prepared(self.name, self.raw, self.learn)

    @property
    def aside(self) -> NDArray[Any]:
        """The classes to choose parameters on: neither known nor novel."""
        return np.setdiff1d(self.y, np.concatenate([self.known, self.novel]))

    @cached_property
    def n_components(self) -> int | None:
        """From how many components PiCoDes learn, whatever the number of classes."""
        return n_components_of(Problem(self.name, self.seed))

    def figures(self, learner: Any, n_learn: int = N_LEARN) -> Cell:
        """Learn on known classes; score a linear SVM and 1-NN on novel ones."""
        X, learn = self.X, first_of_each(self.learn, self.y, n_learn)
        if isinstance(learner, PiCoDes | RelaxedPiCoDes):
            learner.set_params(n_components=self.n_components)
        start = time.process_time()  # other processes do not count
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", ".*ignores the code")
            encoder = learner.fit(X[learn], self.y[learn]).encoder_
        seconds = time.process_time() - start
        sides = self._sides(encoder.encode(X))
        costs = svm_costs(encoder.n_bits)
        svm = svm_accuracy(*sides, n_bits=encoder.n_bits, C=costs)
        nearest = knn_accuracy(*sides)
        return {
            "accuracy": svm.per_class_mean,
            "nearest": nearest.per_class_mean,
            "fit_seconds": round(seconds, 2),
            **training(learner),
        }

    def float_figures(self) -> Cell:
        """Score a linear SVM on the features."""
        return self._float_figures(self.X)

    def component_figures(self) -> Cell:
        """Score a linear SVM on the components that PiCoDes learn from."""
        if self.n_components is None:
            return self.float_figures()
        pca = PCA(self.n_components, svd_solver="full").fit(self.X[self.learn])
        return self._float_figures(pca.transform(self.X))

    def _float_figures(self, X: NDArray[np.float32]) -> Cell:
        costs = float_costs(X[self.train])
        return {"accuracy": svm_accuracy(*self._sides(X), C=costs).per_class_mean}

    def lp_beta_figures(self) -> Cell:
        """Score LP-beta on the kinds of descriptors."""
        return lp_beta_figures(*self._sides(self.raw))

    def _sides(self, Z: NDArray[Any]) -> tuple[NDArray[Any], ...]:
        train, test = self.train, self.test
        return Z[train], self.y[train], Z[test], self.y[test]


def first_of_each(
    rows: NDArray[np.int64], y: NDArray[Any], n: int
) -> NDArray[np.int64]:
    """Return the first rows of each class, `n` at most."""
    seen: Counter[Any] = Counter()
    kept = []
    for row in rows.tolist():
        seen[y[row]] += 1
        if seen[y[row]] <= n:
            kept.append(row)
    return np.array(kept)


def training(learner: Any) -> Cell:
    """Return what is worth knowing of how PiCoDes were learnt."""
    if not isinstance(learner, PiCoDes | RelaxedPiCoDes):
        return {}
    return {
        "objective": learner.objective_.tolist(),
        "idle": learner.n_idle_classes_,
        "components": learner.n_components,
    }


def lineup(problem: Problem) -> Iterator[tuple[Cell, Callable[[], Cell]]]:
    """Yield a cell, and the function that measures it."""

    def cell(method: str, n_bits: int = 0) -> Cell:
        key = {"data": problem.name, "bits": n_bits, "method": method}
        return {**key, "seed": problem.seed}

    yield cell("float"), problem.float_figures
    yield cell("components"), problem.component_figures
    yield cell("class"), partial(problem.figures, PredictedClass())
    yield cell("classemes"), partial(problem.figures, classemes(None, problem.seed))
    if is_classic(problem.name):
        yield cell("LP-beta"), problem.lp_beta_figures
    few = PiCoDes(FEW_AT, random_state=problem.seed)
    yield cell(FEW, FEW_AT), partial(problem.figures, few, N_LEARN // 5)
    for n_bits in LENGTHS:
        for method, learner in learners(n_bits, problem.seed).items():
            if method != CLASSEMES or n_bits <= len(problem.known):
                yield cell(method, n_bits), partial(problem.figures, learner)


CLASSEMES = "classemes + RFE"
#: The paper has codes of 512 bits reach classemes that learn from five times as much.
FEW, FEW_AT = f"PiCoDes, {N_LEARN // 5} items a class", 512


def learners(n_bits: int, seed: int) -> dict[str, Learner]:
    """Return the learners of a length, by name."""
    both: dict[str, Any] = {"n_bits": n_bits, "random_state": seed}
    found = learners_of(n_bits, seed) | {CLASSEMES: classemes(n_bits, seed)}
    if n_bits not in FREE_AT:
        found = {name: each for name, each in found.items() if name not in FREE}
    return found | (ablations(both) if n_bits <= ABLATED_UP_TO else {})


def ablations(both: dict[str, Any]) -> dict[str, Learner]:
    """Return PiCoDes that start, weigh or go on otherwise."""
    return {
        "PiCoDes, random start": PiCoDes(**both, init="random"),
        "PiCoDes, whole steps": PiCoDes(**both, line_search=False),
        "relaxed PiCoDes": RelaxedPiCoDes(**both),
        **{
            name: configured(RelaxedPiCoDes, **both, **rest)
            for name, rest in RELAXED.items()
        },
        "balanced PiCoDes": PiCoDes(**both, class_weight="balanced"),
    }


if __name__ == "__main__":
    typer.run(main)

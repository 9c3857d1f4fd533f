"""Figures 2 to 5 of the DBC paper: codes for classes that were trained on.

    python -m experiments.discriminative --data caltech101-1280
    python -m experiments.discriminative --data caltech101-classic
    python -m experiments.discriminative --data icd10

From a few items of each class, codes are learnt, and classifiers on the codes: the
nearest neighbours, a linear SVM for each class, and one on bits selected for the class.
Beside them stand the features themselves and the code of the predicted class.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property, lru_cache, partial
from typing import Annotated, Any

import numpy as np
import typer
from numpy.typing import NDArray

from experiments._cells import Cell, Cells
from experiments._classic_features import is_classic
from experiments._features import load_features
from experiments._learners import FREE, learners_of
from experiments._lp_beta_figures import lp_beta_figures, mean_over_classes
from experiments._options import Bits, Data, Only, Seeds, wanted
from experiments._preparation import prepared
from experiments._product_quantization import quantized
from fewbits.classify._linear import linear_svm
from fewbits.evaluation import (
    category_scores,
    knn_accuracy,
    precision_recall_curve,
    same_label,
    svm_accuracy,
)
from fewbits.evaluation._categories import expected_precision
from fewbits.learners import DBC, Learner

#: Test items of each class, and how many of each there are to learn from.
CALTECH = (10, (5, 10, 20, 30))
SIZES = {
    "caltech101-1280": CALTECH,
    "caltech101-classic": CALTECH,
    "icd10": (25, (5, 20, 50)),
}
#: Classes, drawn by the seed where more are large enough.
MOST_CLASSES = 100
ALL = 1 << 30  # queries: items of both sides of the split are drawn from
#: Items of each class up to which LP-beta is affordable.
LP_BETA_UP_TO = 10
#: Items of each class up to which linear SVMs on product quantization are learnt, as in
#: the paper: their rows are as wide as the features.
PQ_SVM_UP_TO = 5
SVM_COST = 100.0  # as `category_scores` has it
LENGTHS = (32, 64, 128, 256, 512)
METHODS = ("LSH", "SH", "ITQ", "CCA-ITQ", "DBC", "DBC, by category", *FREE)
RANKS = (1, 6, 11, 16, 21, 26, 36, 46, 56, 66, 76, 86, 96, 192, 384, 768, 1536)
#: Codes that are also classified by bits selected for each class; two more fits each.
SELECTED = ("ITQ", "DBC", "DBC, by category")
SELECTION = 10.0  # weight of the errors against the number of bits
#: As many bits of the longest codes for each class as shorter codes have for all, up
#: to where selection leaves so many.
LONGEST, CHOSEN_UP_TO = max(LENGTHS), 64
CHOSEN = f"DBC-L1 of {LONGEST}"
#: Length of the precision-recall curves, and of the terms of every iteration.
CURVES_AT = 256


def main(
    data: Data,
    seeds: Seeds = 3,
    bits: Bits = None,
    each: Annotated[list[int] | None, typer.Option(help="Items per class.")] = None,
    only: Only = None,
) -> None:
    """Measure every cell that is not measured yet."""
    cells = Cells("discriminative")
    for name in data:
        n_test, sizes = SIZES[name]
        for seed in range(seeds):
            for n_each in each or sizes:
                problem = draw(name, n_each, n_test, seed)
                for cell, measure in lineup(problem, n_each):
                    if wanted(cell, only, bits):
                        found = {"data": name, "each": n_each, **cell, "seed": seed}
                        cells.measure(found, measure)


@dataclass(frozen=True, eq=False)
class Problem:
    """Items to learn from, and others to test on.

    Attributes
    ----------
    name : str
        Of the set of features.
    raw : ndarray of shape (n + n_test, n_features)
        First the rows to learn from.
    y : ndarray of shape (n,)
    truth : ndarray of shape (n_test,)
    seed : int
    """

    name: str
    raw: NDArray[np.float32]
    y: NDArray[Any]
    truth: NDArray[Any]
    seed: int

    @property
    def X(self) -> NDArray[np.float32]:
        """What learners see, and learn from."""
        return self._prepared[: len(self.y)]

    @property
    def X_test(self) -> NDArray[np.float32]:
        """The same of the test items."""
        return self._prepared[len(self.y) :]

    @cached_property
    def _prepared(self) -> NDArray[np.float32]:
        return prepared(self.name, self.raw, np.arange(len(self.y)))


def draw(name: str, n_each: int, n_test: int, seed: int) -> Problem:
    """Draw the same number of items from every class that has enough of them."""
    X, y = load_features(name, 0, ALL).joined()
    rng = np.random.default_rng(seed)
    classes, counts = np.unique(y, return_counts=True)
    most = max(SIZES[name][1])  # the same classes for every number of items
    large = classes[counts >= n_test + most]
    train, test = [], []
    for each in np.sort(rng.permutation(large)[:MOST_CLASSES]):
        rows = rng.permutation(np.flatnonzero(y == each))
        test.append(rows[:n_test])
        train.append(rows[n_test : n_test + n_each])
    learn, check = np.concatenate(train), np.concatenate(test)
    rows = np.concatenate([learn, check])
    return Problem(name, X[rows], y[learn], y[check], seed)


def lineup(problem: Problem, n_each: int) -> Iterator[tuple[Cell, Any]]:
    """Yield a cell, and the function that measures it."""
    yield {"bits": 0, "method": "float"}, partial(float_figures, problem)
    if is_classic(problem.name) and n_each <= LP_BETA_UP_TO:
        yield {"bits": 0, "method": "LP-beta"}, partial(kinds_figures, problem)
    for n_bits in LENGTHS:
        learners = learners_of(n_bits, problem.seed)
        for method in METHODS:
            learner, select = learners[method], method in SELECTED
            cell = {"bits": n_bits, "method": method}
            measure = code_figures if method not in FREE else ends_of_figures
            yield cell, partial(measure, problem, learner, select)
        if n_bits <= CHOSEN_UP_TO:
            measure = partial(chosen_figures, problem, n_bits)
            yield {"bits": n_bits, "method": CHOSEN}, measure
        classify = n_each <= PQ_SVM_UP_TO
        measure = partial(pq_figures, problem, n_bits, classify)
        yield {"bits": n_bits, "method": "PQ"}, measure


def code_figures(problem: Problem, learner: Learner, select: bool) -> Cell:
    """Learn codes, and classify by them in every way, or without bits selected."""
    learner.fit(problem.X, problem.y)
    encoder = learner.encoder_
    train, test = encoder.encode(problem.X), encoder.encode(problem.X_test)
    sides = train, problem.y, test, problem.truth
    n_test = int(np.unique(problem.truth, return_counts=True)[1].max())
    options: Any = {"n_bits": encoder.n_bits, "at": n_test}
    svm = category_scores(*sides, **options)
    figures: Cell = {
        "nearest": knn_accuracy(*sides).per_class_mean,
        "svm": float(svm.accuracy.mean()),
        "precision": float(svm.precision.mean()),
    }
    if select:
        selected = category_scores(*sides, **options, selection=SELECTION)
        figures["selected"] = float(selected.accuracy.mean())
        figures["selected_precision"] = float(selected.precision.mean())
        figures["n_selected"] = float(selected.n_selected.mean())
    if encoder.n_bits == CURVES_AT:
        right = same_label(problem.truth, problem.y)
        curve = precision_recall_curve(test, train, right, at=RANKS)
        figures["curve"] = [curve.recall.tolist(), curve.precision.tolist()]
    if isinstance(learner, DBC):
        figures["entropy"] = learner.within_class_entropy_
        figures["objective"] = learner.objective_.tolist()
        terms = {k: v.tolist() for k, v in learner.objective_terms_.items()}
        every = encoder.n_bits == CURVES_AT
        figures["terms"] = terms if every else {k: ends(v) for k, v in terms.items()}
    return figures


def chosen_figures(problem: Problem, n_bits: int) -> Cell:
    """Choose so many bits of the longest codes for each class, and classify by them."""
    train, test = longest_codes(problem)
    found = category_scores(
        *(train, problem.y, test, problem.truth),
        n_bits=LONGEST,
        selection=SELECTION,
        k=n_bits,
    )
    return {
        "svm": float(found.accuracy.mean()),
        "n_selected": float(found.n_selected.mean()),
    }


@lru_cache(maxsize=1)
def longest_codes(problem: Problem) -> tuple[NDArray[np.uint8], NDArray[np.uint8]]:
    """Return codes of the rows to learn from and of the others, learnt once."""
    encoder = DBC(LONGEST, random_state=problem.seed).fit(problem.X, problem.y).encoder_
    return encoder.encode(problem.X), encoder.encode(problem.X_test)


def ends_of_figures(problem: Problem, learner: Learner, select: bool) -> Cell:
    """Return the same, but of the terms of the objective only the last ones."""
    figures = code_figures(problem, learner, select)
    figures["terms"] = {k: v[-1:] for k, v in figures["terms"].items()}
    return {k: v for k, v in figures.items() if k not in ("objective", "curve")}


def ends(values: list[float]) -> list[float]:
    """Return the first and the last value."""
    return [values[0], values[-1]]


def float_figures(problem: Problem) -> Cell:
    """Classify by the features, and by the code of the class that they predict."""
    scale = float(np.mean(np.sum(problem.X**2, axis=1)))
    found = svm_accuracy(
        problem.X,
        problem.y,
        problem.X_test,
        problem.truth,
        C=[cost / scale for cost in (0.3, 1.0, 3.0, 10.0, 30.0)],
    )
    return {
        "svm": found.per_class_mean,
        "precision": precision_of_class_codes(problem.truth, found.predictions),
    }


def kinds_figures(problem: Problem) -> Cell:
    """Classify by LP-beta on the kinds of descriptors."""
    learn, test = np.split(problem.raw, [len(problem.y)])
    return lp_beta_figures(learn, problem.y, test, problem.truth)


def precision_of_class_codes(truth: NDArray[Any], predictions: NDArray[Any]) -> float:
    """Return the expected precision where all a code says is the predicted class.

    Items of the wanted class come first, in any order, the others after them.
    """
    found = []
    for each, k in zip(*np.unique(truth, return_counts=True), strict=True):
        right, first = truth == each, predictions == each
        taken = min(k, int(first.sum()))
        hits = taken * right[first].mean() if taken else 0.0
        if k > taken:
            hits += (k - taken) * right[~first].mean()
        found.append(hits / k)
    return float(np.mean(found))


def pq_figures(problem: Problem, n_bits: int, classify: bool) -> Cell:
    """Classify by product quantization: the nearest code, and a linear SVM if asked."""
    found = quantized(problem.X, problem.X_test, n_bits // 8, problem.seed)
    nearest = mean_over_classes(problem.truth, problem.y[found.nearest])
    if not classify:
        return {"nearest": nearest}
    return {"nearest": nearest, **class_svm_figures(problem, found.rows, found.queries)}


def class_svm_figures(
    problem: Problem, rows: NDArray[np.float32], tests: NDArray[np.float32]
) -> Cell:
    """Score a linear SVM for each class, like `category_scores`, on real numbers."""
    scale = np.sqrt(np.mean(np.sum(rows**2, axis=1)), dtype=np.float64)
    classes = np.unique(problem.truth)
    scores = np.empty((len(tests), len(classes)), np.float32)
    for c, name in enumerate(classes):
        w, b = linear_svm(rows / scale, problem.y == name, SVM_COST / len(rows), 0)
        scores[:, c] = tests @ (w / scale) + b
    right = problem.truth[:, None] == classes
    precisions = [
        expected_precision(scores[:, c], right[:, c], int(right[:, c].sum()))
        for c in range(len(classes))
    ]
    return {
        "svm": mean_over_classes(problem.truth, classes[scores.argmax(axis=1)]),
        "precision": float(np.mean(precisions)),
    }


if __name__ == "__main__":
    typer.run(main)

"""The grid: classifiers on codes that are learnt from a few items of each class.

The nearest neighbour, a linear SVM for each class, and one on bits selected for the
class. Beside codes stand the features.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fewbits.evaluation.classification import knn_accuracy
from fewbits.learners import DBC, Learner
from research.common.classic import is_classic, prepared
from research.common.features import load_features
from research.common.lp_beta import lp_beta_metrics, mean_over_classes
from research.common.supervised import learners_of
from research.common.svm import COSTS, linear_svm, svm_of_best_cost
from research.core.record import Metrics, Record
from research.core.runner import Task, task
from research.studies.dbc.categories import category_scores, expected_precision

#: Test items of each class, and how many of each there are to learn from.
SIZES = {
    "caltech101-1280": (10, (5, 10, 20, 30)),
    "caltech101-classic": (10, (5, 30)),
    "icd10": (25, (5, 20, 50)),
    "digits": (10, (5,)),
}
#: Classes, drawn by the seed where more are large enough.
MOST_CLASSES = 100
SEEDS, LENGTHS = (0, 1, 2), (32, 64, 128, 256, 512)
METHODS = ("LSH", "SH", "ITQ", "CCA-ITQ")
#: Measured where they decide, DBC at few lengths since `gamma` goes by rows and
#: features; figures with 1 are stored under names that say so.
CONTROL, DECIDING, DECIDING_AT = "ECOC", ("DBC", "DBC, by category"), (32, 64, 128)
DECIDING_ON = {"icd10": (5, 20, 50), "caltech101-1280": (5, 20), "digits": (5,)}
BY_CATEGORY_OF = (5, 20)
#: Codes that are also classified by their nearest neighbour.
BY_NEAREST, NEAREST_ON = ("LSH", "SH", "ITQ", "CCA-ITQ"), {"icd10": (5, 20)}
#: Items of each class up to which LP-beta is affordable, and linear SVMs on product
#: quantization, whose rows are as wide as the features.
LP_BETA_UP_TO, PQ_SVM_UP_TO = 10, 5
SVM_COST = 100.0  # as `category_scores` has it
#: Where codes are also classified by bits selected for each class, and the weight of
#: the errors against the number of bits.
SELECTED, SELECTED_AT, SELECTION = ("icd10", 20, "DBC"), (32, 64), 10.0
TERMS = {"intra": 1, "inter": -1, "regulariser": 1, "slack": 1}


def tasks(tiny: bool = False) -> Iterator[Task]:
    """Yield what is run; a tiny run takes seconds."""
    if tiny:
        for each in lineup("digits", 5, 0):
            if each.cells[0]["bits"] in (0, 32):
                yield each
        return
    for data, (_, sizes) in SIZES.items():
        for seed in SEEDS if data != "digits" else ():
            for n_each in sizes:
                yield from lineup(data, n_each, seed)


def lineup(data: str, n_each: int, seed: int) -> Iterator[Task]:
    """Yield each cell of a problem."""

    def cell(
        method: str, n_bits: int, measure: Any, *rest: Any, part: str = "classes"
    ) -> Task:
        at = {"data": data, "each": n_each, "bits": n_bits, "method": method}
        drawn = data, n_each, seed
        return task(
            part, {**at, "seed": seed}, lambda: measure(problem_of(*drawn), *rest)
        )

    yield cell("float", 0, float_metrics)
    if is_classic(data) and n_each <= LP_BETA_UP_TO:
        yield cell("LP-beta", 0, kinds_metrics)
    decides = n_each in DECIDING_ON.get(data, ())
    by_nearest = n_each in NEAREST_ON.get(data, ())
    for n_bits in LENGTHS:
        learners = learners_of(n_bits, seed)
        deciding = decides and n_bits in DECIDING_AT
        for method in (*METHODS, *(CONTROL,) * decides, *DECIDING * deciding):
            if method == DECIDING[-1] and n_each not in BY_CATEGORY_OF:
                continue
            learner = learners[method]
            yield cell(method, n_bits, code_metrics, method, learner)
            if method in BY_NEAREST and (by_nearest or deciding):
                yield cell(method, n_bits, nearest_metrics, learner, part="nearest")
        yield cell("PQ", n_bits, pq_metrics, n_bits, n_each <= PQ_SVM_UP_TO)


@dataclass(frozen=True, eq=False)
class Problem:
    """Items to learn from, labelled `y`, then others to test on, labelled `truth`."""

    name: str
    raw: NDArray[np.float32]
    y: NDArray[Any]
    truth: NDArray[Any]
    seed: int

    @cached_property
    def sides(self) -> list[NDArray[np.float32]]:
        """The rows to learn from, and the others, as learners see them."""
        found = prepared(self.name, self.raw, np.arange(len(self.y)))
        return np.split(found, [len(self.y)])

    def labelled(self, train: Any, test: Any) -> tuple[Any, Any, Any, Any]:
        """Return both sides with their labels."""
        return train, self.y, test, self.truth


@lru_cache(maxsize=1)
def problem_of(name: str, n_each: int, seed: int) -> Problem:
    """Draw the same number of items from every class that has enough of them."""
    X, y = load_features(name, 0, 1 << 30).joined()
    rng = np.random.default_rng(seed)
    classes, counts = np.unique(y, return_counts=True)
    n_test, sizes = SIZES[name]  # the same classes for every number of items
    large = classes[counts >= n_test + max(sizes)]
    train, test = [], []
    for each in np.sort(rng.permutation(large)[:MOST_CLASSES]):
        rows = rng.permutation(np.flatnonzero(y == each))
        test.append(rows[:n_test])
        train.append(rows[n_test : n_test + n_each])
    learn, check = np.concatenate(train), np.concatenate(test)
    return Problem(name, X[np.r_[learn, check]], y[learn], y[check], seed)


def code_metrics(problem: Problem, method: str, learner: Learner) -> Metrics:
    """Learn codes, and classify by them in every way, some by selected bits."""
    encoder = learner.fit(problem.sides[0], problem.y).encoder_
    sides = problem.labelled(*map(encoder.encode, problem.sides))
    n_test = int(np.unique(problem.truth, return_counts=True)[1].max())
    options: Any = {"n_bits": encoder.n_bits, "at": n_test}
    svm = category_scores(*sides, **options)
    found: dict[str, Any] = {
        "svm": float(svm.accuracy.mean()),
        "precision": float(svm.precision.mean()),
    }
    n_each = len(problem.y) // len(np.unique(problem.y))
    here = (problem.name, n_each, method)
    if here == SELECTED and encoder.n_bits in SELECTED_AT:
        selected = category_scores(*sides, **options, selection=SELECTION)
        found["selected"] = float(selected.accuracy.mean())
        found["selected_precision"] = float(selected.precision.mean())
        found["n_selected"] = float(selected.n_selected.mean())
    if method in (CONTROL, *DECIDING):
        found["nearest"] = knn_accuracy(*sides).per_class_mean
    if isinstance(learner, DBC):
        found["entropy"] = within_class_entropy(sides[0], problem.y)
        found["objective"] = learner.objective_.tolist()
        terms = learner.objective_terms_
        found["terms"] = {k: [float(v[0]), float(v[-1])] for k, v in terms.items()}
    return found


def within_class_entropy(codes: NDArray[np.uint8], labels: NDArray[Any]) -> float:
    """Return the entropy of codes, given their class, in bits.

    0 when each class has one code, at most the logarithm of its size.
    """
    entropy = 0.0
    for label in np.unique(labels):
        counts = np.unique(codes[labels == label], axis=0, return_counts=True)[1]
        entropy += float((counts * np.log2(counts.sum() / counts)).sum())
    return entropy / len(labels)


def nearest_metrics(problem: Problem, learner: Learner) -> Metrics:
    """Learn codes, and classify by the nearest; equally near ones share the vote."""
    encoder = learner.fit(problem.sides[0], problem.y).encoder_
    sides = problem.labelled(*map(encoder.encode, problem.sides))
    return {"nearest": knn_accuracy(*sides).per_class_mean}


def float_metrics(problem: Problem) -> Metrics:
    """Classify by the features."""
    scale = float(np.mean(np.sum(problem.sides[0] ** 2, axis=1)))
    sides = problem.labelled(*problem.sides)
    found = svm_of_best_cost(*sides, [cost / scale for cost in COSTS])
    return {"svm": found.per_class_mean}


def kinds_metrics(problem: Problem) -> Metrics:
    """Classify by LP-beta on the kinds of descriptors."""
    return lp_beta_metrics(*problem.labelled(*np.split(problem.raw, [len(problem.y)])))


def pq_metrics(problem: Problem, n_bits: int, classify: bool) -> Metrics:
    """Classify by product quantization: the nearest code, and a linear SVM if asked."""
    rows, queries = problem.sides
    nearest, decoded = quantized(rows, queries, n_bits // 8, problem.seed)
    found = {"nearest": mean_over_classes(problem.truth, problem.y[nearest])}
    return {**found, **_class_svms(problem, *decoded)} if classify else found


def quantized(
    X: NDArray[np.float32], queries: NDArray[np.float32], n_bytes: int, seed: int
) -> tuple[NDArray[np.int64], list[NDArray[np.float32]]]:
    """Return each query's nearest code, by asymmetric distance, and both sides decoded.

    Features are padded with zeros to a multiple of the number of parts. With fewer
    than 256 rows, there are as many centres as the next smaller power of two.
    """
    import faiss

    width = -(-X.shape[1] // n_bytes) * n_bytes
    index: Any = faiss.IndexPQ(width, n_bytes, min(8, int(np.log2(len(X)))))
    index.pq.cp.seed = seed
    index.pq.cp.min_points_per_centroid = 1
    rows, asked = (np.pad(Z, ((0, 0), (0, width - Z.shape[1]))) for Z in (X, queries))
    index.train(rows)
    index.add(rows)
    decoded = [index.sa_decode(index.sa_encode(Z)) for Z in (rows, asked)]
    return index.search(asked, 1)[1][:, 0], decoded


def _class_svms(
    problem: Problem, rows: NDArray[np.float32], tests: NDArray[np.float32]
) -> Metrics:
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


def for_claims(records: Iterable[Record]) -> list[Record]:
    """Add PQ's 1-NN to that of codes, falls of the objective, and what L1 gains."""
    found = [_with_falls(each) for each in records]
    for each in list(found):
        if "nearest" in each.metrics and each.part == "classes":
            found.append(replace(each, part="nearest"))
        if "selected" in each.metrics:
            gain = {"svm": each.metrics["selected"] - each.metrics["svm"]}
            found.append(replace(each, part="gain", metrics=gain))
    return found


def _with_falls(record: Record) -> Record:
    """Return the record with the least fall of the objective, and those of terms."""
    falls = [a - b for a, b in pairwise(record.metrics.get("objective", ()))]
    found: dict[str, Any] = {"least_fall": min(falls)} if falls else {}
    found["reference"] = record.metrics.get("svm", record.metrics.get("accuracy"))
    for name, sign in TERMS.items() if falls else ():
        values = record.metrics["terms"].get(name)
        found[f"{name}_fall"] = sign * (values[0] - values[-1]) if values else None
    return replace(record, metrics={**record.metrics, **found})

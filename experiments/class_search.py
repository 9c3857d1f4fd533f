"""Figures 5 and 6 of the PiCoDes paper: finding the members of a class nobody knows.

    python -m experiments.class_search --data caltech101-1280
    python -m experiments.class_search --data caltech101-classic
    python -m experiments.class_search --data icd10

Codes are learnt on known classes, at most 100 of them. A novel class is then given by
a few of its items, and everything that was not learnt from is ranked by a linear SVM on
the codes.
"""

import time
from collections.abc import Callable, Iterator
from functools import cached_property, partial
from typing import Any

import numpy as np
import typer
from numpy.typing import NDArray

from experiments._cells import Cell, Cells
from experiments._class_codes import PredictedClass
from experiments._components import n_components_of
from experiments._features import load_features
from experiments._learners import classemes, learners_of
from experiments._novel_protocol import MOST_KNOWN, N_NOVEL, N_TRAIN, drawn, tuned_on
from experiments._options import Bits, Data, Only, Seeds, wanted
from experiments._preparation import prepared
from fewbits.classify import best_scores, learn_class
from fewbits.classify._linear import linear_svm
from fewbits.learners import PiCoDes

N_LEARN, N_TARGETS = 30, 25
EXAMPLES = (1, 2, 5, 10, 20)
LENGTHS = (256, 2048)
METHODS = ("LSH", "SH", "ITQ", "CCA-ITQ", "PiCoDes", "DBC")
RANKS = (1, 5, 10, 15, 20, 25, 50, 100, 250)
N_NEGATIVES = 1000
FLOAT_COST = 100.0  # as codes have it


def main(data: Data, seeds: Seeds = 3, bits: Bits = None, only: Only = None) -> None:
    """Measure every cell that is not measured yet."""
    cells = Cells("class_search")
    for name in data:
        for seed in range(seeds):
            problem = Problem(name, seed)
            for cell, learner in lineup(name, seed):
                if wanted(cell, only, bits):
                    cells.measure(cell, partial(problem.figures, learner))


class Problem:
    """Items of known classes to learn from, and a collection with novel ones in it."""

    experiment = "class_search"

    def __init__(self, name: str, seed: int) -> None:
        self.name, self.seed = name, seed
        self.raw, self.y = load_features(name, 0).joined()
        rng = np.random.default_rng(seed)
        classes, counts = np.unique(self.y, return_counts=True)
        large = counts >= max(EXAMPLES) + N_TARGETS
        enough = classes[large & ~np.isin(classes, tuned_on(name, classes))]
        self.novel = rng.permutation(enough)[:N_NOVEL]
        rows = {c: rng.permutation(np.flatnonzero(self.y == c)) for c in classes}
        others = np.setdiff1d(classes, self.novel)
        self.known = drawn(
            np.setdiff1d(others, classes[counts < N_TRAIN]), MOST_KNOWN, seed
        )
        n_learn = {c: N_LEARN if c in self.known else 0 for c in others}
        self.learn = np.concatenate([rows[c][: n_learn[c]] for c in others])
        self.examples = {c: rows[c][: max(EXAMPLES)] for c in self.novel}
        targets = [rows[c][max(EXAMPLES) :][:N_TARGETS] for c in self.novel]
        unseen = [rows[c][n_learn[c] :] for c in others]
        self.negatives = rng.permutation(self.learn)[:N_NEGATIVES]
        # Items with equal scores are ranked by their place: in no order.
        self.collection = rng.permutation(np.concatenate([*targets, *unseen]))

    @property
    def aside(self) -> NDArray[Any]:
        """The classes to choose parameters on: known ones, as others are searched."""
        return drawn(self.known, N_NOVEL, self.seed)

    @cached_property
    def X(self) -> NDArray[np.float32]:
        """What learners see of each item."""
        return prepared(self.name, self.raw, self.learn)

    def figures(self, learner: Any) -> Cell:
        """Learn codes; search the collection for every novel class."""
        if isinstance(learner, PiCoDes):
            learner.set_params(n_components=n_components_of(self))
        start = time.perf_counter()
        search: FloatSearch | CodeSearch
        if learner is None:
            search = FloatSearch(self.X, self.collection, self.negatives)
        else:
            encoder = learner.fit(self.X[self.learn], self.y[self.learn]).encoder_
            codes = encoder.encode(self.X)
            search = CodeSearch(codes, encoder.n_bits, self.collection, self.negatives)
        fit_seconds = time.perf_counter() - start
        precision, seconds = {}, []
        for n in EXAMPLES:
            found = []
            for name in self.novel:
                start = time.perf_counter()
                score = search.learn(self.examples[name][:n])
                learnt = time.perf_counter()
                best = best_scores(score(search.collection), max(RANKS))
                seconds.append((learnt - start, time.perf_counter() - learnt))
                hits = np.cumsum(self.y[self.collection[best]] == name)
                found.append([hits[k - 1] / k for k in RANKS])
            precision[n] = np.mean(found, axis=0).tolist()
        return {
            "precision": precision,
            "fit_seconds": round(fit_seconds, 2),
            "search_seconds": round(float(np.median(np.sum(seconds, axis=1))), 4),
            "rank_seconds": round(float(np.median(seconds, axis=0)[1]), 4),
            "bytes": search.collection.nbytes,
            "items": len(search.collection),
        }


#: From the rows of a collection to how well each fits the examples.
Scores = Callable[[Any], Any]


class CodeSearch:
    """Search by example on codes."""

    def __init__(
        self, codes: Any, n_bits: int, collection: Any, negatives: Any
    ) -> None:
        self.codes, self.n_bits = codes, n_bits
        self.collection, self.negatives = codes[collection], codes[negatives]

    def learn(self, examples: NDArray[np.int64]) -> Scores:
        """Return what scores codes by how well they fit the examples."""
        return learn_class(self.codes[examples], self.negatives, self.n_bits).scores


class FloatSearch:
    """The same on the features."""

    def __init__(self, X: Any, collection: Any, negatives: Any) -> None:
        self.X = X / np.sqrt(np.mean(np.sum(X[negatives] ** 2, axis=1)))
        self.collection, self.negatives = self.X[collection], self.X[negatives]

    def learn(self, examples: NDArray[np.int64]) -> Scores:
        """Return what scores features by how well they fit the examples."""
        rows = np.concatenate([self.X[examples], self.negatives]).astype(np.float64)
        wanted = np.repeat([1, -1], [len(examples), len(self.negatives)])
        C = FLOAT_COST / len(rows)  # so large that the dual problem takes 20 times that
        weights, _ = linear_svm(rows, wanted, C, 0, dual=False)
        return partial(np.dot, b=weights.astype(np.float32))


def lineup(name: str, seed: int) -> Iterator[tuple[Cell, Any]]:
    """Yield a cell and its untrained learner; None stands for the float features."""
    yield {"data": name, "bits": 0, "method": "float", "seed": seed}, None
    yield {"data": name, "bits": 0, "method": "class", "seed": seed}, PredictedClass()
    control = {"data": name, "bits": 0, "method": "classemes", "seed": seed}
    yield control, classemes(None, seed)
    for n_bits in LENGTHS:
        learners = learners_of(n_bits, seed)
        for method in METHODS:
            cell = {"data": name, "bits": n_bits, "method": method, "seed": seed}
            yield cell, learners[method]


if __name__ == "__main__":
    typer.run(main)

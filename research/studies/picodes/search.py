"""Finding the members of a class nobody knows by a few of its items (figures 5, 6).

Codes are learnt on known classes. A novel class is then given by a few examples, and
everything that was not learnt from is ranked by a linear SVM on the codes.
"""

import time
from collections.abc import Callable
from functools import cached_property, lru_cache, partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fewbits.classify import best_scores, learn_class
from fewbits.classify._linear import linear_svm
from fewbits.learners import PiCoDes
from research.common.classic import prepared
from research.common.features import load_features
from research.core.record import Metrics
from research.studies.picodes.novel import (
    MOST_KNOWN,
    N_LEARN,
    N_NOVEL,
    N_TRAIN,
    drawn,
    n_components_of,
    tuned_on,
)

N_TARGETS, N_NEGATIVES = 25, 1000
EXAMPLES = (1, 2, 5, 10, 20)
RANKS = (1, 5, 10, 15, 20, 25, 50, 100, 250)
FLOAT_COST = 100.0  # as codes have it


class Collection:
    """Items of known classes to learn from, and a collection with novel ones in it."""

    experiment = "class_search"

    def __init__(self, name: str, seed: int, n_novel: int = N_NOVEL) -> None:
        self.name, self.seed = name, seed
        self.raw, self.y = load_features(name, 0).joined()
        rng = np.random.default_rng(seed)
        classes, counts = np.unique(self.y, return_counts=True)
        large = counts >= max(EXAMPLES) + N_TARGETS
        enough = classes[large & ~np.isin(classes, tuned_on(name, classes))]
        self.novel = rng.permutation(enough)[:n_novel]
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
        self.rows = rng.permutation(np.concatenate([*targets, *unseen]))

    @property
    def held_out(self) -> NDArray[Any]:
        """The classes to choose parameters on: known ones, as others are searched."""
        return drawn(self.known, N_NOVEL, self.seed)

    @cached_property
    def X(self) -> NDArray[np.float32]:
        """All rows as learners see them."""
        return prepared(self.name, self.raw, self.learn)


@lru_cache(maxsize=1)
def collection_of(*args: Any) -> Collection:
    """Return a collection, the same one for all cells of a seed."""
    return Collection(*args)


def search_metrics(collection: Collection, learner: Any) -> Metrics:
    """Learn codes, or none for the features; search for every novel class."""
    if isinstance(learner, PiCoDes):
        n = n_components_of(collection) or collection.X.shape[1]
        learner.set_params(n_components=n)
    start = time.perf_counter()
    X, y = collection.X, collection.y
    if learner is None:
        rows, learn = _scaled(X, collection.negatives), _from_features
    else:
        encoder = learner.fit(X[collection.learn], y[collection.learn]).encoder_
        rows, learn = encoder.encode(X), partial(_from_codes, n_bits=encoder.n_bits)
    fit_seconds = time.perf_counter() - start
    searched, negatives = rows[collection.rows], rows[collection.negatives]
    precision, seconds = {}, []
    for n in EXAMPLES:
        found = []
        for name in collection.novel:
            start = time.perf_counter()
            scores = learn(rows[collection.examples[name][:n]], negatives)
            learnt = time.perf_counter()
            best = best_scores(scores(searched), max(RANKS))
            seconds.append((learnt - start, time.perf_counter() - learnt))
            hits = np.cumsum(y[collection.rows[best]] == name)
            found.append([hits[k - 1] / k for k in RANKS if k <= len(hits)])
        precision[str(n)] = np.mean(found, axis=0).tolist()
    return {
        "precision": precision,
        "fit_seconds": round(fit_seconds, 2),
        "search_seconds": round(float(np.median(np.sum(seconds, axis=1))), 4),
        "rank_seconds": round(float(np.median(seconds, axis=0)[1]), 4),
        "bytes": searched.nbytes,
        "items": len(searched),
    }


#: From the rows of a collection to how well each fits the examples.
Scores = Callable[[Any], Any]


def _from_codes(examples: Any, negatives: Any, n_bits: int) -> Scores:
    return learn_class(examples, negatives, n_bits).scores


def _scaled(X: NDArray[np.float32], negatives: NDArray[np.int64]) -> Any:
    return X / np.sqrt(np.mean(np.sum(X[negatives] ** 2, axis=1)))


def _from_features(examples: Any, negatives: Any) -> Scores:
    rows = np.concatenate([examples, negatives]).astype(np.float64)
    wanted = np.repeat([1, -1], [len(examples), len(negatives)])
    C = FLOAT_COST / len(rows)  # so large that the dual problem takes 20 times that
    weights, _ = linear_svm(rows, wanted, C, 0, dual=False)
    return partial(np.dot, b=weights.astype(np.float32))

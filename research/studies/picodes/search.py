"""Finding the members of a novel class by a few of its items (figures 5, 6).

Codes are learnt on known classes. A novel class is then given by a few items of a
collection that was not learnt from, which is ranked as `Collection.like` does.
"""

import time
from functools import cached_property, lru_cache, partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

import fewbits
from fewbits.classify import best_scores
from research.common.classic import prepared
from research.common.features import load_features
from research.common.svm import linear_svm
from research.core.record import Metrics
from research.studies.picodes.novel import (
    MOST_KNOWN,
    N_LEARN,
    N_NOVEL,
    N_TRAIN,
    drawn,
    tuned_on,
)

EXAMPLES = (1, 5, 10, 20, 50)
#: Members to be found, as many in each class. Few classes of Caltech-101 have more
#: beside the examples.
N_TARGETS, FEWER_TARGETS = 25, {"caltech101-1280": 10}
RANKS = (1, 5, 10, 15, 20, 25, 50, 100, 250)
N_RANDOM, COST = 1000, 100.0  # the defaults of `Collection.like`


def targets_of(name: str) -> int:
    """Return how many members of a class are to be found."""
    return FEWER_TARGETS.get(name, N_TARGETS)


class Collection:
    """Items of known classes to learn from, and a collection with novel ones in it.

    All items that may be examples are in the collection; none is ranked.
    """

    def __init__(self, name: str, seed: int, n_novel: int = N_NOVEL) -> None:
        self.name, self.seed = name, seed
        self.raw, self.y = load_features(name, 0).joined()
        rng = np.random.default_rng(seed)
        classes, counts = np.unique(self.y, return_counts=True)
        n_targets = targets_of(name)
        large = counts >= max(EXAMPLES) + n_targets
        enough = classes[large & ~np.isin(classes, tuned_on(name, classes))]
        self.novel = rng.permutation(enough)[:n_novel]
        rows = {c: rng.permutation(np.flatnonzero(self.y == c)) for c in classes}
        others = np.setdiff1d(classes, self.novel)
        self.known = drawn(
            np.setdiff1d(others, classes[counts < N_TRAIN]), MOST_KNOWN, seed
        )
        n_learn = {c: N_LEARN if c in self.known else 0 for c in others}
        self.learn = np.concatenate([rows[c][: n_learn[c]] for c in others])
        unseen = [rows[c][n_learn[c] :] for c in others]
        shown = [rows[c][: max(EXAMPLES)] for c in self.novel]
        targets = [rows[c][max(EXAMPLES) :][:n_targets] for c in self.novel]
        # Items with equal scores are ranked by their place: in no order.
        self.rows = rng.permutation(np.concatenate([*shown, *targets, *unseen]))
        self.ranked = ~np.isin(self.rows, shown)
        place = np.full(len(self.y), -1)
        place[self.rows] = np.arange(len(self.rows))
        #: Places among the rows, by class.
        self.examples = {
            c: place[each] for c, each in zip(self.novel, shown, strict=True)
        }

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
    start = time.process_time()  # other processes do not count
    X, y, rows = collection.X, collection.y, collection.rows
    if learner is None:
        items: Any = _scaled(X[rows])
        search, n_bytes = partial(_by_features, items), items[:1].nbytes
    else:
        encoder = learner.fit(X[collection.learn], y[collection.learn]).encoder_
        codes = encoder.encode(X[rows])
        items = fewbits.Collection.create(None, codes=codes, bits=encoder.n_bits)
        search, n_bytes = partial(_by_codes, items), items.codes.shape[1]
    fit_seconds = time.process_time() - start
    precision, seconds = {}, []
    for n in EXAMPLES:
        found = []
        for name in collection.novel:
            start = time.perf_counter()
            best = search(collection.examples[name][:n], collection.ranked)
            seconds.append(time.perf_counter() - start)
            hits = np.cumsum(y[rows[best]] == name)
            found.append([hits[k - 1] / k for k in RANKS if k <= len(hits)])
        precision[str(n)] = np.mean(found, axis=0).tolist()
    return {
        "precision": precision,
        "fit_seconds": round(fit_seconds, 2),
        "search_seconds": round(float(np.median(seconds)), 4),
        "item_bytes": n_bytes,
        "items": len(items),
    }


Rows = NDArray[np.int64]


def _by_codes(
    items: fewbits.Collection, examples: Rows, ranked: NDArray[np.bool_]
) -> Rows:
    found: Rows = items.like(good_ids=examples, k=max(RANKS), allowed=ranked).ids[0]
    return found


def _by_features(
    items: NDArray[np.float32], examples: Rows, ranked: NDArray[np.bool_]
) -> Rows:
    """Search by a linear SVM on the features, with the settings of that on codes."""
    unknown = np.setdiff1d(np.arange(len(items)), examples)
    negatives = np.sort(np.random.default_rng(0).permutation(unknown)[:N_RANDOM])
    n_good, n_bad = len(examples), len(negatives)
    rows = items[np.concatenate([examples, negatives])].astype(np.float64)
    signs = np.repeat([1, -1], [n_good, n_bad])
    # Examples weigh as the root of the others' number, each no less than one of these.
    balance, C = 1.0, COST * n_good**0.5 / len(rows)
    if n_bad > n_good:
        balance = np.log(max(1.0, n_bad**0.5 / n_good)) / np.log(n_bad / n_good)
    # The dual problem takes 20 times as long.
    weights, _ = linear_svm(rows, signs, C, 0, dual=False, balance=balance)
    return best_scores(items @ weights.astype(np.float32), max(RANKS), ranked)


def _scaled(X: NDArray[np.float32]) -> NDArray[np.float32]:
    """Scale rows to a mean squared length of 1, as that of codes is."""
    return X / np.sqrt(np.mean(np.sum(X**2, axis=1)))

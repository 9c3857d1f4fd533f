"""Labelled items in three parts: what is trained on, asked, and ranked."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from research.common import datasets
from research.common.features import (
    NOT_CLASSES,
    first_of_each,
    load_image_features,
    load_texts,
    text_features,
)
from research.common.splits import per_class_split, standard_split

#: Images of each class of Caltech-101 to train on.
N_EACH = 29
#: Words of diagnoses that serve as labels, and the items that have any.
N_WORDS, N_QUERIES, N_TRAIN = 24, 1000, 5000
#: Where in WordNet, counted from the root, the kinds of nouns that are classes lie.
NOUN_DEPTH = 6
#: Items of a class to train on, and to ask with; smaller classes are left out.
N_BLOCK, N_ASKED = 60, 20
#: So that a grid is listed without loading any data.
N_CLASSES = {
    "caltech101": 100,
    "cifar10": 10,
    "digits": 10,
    "icd10": 125,
    "icd10-words": N_WORDS,
    "wordnet": 118,
}


@dataclass(frozen=True, eq=False)
class Problem:
    """Features and labels of three parts; `at` is the length of a ranking."""

    X: NDArray[np.float32]
    labels: NDArray[Any]
    train: NDArray[np.int64]
    query: NDArray[np.int64]
    base: NDArray[np.int64]
    at: int | None = None

    @cached_property
    def classes(self) -> NDArray[Any]:
        """The classes that are trained on."""
        return np.unique(self.labels[self.train])

    def learn(self, learner: Any) -> Any:
        """Train a learner on the items to train on, and return it."""
        return learner.fit(self.X[self.train], self.labels[self.train])


@lru_cache(maxsize=8)  # of images, all share the features
def load_problem(name: str, seed: int) -> Problem:
    """Return one of `N_CLASSES`.

    Caltech-101: 29 images of each class to train, all test images as queries, all
    training images ranked as far as 1,000. CIFAR-10: 500 of each class to train, 100 as
    queries, 54,000 others ranked in full. ICD-10: its blocks of 80 diagnoses or more,
    60 of each to train, 20 as queries, all others ranked as far as 1,000. ICD-10 with
    words: the 24 most common content words of the diagnoses as labels; 5,000 to train,
    1,000 as queries, all others ranked as far as 5,000. WordNet: glosses of the nouns
    below each sense six steps from the root, and digits, in numbers as for the blocks
    of ICD-10. The seed draws what is not given by the data.
    """
    made = {
        "caltech101": _caltech101,
        "cifar10": _cifar10,
        "digits": _digits,
        "icd10": _icd10,
        "icd10-words": _icd10_words,
        "wordnet": _wordnet,
    }
    return made[name](seed)


@lru_cache(maxsize=4)
def choice_problem(name: str, seed: int, asked_by: int) -> Problem:
    """Return the problem of a seed without what is asked for the seeds below another.

    Parameters are chosen on it: no query that is reported is trained on, or held out.
    """
    problem = load_problem(name, seed)
    asked = [load_problem(name, other).query for other in range(asked_by)]
    return replace(problem, train=np.setdiff1d(problem.train, np.concatenate(asked)))


def _caltech101(seed: int) -> Problem:
    data, X = load_image_features("caltech101", "efficientnet-lite0-128")
    labels = data.labels["class"]
    wanted = ~np.isin(labels, NOT_CLASSES)
    train, test = (
        rows[wanted[rows]] for rows in (data.splits["train"], data.splits["test"])
    )
    shuffled = np.random.default_rng(seed).permutation(train)
    few = np.sort(first_of_each(shuffled, labels, N_EACH))
    return Problem(X, labels, few, test, train, 1000)


def _cifar10(seed: int) -> Problem:
    data, X = load_image_features("cifar10", "efficientnet-lite0-96")
    labels = data.labels["class"]
    split = standard_split("cifar10", labels, random_state=seed)
    return Problem(X, labels, split.train, split.query, split.database)


def _digits(seed: int) -> Problem:
    data = datasets.load_digits()
    return _large_classes(data.items, data.labels["class"], seed)


def _icd10(seed: int) -> Problem:
    data, X = load_texts("icd10")
    return _large_classes(X, data.labels["block"], seed)


def _wordnet(seed: int) -> Problem:
    data = datasets.load_wordnet()
    paths = hypernym_paths(data)
    rows = [row for row, path in enumerate(paths) if len(path) > NOUN_DEPTH]
    kinds = np.array([paths[row][NOUN_DEPTH] for row in rows])
    return _large_classes(text_features(data.items[row] for row in rows), kinds, seed)


def hypernym_paths(
    nouns: datasets.Dataset, keys: Sequence[str] | None = None
) -> list[tuple[str, ...]]:
    """Return the senses of WordNet that lead from the root to each, itself included."""
    above = dict(zip(nouns.keys, nouns.labels["hypernym"].tolist(), strict=True))
    paths: dict[str, tuple[str, ...]] = {"": ()}
    for key in above if keys is None else keys:
        missing = []
        while key not in paths:
            missing.append(key)
            key = above[key]
        for sense in reversed(missing):
            paths[sense] = (*paths[above[sense]], sense)
    return [paths[key] for key in (nouns.keys if keys is None else keys)]


def _large_classes(X: NDArray[np.float32], labels: NDArray[Any], seed: int) -> Problem:
    """Return the items of large classes, as many of each to learn from."""
    names, counts = np.unique(labels, return_counts=True)
    large = np.flatnonzero(np.isin(labels, names[counts >= N_BLOCK + N_ASKED]))
    split = per_class_split(
        labels[large], query=N_ASKED, train=N_BLOCK, random_state=seed
    )
    query = large[split.query]
    base = np.setdiff1d(large, query)
    return Problem(X, labels, large[split.train], query, base, 1000)


def _icd10_words(seed: int) -> Problem:
    data, X = load_texts("icd10")
    labels = word_labels(data.items)
    labelled = np.flatnonzero(labels.any(axis=1))
    order = np.random.default_rng(seed).permutation(labelled)
    query, train = order[:N_QUERIES], order[N_QUERIES : N_QUERIES + N_TRAIN]
    return Problem(X, labels, train, query, order[N_QUERIES:], 5000)


def word_labels(texts: Sequence[str]) -> NDArray[np.int64]:
    """Return 1 for each of the most common long words that a text has."""
    words = [{word.strip(",.()[]") for word in text.lower().split()} for text in texts]
    counts = Counter(word for found in words for word in found if len(word) > 4)
    common = sorted(counts.items(), key=lambda entry: (-entry[1], entry[0]))
    chosen = [word for word, _ in common[:N_WORDS]]
    return np.array([[word in found for word in chosen] for found in words], np.int64)

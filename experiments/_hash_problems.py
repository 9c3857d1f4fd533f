"""Data of the deep-hashing experiments: what is trained on, asked, and ranked."""

from collections import Counter
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from experiments._features import load_image_features
from fewbits import backbones, datasets
from fewbits.evaluation import per_class_split, standard_split

NOT_CLASSES = ("BACKGROUND_Google", "Faces_easy")
N_EACH = 29
#: Words of diagnoses that serve as labels, and how common they must be.
N_WORDS, N_QUERIES, N_TRAIN = 24, 1000, 5000
#: Where in WordNet, counted from the root, the kinds of nouns that are classes lie.
NOUN_DEPTH = 6
#: Texts of a block, or of a kind of nouns, to train on, and to ask with; smaller
#: ones are left out.
N_BLOCK, N_ASKED = 60, 20


@dataclass(frozen=True, eq=False)
class HashProblem:
    """Features and labels of three parts; `at` is the length of a ranking."""

    X: NDArray[np.float32]
    labels: NDArray[Any]
    train: NDArray[np.int64]
    query: NDArray[np.int64]
    base: NDArray[np.int64]
    at: int | None


@lru_cache(maxsize=8)  # of images, all share the features
def load_problem(name: str, seed: int) -> HashProblem:
    """Return one of ``caltech101 cifar10 icd10 icd10-words wordnet``.

    Caltech-101: 29 images of each class to train, all test images as queries, all
    training images ranked as far as 1,000. CIFAR-10: 500 of each class to train, 100 as
    queries, 54,000 others ranked in full. ICD-10: its blocks of 80 diagnoses or more,
    60 of each to train, 20 as queries, all others ranked as far as 1,000. ICD-10 with
    words: the 24 most common content words of the diagnoses as labels; 5,000 to train,
    1,000 as queries, all others ranked as far as 5,000. WordNet: glosses of the nouns
    below each sense six steps from the root, in numbers as for the blocks of ICD-10.
    The seed draws what is not given by the data.
    """
    made = {
        "caltech101": _caltech101,
        "cifar10": _cifar10,
        "icd10": _icd10_blocks,
        "icd10-words": _icd10_words,
        "wordnet": _wordnet,
    }
    return made[name](np.random.default_rng(seed), seed)


@lru_cache(maxsize=4)
def choice_problem(name: str, seed: int, asked_by: int) -> HashProblem:
    """Return the problem of a seed without what is asked for the seeds below another.

    Parameters are chosen on it: no query that is reported is trained on, or held out.
    """
    problem = load_problem(name, seed)
    asked = [load_problem(name, other).query for other in range(asked_by)]
    return replace(problem, train=np.setdiff1d(problem.train, np.concatenate(asked)))


def _caltech101(rng: np.random.Generator, seed: int) -> HashProblem:
    data, X = load_image_features("caltech101", "efficientnet-lite0-128")
    labels = data.labels["class"]
    wanted = ~np.isin(labels, NOT_CLASSES)
    train, test = (
        rows[wanted[rows]] for rows in (data.splits["train"], data.splits["test"])
    )
    shuffled = rng.permutation(train)
    order = shuffled[np.argsort(labels[shuffled], kind="stable")]
    _, first = np.unique(labels[order], return_index=True)
    place = np.arange(len(order)) - np.repeat(first, np.diff([*first, len(order)]))
    return HashProblem(X, labels, np.sort(order[place < N_EACH]), test, train, 1000)


def _cifar10(rng: np.random.Generator, seed: int) -> HashProblem:
    data, X = load_image_features("cifar10", "efficientnet-lite0-96")
    labels = data.labels["class"]
    split = standard_split("cifar10", labels, random_state=seed)
    return HashProblem(X, labels, split.train, split.query, split.database, None)


def _icd10_blocks(rng: np.random.Generator, seed: int) -> HashProblem:
    data = datasets.load_icd10()
    return _many_texts(data.items, data.labels["block"], seed)


def _wordnet(rng: np.random.Generator, seed: int) -> HashProblem:
    data = datasets.load_wordnet()
    paths = datasets.hypernym_paths(data)
    rows = [row for row, path in enumerate(paths) if len(path) > NOUN_DEPTH]
    kinds = np.array([paths[row][NOUN_DEPTH] for row in rows])
    return _many_texts([data.items[row] for row in rows], kinds, seed)


def _many_texts(texts: list[str], labels: NDArray[Any], seed: int) -> HashProblem:
    """Return the texts of large classes, as many of each to learn from."""
    X = backbones.load("wordllama-256").extract(texts)
    names, counts = np.unique(labels, return_counts=True)
    large = np.flatnonzero(np.isin(labels, names[counts >= N_BLOCK + N_ASKED]))
    split = per_class_split(
        labels[large], query=N_ASKED, train=N_BLOCK, random_state=seed
    )
    query = large[split.query]
    base = np.setdiff1d(large, query)
    return HashProblem(X, labels, large[split.train], query, base, 1000)


def _icd10_words(rng: np.random.Generator, seed: int) -> HashProblem:
    data = datasets.load_icd10()
    X = backbones.load("wordllama-256").extract(data.items)
    labels = word_labels(data.items)
    order = rng.permutation(np.flatnonzero(labels.any(axis=1)))
    query, train = order[:N_QUERIES], order[N_QUERIES : N_QUERIES + N_TRAIN]
    return HashProblem(X, labels, train, query, order[N_QUERIES:], 5000)


def word_labels(texts: list[str]) -> NDArray[np.int64]:
    """Return 1 for each of the most common long words that a text has."""
    words = [{word.strip(",.()[]") for word in text.lower().split()} for text in texts]
    counts = Counter(word for found in words for word in found if len(word) > 4)
    chosen = [word for word, _ in sorted(counts.items(), key=_rank)[:N_WORDS]]
    return np.array([[word in found for word in chosen] for found in words], np.int64)


def _rank(entry: tuple[str, int]) -> tuple[int, str]:
    return -entry[1], entry[0]

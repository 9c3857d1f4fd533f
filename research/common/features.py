"""Real features with a split into a database to learn from and queries."""

import hashlib
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fewbits import backbones
from research.common import datasets
from research.common.classic import Gist, classic_features, some_of_each
from research.common.vlad import Vlad

N_QUERIES = 1000
#: Queries of seed 0 were in view on two sets when `NeighbourCodes` were made
#: (docs/decisions/learners-neighbour-codes.md).
UNSEEN_SEEDS = (1, 2, 3)
NOT_CLASSES = ("BACKGROUND_Google", "Faces_easy")
TITLES = {
    "icd10": "ICD-10",
    "wordnet": "WordNet",
    "icd10-words": "ICD-10 words",
    "caltech101": "Caltech-101",
    "caltech101-1280": "Caltech-101",
    "caltech101-classic": "Caltech-101 classic",
    "caltech101-gist": "Caltech-101 GIST",
    "caltech101-vlad": "Caltech-101 VLAD",
    "caltech101-5120": "Caltech-101 2x2",
    "caltech101-11520": "Caltech-101 3x3",
    "caltech101+cifar10": "Caltech-101 + CIFAR-10",
    "glove": "GloVe",
    "cifar10": "CIFAR-10",
    "cifar10-pixels": "CIFAR-10 from pixels",
    "fashion-mnist": "Fashion-MNIST",
    "digits": "digits",
}
#: Rows of the database and features, so that a grid is listed without loading any.
SHAPES = {
    "icd10": (73_724, 256),
    "wordnet": (0, 256),
    "caltech101-1280": (5_494, 1_280),
    "caltech101-gist": (5_494, 960),
    "caltech101-vlad": (5_494, 8_192),
    "caltech101-5120": (5_494, 5_120),
    "caltech101-11520": (5_494, 11_520),
    "caltech101+cifar10": (55_494, 1_280),
    "glove": (399_000, 50),
    "cifar10": (50_000, 1_280),
    "fashion-mnist": (60_000, 784),
    "digits": (1_498, 64),
}
CALTECH = {
    "caltech101-1280": "efficientnet-lite0-128",
    "caltech101-5120": "efficientnet-lite0-128-2x2",
    "caltech101-11520": "efficientnet-lite0-128-3x3",
    "caltech101-gist": "gist",
    "caltech101-vlad": "vlad",
}


@dataclass(frozen=True, eq=False)
class FeatureSet:
    """Features and labels on both sides; queries are in no database.

    The labels of a set that has none are empty.
    """

    database: NDArray[np.float32]
    queries: NDArray[np.float32]
    database_labels: NDArray[Any]
    query_labels: NDArray[Any]

    def joined(self) -> tuple[NDArray[np.float32], NDArray[Any]]:
        """Return features and labels of both sides."""
        return (
            np.concatenate([self.database, self.queries]),
            np.concatenate([self.database_labels, self.query_labels]),
        )


@dataclass(frozen=True)
class Draw:
    """The queries: up to `n_queries` that `seed` draws; see `load_features`."""

    seed: int
    n_queries: int

    def queries(self, rows: NDArray[np.int64]) -> NDArray[np.int64]:
        """Draw from rows that are in no database."""
        return np.random.default_rng(self.seed).permutation(rows)[: self.n_queries]


@lru_cache(maxsize=1)  # experiments draw again and again from the same items
def load_features(name: str, seed: int, n_queries: int = N_QUERIES) -> FeatureSet:
    """Return features by name, with up to `n_queries` queries that `seed` draws.

    Of sets with test images, every seed draws from the same ones, so that seeds share
    queries.

    ``caltech101-`` with ``1280``, ``5120`` or ``11520``, ``cifar10`` and
    ``fashion-mnist`` (pixels): queries are test images, the database is the training
    images. ``caltech101+cifar10``: CIFAR-10's training images join the database as
    distractors, none of which is an answer. ``caltech101-classic``: some images of each
    class, the same for every seed. ``icd10``, ``wordnet``, ``glove`` and
    ``digits``: all items but the queries are the database; GloVe has no labels.
    """
    draw = Draw(seed, n_queries)
    if name == "caltech101-classic":
        return _classic()
    if name in CALTECH:
        return _caltech101(CALTECH[name], draw)
    return _OTHERS[name](draw)


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


@lru_cache(maxsize=2)
def load_image_features(
    name: str, backbone: str
) -> tuple[datasets.Dataset, NDArray[np.float32]]:
    """Return a data set of images and its features, which are kept on the disk."""
    data = datasets.load(name)
    model = _backbone(backbone, data)
    key = hashlib.sha256("\n".join(data.keys).encode()).hexdigest()[:16]
    features = backbones.cached_features(model, data.items, key)
    return data, np.asarray(features)


def _backbone(name: str, data: datasets.Dataset) -> backbones.Backbone:
    """Return a backbone of the package, or one that only studies have."""
    if name == "vlad":
        return Vlad(data)
    return Gist() if name == "gist" else backbones.load(name)


def load_texts(name: str) -> tuple[datasets.Dataset, NDArray[np.float32]]:
    """Return a data set of texts and its features."""
    data = datasets.load(name)
    return data, text_features(data.items)


def text_features(texts: Iterable[str]) -> NDArray[np.float32]:
    """Return the features of texts."""
    return backbones.load("wordllama-256").extract(list(texts))


def _texts(draw: Draw, name: str, label: str) -> FeatureSet:
    data, features = load_texts(name)
    return _random_split(features, data.labels[label], draw)


def _glove(draw: Draw) -> FeatureSet:
    vectors = datasets.load_glove(memory_map=False).items
    found = _random_split(vectors, np.zeros(len(vectors)), draw)
    none = np.empty(0)
    return replace(found, database_labels=none, query_labels=none)


def _digits(draw: Draw) -> FeatureSet:
    data = datasets.load_digits()
    draw = replace(draw, n_queries=min(draw.n_queries, len(data) // 6))
    return _random_split(data.items, data.labels["class"], draw)


def _fashion_mnist(draw: Draw) -> FeatureSet:
    data = datasets.load_fashion_mnist()
    pixels = data.items.array.reshape(len(data), -1) / np.float32(255)
    return _drawn_from_test(data, pixels, draw)


def _cifar10(draw: Draw) -> FeatureSet:
    data, features = load_image_features("cifar10", "efficientnet-lite0-96")
    return _drawn_from_test(data, features, draw)


def _among_cifar10(draw: Draw) -> FeatureSet:
    found = _caltech101(CALTECH["caltech101-1280"], draw)
    # By the same backbone as the answers, or that would distinguish them.
    others, features = load_image_features("cifar10", CALTECH["caltech101-1280"])
    rows = others.splits["train"]
    labels = np.char.add("CIFAR-10 ", others.labels["class"][rows])
    return replace(
        found,
        database=np.concatenate([found.database, features[rows]]),
        database_labels=np.concatenate([found.database_labels, labels]),
    )


def _caltech101(backbone: str, draw: Draw) -> FeatureSet:
    data, features = load_image_features("caltech101", backbone)
    wanted = ~np.isin(data.labels["class"], NOT_CLASSES)
    splits = {name: rows[wanted[rows]] for name, rows in data.splits.items()}
    return _drawn_from_test(replace(data, splits=splits), features, draw)


def _classic() -> FeatureSet:
    data = datasets.load("caltech101")
    labels = data.labels["class"]
    rows = some_of_each(labels, NOT_CLASSES)
    features = classic_features(data, rows)
    database, queries = (
        np.flatnonzero(np.isin(rows, data.splits[split])) for split in ("train", "test")
    )
    return _split(features, labels[rows], database, queries)


def _random_split(
    features: NDArray[np.float32], labels: NDArray[Any], draw: Draw
) -> FeatureSet:
    order = np.random.default_rng(draw.seed).permutation(len(features))
    n_queries = draw.n_queries
    return _split(features, labels, order[n_queries:], order[:n_queries])


def _drawn_from_test(
    data: datasets.Dataset, features: NDArray[np.float32], draw: Draw
) -> FeatureSet:
    queries = draw.queries(data.splits["test"])
    return _split(features, data.labels["class"], data.splits["train"], queries)


def _split(
    features: NDArray[np.float32],
    labels: NDArray[Any],
    database: NDArray[np.int64],
    queries: NDArray[np.int64],
) -> FeatureSet:
    return FeatureSet(
        features[database], features[queries], labels[database], labels[queries]
    )


_OTHERS: dict[str, Callable[[Draw], FeatureSet]] = {
    "icd10": partial(_texts, name="icd10", label="block"),
    "wordnet": partial(_texts, name="wordnet", label="domain"),
    "cifar10": _cifar10,
    "caltech101+cifar10": _among_cifar10,
    "glove": _glove,
    "fashion-mnist": _fashion_mnist,
    "digits": _digits,
}

"""Real features with a split into a database to learn from and queries."""

import hashlib
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from experiments._classic_features import classic_features, some_of_each
from fewbits import backbones, datasets

N_QUERIES = 1000
NOT_CLASSES = ("BACKGROUND_Google", "Faces_easy")
CALTECH = {
    "caltech101-1280": "efficientnet-lite0-128",
    "caltech101-5120": "efficientnet-lite0-128-2x2",
    "caltech101-11520": "efficientnet-lite0-128-3x3",
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


@lru_cache(maxsize=1)  # experiments draw again and again from the same items
def load_features(name: str, seed: int, n_queries: int = N_QUERIES) -> FeatureSet:
    """Return features by name, with up to `n_queries` queries that `seed` draws.

    ``caltech101-`` with ``1280``, ``5120`` or ``11520``, ``cifar10`` and
    ``fashion-mnist`` (pixels): queries are test images, the database is the training
    images. ``caltech101+cifar10``: CIFAR-10's training images join the database as
    distractors, none of which is an answer. ``icd10``, ``glove`` and ``digits``: all
    items but the queries are the database; GloVe has no labels.
    ``caltech101-classic``: some images of each class, the same for every seed.
    """
    if name == "caltech101-classic":
        return _classic()
    if name in CALTECH:
        return _caltech101(CALTECH[name], seed, n_queries)
    return _OTHERS[name](seed, n_queries)


def load_image_features(
    name: str, backbone: str
) -> tuple[datasets.Dataset, NDArray[np.float32]]:
    """Return a data set of images and its features, which are kept on the disk."""
    data = datasets.load(name)
    key = hashlib.sha256("\n".join(data.keys).encode()).hexdigest()[:16]
    features = backbones.cached_features(backbones.load(backbone), data.items, key)
    return data, np.asarray(features)


def _icd10(seed: int, n_queries: int) -> FeatureSet:
    data = datasets.load_icd10()
    features = backbones.load("wordllama-256").extract(data.items)
    return _random_split(features, data.labels["block"], seed, n_queries)


def _glove(seed: int, n_queries: int) -> FeatureSet:
    vectors = datasets.load_glove(memory_map=False).items
    found = _random_split(vectors, np.zeros(len(vectors)), seed, n_queries)
    none = np.empty(0)
    return replace(found, database_labels=none, query_labels=none)


def _digits(seed: int, n_queries: int) -> FeatureSet:
    data = datasets.load_digits()
    n_queries = min(n_queries, len(data) // 6)
    return _random_split(data.items, data.labels["class"], seed, n_queries)


def _fashion_mnist(seed: int, n_queries: int) -> FeatureSet:
    data = datasets.load_fashion_mnist()
    pixels = data.items.array.reshape(len(data), -1) / np.float32(255)
    return _drawn_from_test(data, pixels, seed, n_queries)


def _cifar10(seed: int, n_queries: int) -> FeatureSet:
    data, features = load_image_features("cifar10", "efficientnet-lite0-96")
    return _drawn_from_test(data, features, seed, n_queries)


def _among_cifar10(seed: int, n_queries: int) -> FeatureSet:
    found = _caltech101(CALTECH["caltech101-1280"], seed, n_queries)
    # By the same backbone as the answers, or that would tell them apart.
    others, features = load_image_features("cifar10", CALTECH["caltech101-1280"])
    rows = others.splits["train"]
    labels = np.char.add("CIFAR-10 ", others.labels["class"][rows])
    return replace(
        found,
        database=np.concatenate([found.database, features[rows]]),
        database_labels=np.concatenate([found.database_labels, labels]),
    )


def _caltech101(backbone: str, seed: int, n_queries: int) -> FeatureSet:
    data, features = load_image_features("caltech101", backbone)
    wanted = ~np.isin(data.labels["class"], NOT_CLASSES)
    splits = {name: rows[wanted[rows]] for name, rows in data.splits.items()}
    return _drawn_from_test(replace(data, splits=splits), features, seed, n_queries)


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
    features: NDArray[np.float32], labels: NDArray[Any], seed: int, n_queries: int
) -> FeatureSet:
    order = np.random.default_rng(seed).permutation(len(features))
    return _split(features, labels, order[n_queries:], order[:n_queries])


def _drawn_from_test(
    data: datasets.Dataset, features: NDArray[np.float32], seed: int, n_queries: int
) -> FeatureSet:
    order = np.random.default_rng(seed).permutation(data.splits["test"])
    labels = data.labels["class"]
    return _split(features, labels, data.splits["train"], order[:n_queries])


def _split(
    features: NDArray[np.float32],
    labels: NDArray[Any],
    database: NDArray[np.int64],
    queries: NDArray[np.int64],
) -> FeatureSet:
    return FeatureSet(
        features[database], features[queries], labels[database], labels[queries]
    )


_OTHERS: dict[str, Callable[[int, int], FeatureSet]] = {
    "icd10": _icd10,
    "cifar10": _cifar10,
    "caltech101+cifar10": _among_cifar10,
    "glove": _glove,
    "fashion-mnist": _fashion_mnist,
    "digits": _digits,
}

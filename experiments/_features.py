"""Real features with a split into a database to learn from and queries."""

import hashlib
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from experiments._classic_features import classic_features, some_of_each
from fewbits import backbones, datasets

N_QUERIES = 1000
NOT_CLASSES = ("BACKGROUND_Google", "Faces_easy")


@dataclass(frozen=True, eq=False)
class FeatureSet:
    """Features and labels on both sides; queries are in no database."""

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


def load_features(name: str, seed: int, n_queries: int = N_QUERIES) -> FeatureSet:
    """Return ``icd10``, or ``caltech101-`` with ``1280``, ``5120`` or ``classic``.

    Of ICD-10 and Caltech-101's test images up to `n_queries` drawn by `seed` are the
    queries; the database is the other diagnoses, or Caltech-101's training images. Of
    classic descriptors there are some of each class, the same for every seed.
    """
    if name == "icd10":
        return _icd10(seed, n_queries)
    if name == "caltech101-classic":
        return _classic()
    return _caltech101(int(name.removeprefix("caltech101-")), seed, n_queries)


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
    order = np.random.default_rng(seed).permutation(len(features))
    return _split(features, data.labels["block"], order[n_queries:], order[:n_queries])


def _caltech101(width: int, seed: int, n_queries: int) -> FeatureSet:
    name = {1280: "efficientnet-lite0-128", 5120: "efficientnet-lite0-128-2x2"}[width]
    data, features = load_image_features("caltech101", name)
    labels = data.labels["class"]
    wanted = ~np.isin(labels, NOT_CLASSES)
    train, test = (
        rows[wanted[rows]] for rows in (data.splits["train"], data.splits["test"])
    )
    drawn = np.random.default_rng(seed).permutation(test)[:n_queries]
    return _split(features, labels, train, drawn)


def _classic() -> FeatureSet:
    data = datasets.load("caltech101")
    labels = data.labels["class"]
    rows = some_of_each(labels, NOT_CLASSES)
    features = classic_features(data, rows)
    database, queries = (
        np.flatnonzero(np.isin(rows, data.splits[split])) for split in ("train", "test")
    )
    return _split(features, labels[rows], database, queries)


def _split(
    features: NDArray[np.float32],
    labels: NDArray[Any],
    database: NDArray[np.int64],
    queries: NDArray[np.int64],
) -> FeatureSet:
    return FeatureSet(
        features[database], features[queries], labels[database], labels[queries]
    )

"""Real features with a split into a database to learn from and queries."""

import hashlib
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

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


def load_features(name: str, seed: int) -> FeatureSet:
    """Return ``icd10``, ``caltech101-1280`` or ``caltech101-5120``.

    Of ICD-10 and Caltech-101's test images 1,000 drawn by `seed` are the queries; the
    database is the other diagnoses, or Caltech-101's training images.
    """
    if name == "icd10":
        return _icd10(seed)
    return _caltech101(int(name.removeprefix("caltech101-")), seed)


def _icd10(seed: int) -> FeatureSet:
    data = datasets.load_icd10()
    features = backbones.load("wordllama-256").extract(data.items)
    order = np.random.default_rng(seed).permutation(len(features))
    return _split(features, data.labels["block"], order[N_QUERIES:], order[:N_QUERIES])


def _caltech101(width: int, seed: int) -> FeatureSet:
    data = datasets.load("caltech101")
    name = {1280: "efficientnet-lite0-128", 5120: "efficientnet-lite0-128-2x2"}[width]
    key = hashlib.sha256("\n".join(data.keys).encode()).hexdigest()[:16]
    features = backbones.cached_features(backbones.load(name), data.items, key)
    labels = data.labels["class"]
    wanted = ~np.isin(labels, NOT_CLASSES)
    train, test = (
        rows[wanted[rows]] for rows in (data.splits["train"], data.splits["test"])
    )
    drawn = np.random.default_rng(seed).permutation(test)[:N_QUERIES]
    return _split(np.asarray(features), labels, train, drawn)


def _split(
    features: NDArray[np.float32],
    labels: NDArray[Any],
    database: NDArray[np.int64],
    queries: NDArray[np.int64],
) -> FeatureSet:
    return FeatureSet(
        features[database], features[queries], labels[database], labels[queries]
    )

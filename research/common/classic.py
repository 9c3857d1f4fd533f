"""Classic descriptors of Caltech-101, and what the PiCoDes paper does to features."""

import hashlib
from collections.abc import Collection
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fewbits.backbones import Backbone, cached_features
from fewbits.backbones._base import cache_folder
from fewbits.datasets import Dataset
from fewbits.encoders import KernelMap
from fewbits.learners._core._rows import line_spans
from research.common.classic_descriptors import ClassicDescriptors
from research.common.descriptors import as_image, colour_gist

#: Images of a class, as many as searches by example need. Looking at all of the large
#: classes would take twice as long.
N_EACH = 45
WORDS = "caltech101-background-words.safetensors"
KERNEL = "intersection"
#: Of the learning rows, held by the directions that are kept.
VARIANCE = 0.95

Features = NDArray[np.float32]


def is_classic(name: str) -> bool:
    """Return whether a set of features is of classic descriptors."""
    return name.endswith("-classic")


def some_of_each(labels: NDArray[Any], leave_out: Collection[str]) -> NDArray[np.int64]:
    """Return up to `N_EACH` rows of each class, rising, the same ones every time."""
    order = np.random.default_rng(0).permutation(len(labels))
    classes = np.setdiff1d(labels, list(leave_out))
    return np.sort(
        np.concatenate([order[labels[order] == c][:N_EACH] for c in classes])
    )


class Gist(Backbone):
    """GIST by itself: 960 numbers, as many as in the paper on sparse projections."""

    id, kind, n_features = "gist", "images", 960
    fingerprint = "gist"

    def extract(self, items: Any, *, progress: Any = None) -> Features:
        """Return a row for each image."""
        return np.array([colour_gist(as_image(item)) for item in items], np.float32)


def classic_features(data: Dataset, rows: NDArray[np.int64]) -> Features:
    """Return the descriptors of some images, from the disk the second time."""
    items = [data.items[row] for row in rows]
    names = "\n".join(data.keys[row] for row in rows)
    key = hashlib.sha256(names.encode()).hexdigest()[:16]
    return cached_features(_backbone(data), items, key)


def _backbone(data: Dataset) -> ClassicDescriptors:
    """Return descriptors whose words come from images that belong to no class."""
    path = cache_folder() / WORDS
    if path.exists():
        return ClassicDescriptors.load(path)
    images = [data.items[row] for row in data.splits["background"]]
    found = ClassicDescriptors.learn(images, random_state=0)
    found.save(path)
    return found


def kinds_of(X: Features) -> dict[str, Features]:
    """Return the columns of each kind of descriptor."""
    return {name: X[:, columns] for name, columns in ClassicDescriptors.parts.items()}


def prepared(name: str, X: Features, learn: NDArray[np.int64]) -> Features:
    """Return the features that learners see; classic ones are reduced.

    Parameters
    ----------
    name : str
        Of the set of features.
    learn : ndarray of int
        Rows that may be learnt from.
    """
    return reduced(X, learn) if is_classic(name) else X


def reduced(X: Features, learn: NDArray[np.int64]) -> Features:
    """Return the principal components of the rows behind a homogeneous kernel map.

    A few thousand rows have 68,580 mapped features, so the components come from the
    products of rows, and are never written down: a row is projected through its
    products with the learning rows.
    """
    kernel = KernelMap(KERNEL, 1, 1.0, None, False)
    Z = kernel(X[learn])
    mean = Z.mean(axis=0, dtype=np.float64).astype(np.float32)
    Z -= mean
    axes = leading((Z @ Z.T).astype(np.float64))
    rows = np.empty((len(X), axes.shape[1]), np.float32)
    for span in line_spans(len(X), Z.shape[1], least=1):
        rows[span] = (kernel(X[span]) - mean) @ Z.T @ axes
    return rows


def leading(gram: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return coefficients of the fewest unit directions that hold enough variance.

    `gram` are the products of centred rows; a direction is the sum of the rows,
    weighted by a column.
    """
    scatter, vectors = np.linalg.eigh(gram)
    scatter, vectors = np.maximum(scatter[::-1], 0), vectors[:, ::-1]
    shares = np.cumsum(scatter) / scatter.sum()
    k = int(np.searchsorted(shares, VARIANCE)) + 1
    found: NDArray[np.float64] = vectors[:, :k] / np.sqrt(scatter[:k])
    return found

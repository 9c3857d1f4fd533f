"""Classic descriptors of Caltech-101, and what the PiCoDes paper does to features."""

import hashlib
from collections.abc import Collection
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.distance import cdist
from sklearn.cluster import KMeans

from fewbits.backbones import Backbone, ClassicDescriptors, cached_features
from fewbits.backbones._cache import cache_folder
from fewbits.backbones._classic_gist import colour_gist
from fewbits.backbones._classic_image import as_grey, as_image
from fewbits.backbones._classic_sift import dense_sift
from fewbits.datasets import Dataset
from fewbits.learners import HomogeneousKernelMap
from fewbits.learners._core._rows import line_spans

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


class OneDescriptor(Backbone):
    """GIST (960 numbers), or VLAD: how SIFT descriptors lie about 16 words (2,048).

    VLAD as of Jegou et al., 2010: sums of differences from the nearest word, the root
    of each with its sign, of length 1. Words are clusters of SIFT descriptors of images
    that belong to no class.
    """

    kind = "images"

    def __init__(self, name: str, data: Dataset) -> None:
        self.id, self.n_features = name, {"gist": 960, "vlad": 2048}[name]
        self.background = [data.items[row] for row in data.splits["background"]]

    @property
    def fingerprint(self) -> str:
        return f"{self.id}, {len(self.background)} images without a class"

    @cached_property
    def words(self) -> Features:
        found = [self._sift(item)[::20] for item in self.background]
        clusters = KMeans(16, n_init=1, random_state=0).fit(np.concatenate(found))
        words: Features = clusters.cluster_centers_
        return words

    def extract(self, items: Any, *, progress: Any = None) -> Features:
        describe = self._vlad if self.id == "vlad" else self._gist
        return np.array([describe(item) for item in items], np.float32)

    def _gist(self, item: Any) -> NDArray[Any]:
        return colour_gist(as_image(item))

    def _sift(self, item: Any) -> Features:
        return dense_sift(as_grey(as_image(item))).vectors

    def _vlad(self, item: Any) -> NDArray[Any]:
        vectors = self._sift(item)
        nearest = cdist(vectors, self.words).argmin(axis=1)
        sums = np.zeros(self.words.shape)
        np.add.at(sums, nearest, vectors - self.words[nearest])
        roots = np.sign(sums) * np.sqrt(np.abs(sums))
        found: NDArray[Any] = roots.ravel() / max(float(np.linalg.norm(roots)), 1e-9)
        return found


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
    kernel = HomogeneousKernelMap(KERNEL)
    Z = kernel.fit_transform(X[learn])
    mean = Z.mean(axis=0, dtype=np.float64).astype(np.float32)
    Z -= mean
    axes = leading((Z @ Z.T).astype(np.float64))
    rows = np.empty((len(X), axes.shape[1]), np.float32)
    for span in line_spans(len(X), Z.shape[1], least=1):
        rows[span] = (kernel.transform(X[span]) - mean) @ Z.T @ axes
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

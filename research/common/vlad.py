"""VLAD: how the SIFT descriptors of an image lie about the words next to them.

Jegou, Douze, Schmid and Perez, "Aggregating local descriptors into a compact image
representation", CVPR 2010.
"""

from collections.abc import Sequence
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.cluster import KMeans

from fewbits.backbones import Backbone
from fewbits.datasets import Dataset
from research.common.classic_descriptors import nearest
from research.common.descriptors import (
    SIFT_LENGTH,
    as_grey,
    as_image,
    dense_sift,
    for_each,
)

Features = NDArray[np.float32]

N_WORDS = 64
#: Training images that words are learnt from, and descriptors of each.
N_IMAGES, N_EACH = 1000, 60


class Vlad(Backbone):
    """Image to 64 x 128 numbers of length 1: sums of differences from words.

    SIFT descriptors of a grid each belong to the nearest word. Words are the centres of
    k-means clusters of such descriptors of training images.

    Parameters
    ----------
    data : Dataset
        Whose training images words are learnt from.
    """

    id, kind, n_features = "vlad", "images", N_WORDS * SIFT_LENGTH
    fingerprint = f"vlad, {N_WORDS} words, version 1"

    def __init__(self, data: Dataset) -> None:
        self._data = data

    @cached_property
    def words(self) -> Features:
        """The words, learnt when they are first needed."""
        rng = np.random.default_rng(0)
        rows = rng.permutation(self._data.splits["train"])[:N_IMAGES]
        images = [self._data.items[row] for row in rows]
        found = [rng.permutation(each)[:N_EACH] for each in for_each(_sift, images)]
        clusters = KMeans(N_WORDS, n_init=1, random_state=0).fit(np.concatenate(found))
        words: Features = clusters.cluster_centers_.astype(np.float32)
        return words

    def extract(self, items: Sequence[Any], *, progress: Any = None) -> Features:
        """Return a row for each image."""
        words = self.words
        rows = (vlad(each, words) for each in for_each(_sift, items, progress))
        return np.array(list(rows), np.float32).reshape(len(items), self.n_features)


def vlad(vectors: Features, words: Features) -> Features:
    """Return the sums of differences from the nearest words, of length 1 together.

    No descriptors give zeros.
    """
    found = nearest(vectors, words)
    sums = np.zeros(words.shape, np.float64)
    np.add.at(sums, found, vectors - words[found])
    length = float(np.linalg.norm(sums)) or 1.0
    return (sums.ravel() / length).astype(np.float32)


def _sift(item: Any) -> Features:
    return dense_sift(as_grey(as_image(item))).vectors

"""Classic descriptors of Caltech-101: what the PiCoDes and DBC papers learn from."""

import hashlib
from collections.abc import Collection
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fewbits.backbones import ClassicDescriptors, cached_features
from fewbits.backbones._cache import cache_folder
from fewbits.datasets._base import Dataset

#: Images of a class, as many as `experiments.class_search` needs. Looking at all of
#: the large classes would take twice as long.
N_EACH = 45
WORDS = "caltech101-background-words.safetensors"


def is_classic(name: str) -> bool:
    """Whether a set of features is of classic descriptors."""
    return name.endswith("-classic")


def some_of_each(labels: NDArray[Any], leave_out: Collection[str]) -> NDArray[np.int64]:
    """Return up to `N_EACH` rows of each class, rising, the same ones every time."""
    order = np.random.default_rng(0).permutation(len(labels))
    classes = np.setdiff1d(labels, list(leave_out))
    return np.sort(
        np.concatenate([order[labels[order] == c][:N_EACH] for c in classes])
    )


def classic_features(data: Dataset, rows: NDArray[np.int64]) -> NDArray[np.float32]:
    """Return the descriptors of some images, from the disk the second time."""
    items = [data.items[row] for row in rows]
    names = "\n".join(data.keys[row] for row in rows)
    key = hashlib.sha256(names.encode()).hexdigest()[:16]
    return cached_features(backbone(data), items, key)


def backbone(data: Dataset) -> ClassicDescriptors:
    """Return descriptors whose words come from images that belong to no class."""
    path = cache_folder() / WORDS
    if path.exists():
        return ClassicDescriptors.load(path)
    images = [data.items[row] for row in data.splits["background"]]
    found = ClassicDescriptors.learn(images, random_state=0)
    found.save(path)
    return found


def parts_of(X: NDArray[np.float32]) -> dict[str, NDArray[np.float32]]:
    """Return the columns of each kind of descriptor."""
    return {name: X[:, columns] for name, columns in ClassicDescriptors.parts.items()}

"""The public data sets of the studies, with the field's standard splits."""

from collections.abc import Callable
from pathlib import Path

from fewbits.datasets import Dataset, load_digits, load_icd10
from fewbits.errors import ArgumentError
from research.common.datasets._download import (
    CALTECH101,
    CIFAR10,
    FASHION_MNIST,
    WORDNET,
    Progress,
    Remote,
    fetch,
)
from research.common.datasets._files import user_folder
from research.common.datasets._image_sets import (
    load_caltech101,
    load_cifar10,
    load_fashion_mnist,
)
from research.common.datasets._images import ArrayImages, ImageItem
from research.common.datasets._wordnet_glove import load_glove, load_wordnet

__all__ = [
    "REMOTES",
    "ArrayImages",
    "Dataset",
    "ImageItem",
    "download",
    "load",
    "load_caltech101",
    "load_cifar10",
    "load_digits",
    "load_fashion_mnist",
    "load_glove",
    "load_icd10",
    "load_wordnet",
]

_LOADERS: dict[str, Callable[[], Dataset]] = {
    "digits": load_digits,
    "icd10": load_icd10,
    "wordnet": load_wordnet,
    "glove": load_glove,
    "fashion-mnist": load_fashion_mnist,
    "cifar10": load_cifar10,
    "caltech101": load_caltech101,
}
#: What is downloaded; the others come with packages.
REMOTES: dict[str, list[Remote]] = {
    "wordnet": WORDNET,
    "fashion-mnist": FASHION_MNIST,
    "cifar10": CIFAR10,
    "caltech101": CALTECH101,
}


def load(name: str) -> Dataset:
    """Return the data set called `name`, which must be on this machine."""
    if name not in _LOADERS:
        raise ArgumentError(f"no data set {name!r}; known: {', '.join(_LOADERS)}")
    return _LOADERS[name]()


def download(name: str, *, progress: Progress | None = None) -> Path:
    """Return the user's data folder, after downloading what it lacks of a data set.

    A download that was interrupted is resumed. `progress` gets the bytes that are here
    and those there will be.
    """
    if name not in REMOTES:
        raise ArgumentError(f"{name!r} is not downloaded; known: {', '.join(REMOTES)}")
    for remote in REMOTES[name]:
        fetch(remote, user_folder(), progress=progress)
    return user_folder()

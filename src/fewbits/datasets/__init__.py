"""Public data sets with the field's standard splits."""

from fewbits.datasets._dataset import ArrayImages, Dataset, ImageItem, export, hold_out
from fewbits.datasets._image_sets import (
    load_caltech101,
    load_cifar10,
    load_fashion_mnist,
)
from fewbits.datasets._registry import Entry, available, download, load
from fewbits.datasets._texts_and_vectors import (
    load_digits,
    load_glove,
    load_icd10,
    load_wordnet,
)

__all__ = [
    "ArrayImages",
    "Dataset",
    "Entry",
    "ImageItem",
    "available",
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

"""Public data sets with the field's standard splits."""

from fewbits.datasets._base import Dataset
from fewbits.datasets._caltech101 import load_caltech101
from fewbits.datasets._cifar10 import load_cifar10
from fewbits.datasets._digits import load_digits
from fewbits.datasets._export import export, hold_out
from fewbits.datasets._fashion_mnist import load_fashion_mnist
from fewbits.datasets._glove import load_glove
from fewbits.datasets._icd10 import load_icd10
from fewbits.datasets._images import ArrayImages, ImageItem
from fewbits.datasets._registry import Entry, available, download, load
from fewbits.datasets._wordnet import hypernym_paths, load_wordnet

__all__ = [
    "ArrayImages",
    "Dataset",
    "Entry",
    "ImageItem",
    "available",
    "download",
    "export",
    "hold_out",
    "hypernym_paths",
    "load",
    "load_caltech101",
    "load_cifar10",
    "load_digits",
    "load_fashion_mnist",
    "load_glove",
    "load_icd10",
    "load_wordnet",
]

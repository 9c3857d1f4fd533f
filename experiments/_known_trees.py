"""The trees that are known over the classes of a data set."""

from collections.abc import Iterable
from typing import Any, NamedTuple

from numpy.typing import NDArray

from experiments._caltech_synsets import synsets_of
from fewbits import datasets
from fewbits.datasets import hypernym_paths, load_wordnet


class KnownClasses(NamedTuple):
    """What is known of each class: its path from the root, and a broad kind."""

    paths: list[tuple[str, ...]]
    kinds: list[str]


def known_classes(name: str, classes: NDArray[Any]) -> KnownClasses:
    """Return the tree over the classes of ``icd10 caltech101 cifar10 wordnet``.

    Blocks of ICD-10 lie in chapters. Classes of images and kinds of nouns lie where
    WordNet has them; what it calls their domain is their kind.
    """
    names = [str(each) for each in classes]
    if name == "icd10":
        return _blocks(names)
    return _senses(names, _SYNSETS_OF[name](names) if name in _SYNSETS_OF else names)


def _cifar10_synsets(classes: Iterable[str]) -> list[str]:
    """Return the first noun of each class's name; of automobiles that of car."""
    return [f"{'car' if name == 'automobile' else name}.n.01" for name in classes]


_SYNSETS_OF = {"caltech101": synsets_of, "cifar10": _cifar10_synsets}


def _blocks(blocks: list[str]) -> KnownClasses:
    labels = datasets.load_icd10().labels
    above = dict(zip(labels["block"], labels["chapter"], strict=True))
    chapters = [str(above[block]) for block in blocks]
    return KnownClasses(list(zip(chapters, blocks, strict=True)), chapters)


def _senses(names: list[str], senses: Iterable[str]) -> KnownClasses:
    nouns, keys = load_wordnet(), list(senses)
    domain = dict(zip(nouns.keys, nouns.labels["domain"].tolist(), strict=True))
    paths = [
        (*path, name)
        for path, name in zip(hypernym_paths(nouns, keys), names, strict=True)
    ]
    return KnownClasses(paths, [domain[key] for key in keys])

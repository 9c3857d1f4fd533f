"""The known trees of classes: chapters of ICD-10, and the senses of WordNet."""

from collections.abc import Iterable
from pathlib import Path
from typing import Any, NamedTuple

from numpy.typing import NDArray

from fewbits import datasets

#: The sense that each class of Caltech-101 shows, chosen by its pictures: the beaver is
#: the rodent. A class without a sense of its own gets the nearest wider one, and a part
#: that of the whole, but for faces.
SYNSETS = dict(
    pair.split("=")
    for pair in Path(__file__).with_name("caltech_synsets.txt").read_text().split()
)


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
    if name == "caltech101":
        return _senses(names, [SYNSETS[each] for each in names])
    if name == "cifar10":  # the first noun of a name
        words = ["car" if each == "automobile" else each for each in names]
        return _senses(names, [f"{word}.n.01" for word in words])
    return _senses(names, names)


def _blocks(blocks: list[str]) -> KnownClasses:
    labels = datasets.load_icd10().labels
    above = dict(zip(labels["block"], labels["chapter"], strict=True))
    chapters = [str(above[block]) for block in blocks]
    return KnownClasses(list(zip(chapters, blocks, strict=True)), chapters)


def _senses(names: list[str], senses: Iterable[str]) -> KnownClasses:
    nouns, keys = datasets.load_wordnet(), list(senses)
    domain = dict(zip(nouns.keys, nouns.labels["domain"].tolist(), strict=True))
    above = datasets.hypernym_paths(nouns, keys)
    paths = [(*path, name) for path, name in zip(above, names, strict=True)]
    return KnownClasses(paths, [domain[key] for key in keys])

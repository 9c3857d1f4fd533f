"""The known trees of classes: chapters of ICD-10, and the senses of WordNet."""

from pathlib import Path
from typing import Any

from numpy.typing import NDArray

from research.common import datasets
from research.common.problems import hypernym_paths

#: The sense that each class of Caltech-101 shows, chosen by its pictures: the beaver is
#: the rodent. A class without a sense of its own gets the nearest wider one, and a part
#: that of the whole, but for faces.
SYNSETS = dict(
    pair.split("=")
    for pair in Path(__file__).with_name("caltech_synsets.txt").read_text().split()
)


def known_classes(name: str, classes: NDArray[Any]) -> list[tuple[str, ...]]:
    """Return the path of each class of ``icd10 caltech101 cifar10 wordnet``.

    Blocks of ICD-10 lie in chapters. Classes of images and kinds of nouns lie where
    WordNet has them.
    """
    names = senses = [str(each) for each in classes]
    if name == "icd10":
        labels = datasets.load_icd10().labels
        above = dict(zip(labels["block"], labels["chapter"], strict=True))
        return [(str(above[block]), block) for block in names]
    if name == "caltech101":
        senses = [SYNSETS[each] for each in names]
    if name == "cifar10":  # the first noun of a name
        words = ["car" if each == "automobile" else each for each in names]
        senses = [f"{word}.n.01" for word in words]
    paths = hypernym_paths(datasets.load_wordnet(), senses)
    return [(*path, each) for path, each in zip(paths, names, strict=True)]

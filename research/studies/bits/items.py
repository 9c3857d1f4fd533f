"""Items with words, and their division into those to learn from and those held out."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from research.common import datasets
from research.common.classic import classic_features, is_classic, some_of_each
from research.common.features import (
    CALTECH,
    NOT_CLASSES,
    load_image_features,
    load_texts,
)

N_NOVEL, N_LEARN = 25, 30
#: Held out of each class at most, so that the largest ones do not name every bit.
N_HELD = 30
#: Kinds of things that classes of Caltech-101 belong to, given by hand, the widest
#: first. Names of classes are words that no other class has: a bit that is named by
#: them on some classes cannot be checked on others. Kinds can.
KINDS = dict(
    line.split(": ")
    for line in Path(__file__).with_name("caltech_kinds.txt").read_text().splitlines()
)

Rows = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Items:
    """Features of items, their classes, and what people say about them.

    `words` are texts that name bits; `kinds` are classes of classes, empty where there
    is none. Images are named by their classes.
    """

    name: str
    X: NDArray[np.float32]
    classes: NDArray[Any]
    words: list[str]
    kinds: NDArray[Any]


def load_items(name: str) -> Items:
    """Return all diagnoses of ``icd10``, digits, or photographs of Caltech-101.

    Of ``caltech101-1280`` all, of ``caltech101-classic`` those that are described.
    """
    if name == "icd10":
        data, features = load_texts("icd10")
        labels = data.labels
        texts = list(data.items)
        return Items(name, features, labels["block"], texts, labels["chapter"])
    if name == "digits":
        data = datasets.load_digits()
        classes = data.labels["class"].astype(str)
        words = [
            f"{each} {'even' if int(each) % 2 == 0 else 'odd'}" for each in classes
        ]
        return Items(name, data.items, classes, words, classes)
    return _caltech101(name)


def _caltech101(name: str) -> Items:
    if is_classic(name):
        data = datasets.load("caltech101")
        rows = some_of_each(data.labels["class"], NOT_CLASSES)
        features = classic_features(data, rows)
    else:
        data, every = load_image_features("caltech101", CALTECH[name])
        rows = np.flatnonzero(~np.isin(data.labels["class"], NOT_CLASSES))
        features = every[rows]
    classes = data.labels["class"][rows]
    kinds = {
        each: [kind for kind, members in KINDS.items() if each in members.split()]
        for each in set(classes.tolist())
    }
    words = [" ".join([each, *kinds[each]]) for each in classes.tolist()]
    narrowest = np.array([[*[""], *kinds[each]][-1] for each in classes.tolist()])
    return Items(name, features, classes, words, narrowest)


def divide(classes: NDArray[Any], seed: int, n_novel: int) -> list[Rows]:
    """Draw rows to learn from, and held-out rows of known classes and of novel ones."""
    rng = np.random.default_rng(seed)
    names, counts = np.unique(classes, return_counts=True)
    chosen = set(rng.permutation(names[counts >= N_HELD])[:n_novel].tolist())
    learn, known, novel = [], [], []
    for each in names.tolist():
        rows = rng.permutation(np.flatnonzero(classes == each))
        if each in chosen:
            novel.append(rows[:N_HELD])
        else:
            learn.append(rows[:N_LEARN])
            known.append(rows[N_LEARN:][:N_HELD])
    return [np.concatenate(part) for part in (learn, known, novel)]

"""Items with words, and their division into those to learn from and those held out."""

import hashlib
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from experiments._caltech_kinds import kinds_of
from experiments._classic_features import classic_features, is_classic, some_of_each
from experiments._features import NOT_CLASSES
from fewbits import backbones, datasets

N_NOVEL, N_LEARN = 25, 30
#: Held out of each class at most, so that the largest ones do not name every bit.
N_HELD = 30

Rows = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Items:
    """Features of items, and what people say about them.

    Attributes
    ----------
    name : str
        Of the set of features.
    keys, shown : list
        Names of the items, and the texts or images themselves.
    words : list of str
        Texts that name bits.
    groups : ndarray of shape (n,), dtype str
        What maps are coloured by.
    kinds : ndarray of shape (n,), dtype str
        Classes of classes; empty where there is none.
    """

    name: str
    X: NDArray[np.float32]
    classes: NDArray[np.str_]
    keys: list[str]
    shown: list[Any]
    words: list[str]
    groups: NDArray[np.str_]
    kinds: NDArray[np.str_]

    @property
    def are_images(self) -> bool:
        """Whether items are images, which are named by their classes."""
        return not isinstance(self.shown[0], str)


def load_items(name: str) -> Items:
    """Return all diagnoses of ``icd10``, or photographs of Caltech-101.

    Of ``caltech101-1280`` all, of ``caltech101-classic`` those that are described.
    """
    return _icd10() if name == "icd10" else _caltech101(name)


def _icd10() -> Items:
    data = datasets.load_icd10()
    features = backbones.load("wordllama-256").extract(data.items)
    texts, chapters = list(data.items), data.labels["chapter"]
    blocks = data.labels["block"]
    keys = list(data.keys)
    return Items("icd10", features, blocks, keys, texts, texts, chapters, chapters)


def _caltech101(name: str) -> Items:
    data = datasets.load("caltech101")
    labels = data.labels["class"]
    if is_classic(name):
        rows = some_of_each(labels, NOT_CLASSES)
        features = classic_features(data, rows)
    else:
        rows = np.flatnonzero(~np.isin(labels, NOT_CLASSES))
        features = _network_features(data)[rows]
    names = labels[rows].tolist()
    kinds = {each: kinds_of(each) for each in set(names)}
    return Items(
        name,
        features,
        labels[rows],
        [data.keys[row] for row in rows.tolist()],
        [data.items[row] for row in rows.tolist()],
        [" ".join([each, *kinds[each]]) for each in names],
        labels[rows],
        np.array([kinds[each][-1] if kinds[each] else "" for each in names]),
    )


def _network_features(data: Any) -> NDArray[np.float32]:
    key = hashlib.sha256("\n".join(data.keys).encode()).hexdigest()[:16]
    backbone = backbones.load("efficientnet-lite0-128")
    return backbones.cached_features(backbone, data.items, key)


@dataclass(frozen=True, eq=False)
class Division:
    """Rows to learn from, and rows held out of known classes and of novel ones."""

    learn: Rows
    known: Rows
    novel: Rows

    @property
    def held(self) -> Rows:
        """All rows that were not learnt from, those of known classes first."""
        return np.concatenate([self.known, self.novel])


def divide(classes: NDArray[Any], seed: int) -> Division:
    """Draw novel classes, items to learn from, and items to look at."""
    rng = np.random.default_rng(seed)
    names, counts = np.unique(classes, return_counts=True)
    chosen = set(rng.permutation(names[counts >= N_HELD])[:N_NOVEL].tolist())
    learn, known, novel = [], [], []
    for each in names.tolist():
        rows = rng.permutation(np.flatnonzero(classes == each))
        if each in chosen:
            novel.append(rows[:N_HELD])
        else:
            learn.append(rows[:N_LEARN])
            known.append(rows[N_LEARN:][:N_HELD])
    return Division(*(np.concatenate(part) for part in (learn, known, novel)))

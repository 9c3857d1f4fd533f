"""Classes to learn codes for, and items to test them by."""

from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from experiments._hash_problems import load_problem
from fewbits import backbones, datasets
from fewbits.evaluation import per_class_split

#: Diagnoses of a block to learn from, and to test by; smaller blocks are left out.
N_EACH, N_TEST = 60, 20


@dataclass(frozen=True, eq=False)
class ClassProblem:
    """Features and one class each, of items to learn from and to test by."""

    X: NDArray[np.float32]
    y: NDArray[Any]
    train: NDArray[np.int64]
    test: NDArray[np.int64]

    @cached_property
    def classes(self) -> NDArray[Any]:
        """The classes."""
        return np.unique(self.y[self.train])

    @property
    def n_classes(self) -> int:
        """How many there are."""
        return len(self.classes)


@lru_cache(maxsize=1)
def load_classes(name: str, seed: int) -> ClassProblem:
    """Return ``caltech101``, ``cifar10`` or ``icd10``.

    The first two learn from what `load_problem` trains on, and are tested by its
    queries; CIFAR-10's are 1,000. ICD-10's classes are its blocks of 80 diagnoses or
    more, 60 of each to learn from and 20 to test by, drawn by the seed.
    """
    if name == "icd10":
        return _icd10(seed)
    problem = load_problem(name, seed)
    return ClassProblem(problem.X, problem.labels, problem.train, problem.query)


def _icd10(seed: int) -> ClassProblem:
    data = datasets.load_icd10()
    X = backbones.load("wordllama-256").extract(data.items)
    labels = data.labels["block"]
    names, counts = np.unique(labels, return_counts=True)
    large = np.flatnonzero(np.isin(labels, names[counts >= N_EACH + N_TEST]))
    split = per_class_split(
        labels[large], query=N_TEST, train=N_EACH, random_state=seed
    )
    return ClassProblem(X, labels, large[split.train], large[split.query])

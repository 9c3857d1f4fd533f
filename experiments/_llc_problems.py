"""Classes to learn codes for, and items to test them by."""

from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from experiments._hash_problems import load_problem


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
    """Return one of ``caltech101 cifar10 icd10 wordnet``.

    They learn from what `load_problem` trains on, and are tested by its queries.
    """
    problem = load_problem(name, seed)
    return ClassProblem(problem.X, problem.labels, problem.train, problem.query)

"""Items to train on, and what their labels must be."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fewbits.errors import ArgumentError
from fewbits.learners.deep._data import ArrayItems
from fewbits.learners.deep._evaluator import Evaluator
from fewbits.learners.deep._targets import Targets


class Problem(NamedTuple):
    """Items to train on, split into the rows for it and held-out ones."""

    items: ArrayItems
    n_features: int
    labels: NDArray[Any]
    train: NDArray[np.int64]
    targets: Targets
    evaluator: Evaluator
    seed: int
    checksum: str


def check_present(Y: Any, classes: NDArray[Any]) -> None:
    """Refuse columns of labels that no item has."""
    counts = np.asarray(Y.sum(axis=0)).ravel()
    if (counts == 0).any():
        column = int(np.argmax(counts == 0))
        raise ArgumentError(f"class {classes[column]} has no item; leave it out")


def check_none_held_out(
    asked: list[str], validation: float, labels: NDArray[Any]
) -> None:
    """Refuse what needs held-out items where a share of each class is none."""
    if not asked:
        return
    largest = int(np.bincount(labels).max()) if labels.ndim == 1 else None
    share = f"training.validation={validation}"
    if largest is None:
        way = f"{share} spares none of {len(labels)}: raise it"
    elif largest == 1:
        way = "no class has two"
    else:
        least = f"{1 / largest:.2g}"
        way = f"{share} is none of {largest}: {least} would do"
    raise ArgumentError(f"{asked[0]} needs held-out items, but {way}")

"""The three splits of CIFAR-10 on which hashing methods are compared."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from fewbits.datasets._base import Dataset
from fewbits.errors import ArgumentError

PROTOCOLS = ("cifar10", "cifar10-1", "cifar10-2")
_N_QUERY = 100
_N_TRAIN = 500


@dataclass(frozen=True)
class HashingSplit:
    """Rows of the queries, of the training set and of the database.

    Attributes
    ----------
    protocol : str
    seed : int or None
        What drew the rows; None where nothing is drawn.
    query, train, database : ndarray of int, ascending
    """

    protocol: str
    seed: int | None
    query: NDArray[np.int64]
    train: NDArray[np.int64]
    database: NDArray[np.int64]


def cifar10_hashing_split(
    dataset: Dataset, protocol: str = "cifar10", *, seed: int = 0
) -> HashingSplit:
    """Return one of the splits that the literature calls CIFAR-10.

    Figures of different splits must not be compared.

    Parameters
    ----------
    dataset : Dataset
        All 60,000 images.
    protocol : {"cifar10", "cifar10-1", "cifar10-2"}
        The first two draw, per class and from all images, 100 queries and 500 for
        training. The database is the other 5,400 for "cifar10", and has the training
        images besides for "cifar10-1". "cifar10-2" draws nothing: the test set is
        the queries, and the training set is the database, too.
    seed : int
        It draws rows, and the official archive and the one of JPEGs order the images
        differently: the same seed gives different images.

    Raises
    ------
    ArgumentError
        When the protocol is unknown, or a class has too few images.
    """
    if protocol not in PROTOCOLS:
        raise ArgumentError(f"no split {protocol!r}; there are {', '.join(PROTOCOLS)}")
    if protocol == "cifar10-2":
        train = dataset.splits["train"]
        return HashingSplit(protocol, None, dataset.splits["test"], train, train)
    query, train, rest = _draw(dataset.labels["class"], seed)
    database = rest if protocol == "cifar10" else np.union1d(train, rest)
    return HashingSplit(protocol, seed, query, train, database)


def _draw(classes: NDArray[np.str_], seed: int) -> list[NDArray[np.int64]]:
    rng = np.random.default_rng(seed)
    parts = []
    for name in np.unique(classes):
        rows = rng.permutation(np.flatnonzero(classes == name))
        if len(rows) <= _N_QUERY + _N_TRAIN:
            raise ArgumentError(f"class {name} has only {len(rows)} images")
        parts.append(np.split(rows, [_N_QUERY, _N_QUERY + _N_TRAIN]))
    return [np.sort(np.concatenate(part)) for part in zip(*parts, strict=True)]

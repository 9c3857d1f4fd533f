"""Splits of labelled items, and the named ones of the field."""

from dataclasses import dataclass, replace
from typing import Any, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fewbits._checks import check_choice, check_count
from fewbits._labels import as_label_rows
from fewbits.errors import ArgumentError

IdArray = NDArray[np.int64]
_STANDARD: dict[str, dict[str, Any]] = {
    "cifar10": {"query": 100, "train": 500, "database": "rest"},
    "cifar10-1": {"query": 100, "train": 500, "database": "all"},
    "cifar10-2": {"query": 1000, "train": None, "database": "all"},
    "nus-wide-21": {"query": 100, "train": 500, "database": "all"},
    "imagenet-100": {"query": None, "train": 130, "database": "all"},
}


@dataclass(frozen=True, eq=False, slots=True)
class Split:
    """Rows for each role, in rising order.

    Attributes
    ----------
    query, train, database : ndarray of int64
        Queries never occur in the others. Whether the training rows are part of the
        database depends on the protocol.
    random_state : int
        The seed that gives this split again.
    protocol : str
        In words.
    """

    query: IdArray
    train: IdArray
    database: IdArray
    random_state: int
    protocol: str


def per_class_split(
    y: ArrayLike,
    *,
    query: int | ArrayLike = 100,
    train: int | None = 500,
    database: str = "rest",
    random_state: int | None = None,
) -> Split:
    """Draw queries and training rows, so many from each class.

    Parameters
    ----------
    y : array-like of shape (n,) or (n, n_labels)
        Labels, or a 0/1 indicator matrix. With several labels a row is drawn once at
        most, for its first label that still needs rows.
    query : int, or array-like of bool of shape (n,), default=100
        Queries per class, or a mask of fixed ones.
    train : int or None, default=500
        Training rows per class; None means all that are not queries.
    database : {"rest", "all"}, default="rest"
        ``rest`` leaves the training rows out of the database, ``all`` leaves them in.
    random_state : int or None, default=None
        None draws a seed, which the answer holds.

    Returns
    -------
    Split

    Raises
    ------
    ArgumentError
        When a class has too few rows; names the class.

    Examples
    --------
    >>> split = per_class_split(list("aabbab"), query=1, train=1, random_state=0)
    >>> len(split.query), len(split.train), len(split.database)
    (2, 2, 2)
    """
    check_choice(database, "database", ("rest", "all"))
    labels = as_label_rows(y, "y")
    if not len(labels):
        raise ArgumentError("y must not be empty")
    n = len(labels)
    if labels.ndim == 2:
        members = {k: np.flatnonzero(column) for k, column in enumerate(labels.T)}
    else:
        names, counts = np.unique(labels, return_counts=True)
        rows = np.split(np.argsort(labels, kind="stable"), np.cumsum(counts)[:-1])
        members = dict(zip(names.tolist(), rows, strict=True))
    if random_state is None:
        random_state = int(np.random.SeedSequence().generate_state(1)[0])
    seed = check_count(random_state, "random_state", 0)
    rng = np.random.default_rng(seed)
    free = np.ones(n, np.bool_)
    if np.ndim(query) == 0:
        n_query = check_count(cast("int", query), "query")
        queries = _draw(members, n_query, free, rng, "queries")
        drawn = f"{n_query} queries per class"
    else:
        mask = np.asarray(query)
        if mask.dtype != np.bool_ or mask.shape != (n,) or mask.all() or not mask.any():
            raise ArgumentError(
                f"query must be a number or a boolean mask of shape ({n},) that is "
                f"true for some rows, got dtype {mask.dtype} and shape {mask.shape}"
            )
        queries, drawn = np.flatnonzero(mask), "fixed queries"
    free[queries] = False
    if train is None:
        trained, rest = np.flatnonzero(free), "all others for training"
    else:
        trained = _draw(
            members, check_count(train, "train"), free, rng, "training rows"
        )
        rest = f"{train} training rows per class"
    if database == "rest":
        free[trained] = False
    where = "not in" if database == "rest" else "part of"
    protocol = f"{drawn}, {rest}, {where} the database; seed {seed}"
    return Split(queries, trained, np.flatnonzero(free), seed, protocol)


def _draw(
    members: dict[Any, IdArray],
    n: int,
    free: NDArray[np.bool_],
    rng: np.random.Generator,
    what: str,
) -> IdArray:
    free, drawn = free.copy(), []
    for name, rows in members.items():
        rows = rows[free[rows]]
        if len(rows) < n:
            raise ArgumentError(
                f"need {n} {what} of class {name}, only {len(rows)} rows are left"
            )
        drawn.append(rng.choice(rows, n, replace=False))
        free[drawn[-1]] = False
    return np.sort(np.concatenate(drawn))


def standard_split(
    name: str,
    y: ArrayLike,
    *,
    query: ArrayLike | None = None,
    random_state: int | None = None,
) -> Split:
    """Draw one of the field's named splits.

    ================ ========================= =============== =====================
    name             query                     train           database
    ================ ========================= =============== =====================
    ``cifar10``      100 per class             500 per class   neither (54,000)
    ``cifar10-1``    100 per class             500 per class   all but queries
    ``cifar10-2``    official test images, or  all the rest    the training rows
                     1,000 per class
    ``nus-wide-21``  100 per class             500 per class   all but queries
    ``imagenet-100`` official validation       130 per class   all but queries
    ================ ========================= =============== =====================

    Results under different splits are not comparable: LBHash uses the first, OrthoHash
    the second, GreedyHash the third.

    Parameters
    ----------
    name : str
    y : array-like of shape (n,) or (n, n_labels)
        Labels of all images, or an indicator matrix.
    query : array-like of bool of shape (n,), default=None
        The official test images instead of drawn ones.
    random_state : int or None, default=None

    Examples
    --------
    >>> y = [0, 1] * 3000
    >>> split = standard_split("cifar10", y, random_state=0)
    >>> len(split.query), len(split.train), len(split.database)
    (200, 1000, 4800)
    """
    options = dict(_STANDARD[check_choice(name, "name", _STANDARD)])
    if query is not None:
        options["query"] = query
    if options["query"] is None:
        raise ArgumentError(f"{name} needs query=, a mask of the official test images")
    split = per_class_split(y, **options, random_state=random_state)
    return replace(split, protocol=f"{name}: {split.protocol}")

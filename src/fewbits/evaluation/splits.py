"""Splits of labelled items into queries, database and training items."""

from dataclasses import dataclass, replace
from typing import Any, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fewbits._checks import check_choice, check_count
from fewbits._labels import as_label_rows, as_labels, check_same_kind
from fewbits._repr import one_line
from fewbits._typing import Array, IdArray
from fewbits.errors import ArgumentError
from fewbits.evaluation._checks import check_not_empty

__all__ = ["Split", "novel_class_split", "per_class_split", "standard_split"]
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

    def __repr__(self) -> str:
        return one_line(self)


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
    members, n = _members(y)
    seed, rng = _seeded(random_state)
    free = np.ones(n, np.bool_)
    if np.ndim(query) == 0:
        n_query = check_count(cast("int", query), "query")
        queries = _draw(members, n_query, free, rng, "queries")
        drawn = f"{n_query} queries per class"
    else:
        queries, drawn = _fixed(query, n), "fixed queries"
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


def novel_class_split(
    y: ArrayLike,
    novel: int | ArrayLike,
    *,
    query: int = 25,
    database: int | None = None,
    random_state: int | None = None,
) -> Split:
    """Split so that training shares no class with queries and database.

    On classes seen in training, supervised codes are beaten by a classifier's answer
    written in binary; unseen classes measure whether codes generalise.

    Parameters
    ----------
    y : array-like of shape (n,)
    novel : int or array-like
        How many classes to hold out, drawn at random, or which.
    query : int, default=25
        Queries per novel class.
    database : int or None, default=None
        Database rows per novel class (the training examples of a classifier on codes);
        None means all that are not queries.
    random_state : int or None, default=None

    Returns
    -------
    Split
        ``train`` holds all rows of the other classes.

    References
    ----------
    Bergamo et al., "PiCoDes: Learning a Compact Code for Novel-Category Recognition",
    NIPS 2011. Sablayrolles et al., "How should we evaluate supervised hashing?", ICASSP
    2017.

    Examples
    --------
    >>> y = np.repeat(["cat", "dog", "owl"], 4)
    >>> split = novel_class_split(y, ["owl"], query=1, random_state=0)
    >>> len(split.query), len(split.train), len(split.database)
    (1, 8, 3)
    """
    labels = as_labels(y, "y")
    check_not_empty(labels, "y")
    seed, rng = _seeded(random_state)
    classes = _novel_classes(np.unique(labels), novel, rng)
    held_out = np.isin(labels, classes)
    rows = np.flatnonzero(held_out)
    inner = per_class_split(
        labels[rows],
        query=check_count(query, "query"),
        train=database,
        database="all",
        random_state=seed,
    )
    per_class = "all other" if database is None else database
    return Split(
        query=rows[inner.query],
        train=np.flatnonzero(~held_out),
        database=rows[inner.train],
        random_state=seed,
        protocol=f"{len(classes)} novel classes, {query} queries and {per_class} "
        f"database rows of each, training on the other classes; seed {seed}",
    )


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


def _members(y: ArrayLike) -> tuple[dict[Any, IdArray], int]:
    """Return the rows of each class, and the number of rows."""
    labels = as_label_rows(y, "y")
    check_not_empty(labels, "y")
    if labels.ndim == 2:
        rows = {name: np.flatnonzero(column) for name, column in enumerate(labels.T)}
        return rows, len(labels)
    names, counts = np.unique(labels, return_counts=True)
    groups = np.split(np.argsort(labels, kind="stable"), np.cumsum(counts)[:-1])
    return dict(zip(names.tolist(), groups, strict=True)), len(labels)


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


def _fixed(query: ArrayLike, n: int) -> IdArray:
    mask = np.asarray(query)
    if mask.dtype != np.bool_ or mask.shape != (n,) or not mask.any() or mask.all():
        raise ArgumentError(
            f"query must be a number or a boolean mask of shape ({n},) that is true "
            f"for some rows, got dtype {mask.dtype} and shape {mask.shape}"
        )
    return np.flatnonzero(mask)


def _novel_classes(classes: Array, novel: Any, rng: np.random.Generator) -> Array:
    if np.ndim(novel) == 0:
        n = check_count(novel, "novel")
        if n >= len(classes):
            raise ArgumentError(
                f"novel must leave a class for training: there are {len(classes)}, "
                f"got {n}"
            )
        return np.sort(rng.choice(classes, n, replace=False))
    chosen = np.unique(as_labels(novel, "novel"))
    check_same_kind(chosen, classes, ("novel classes", "those of y"))
    unknown = chosen[~np.isin(chosen, classes)]
    if len(unknown) or not 0 < len(chosen) < len(classes):
        raise ArgumentError(
            f"novel must name some but not all of the {len(classes)} classes, "
            f"got {chosen.tolist()}"
        )
    return chosen


def _seeded(random_state: int | None) -> tuple[int, np.random.Generator]:
    if random_state is None:
        random_state = int(np.random.SeedSequence().generate_state(1)[0])
    seed = check_count(random_state, "random_state", 0)
    return seed, np.random.default_rng(seed)

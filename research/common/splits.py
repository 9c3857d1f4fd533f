"""The named splits of the field."""

from dataclasses import replace
from typing import Any

from numpy.typing import ArrayLike

from fewbits._checks import check_choice
from fewbits.errors import ArgumentError
from fewbits.evaluation.splits import Split, per_class_split

_STANDARD: dict[str, dict[str, Any]] = {
    "cifar10": {"query": 100, "train": 500, "database": "rest"},
    "cifar10-1": {"query": 100, "train": 500, "database": "all"},
    "cifar10-2": {"query": 1000, "train": None, "database": "all"},
    "nus-wide-21": {"query": 100, "train": 500, "database": "all"},
    "imagenet-100": {"query": None, "train": 130, "database": "all"},
}


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

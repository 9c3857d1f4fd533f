"""Search by example: rank a collection by a class that a few items define."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fewbits._checks import whole_number
from fewbits._repr import one_line
from fewbits._typing import CodeArray, IdArray
from fewbits.bundle._items import Items
from fewbits.classify import best_scores, learn_class
from fewbits.errors import ArgumentError

#: Random items of a collection that stand for everything else.
N_RANDOM = 1000
#: Weight of the errors for one example.
COST = 100.0


class ClassMembers(NamedTuple):
    """The items that fit a class best: scores, highest first, and ids."""

    scores: NDArray[np.float32]
    ids: IdArray

    def __repr__(self) -> str:
        return one_line(self)


class ClassRows(NamedTuple):
    """The rows of the items that fit a class best: scores, highest first, and rows."""

    scores: NDArray[np.float32]
    rows: IdArray

    def __repr__(self) -> str:
        return one_line(self)


class Examples(NamedTuple):
    """Codes of items from outside, and rows of items of the collection."""

    codes: CodeArray
    rows: IdArray

    def all_codes(self, items: Items) -> CodeArray:
        """Return the codes of all; what is given twice counts once."""
        known = items.codes[np.unique(self.rows)]
        outside = np.unique(self.codes, axis=0)
        new = ~np.isin(_as_keys(outside), _as_keys(known))
        return np.concatenate([outside[new], known])


def _as_keys(codes: CodeArray) -> NDArray[Any]:
    """Return each code as one value."""
    return np.ascontiguousarray(codes).view(f"S{codes.shape[1]}")[:, 0]


def check_apart(examples: Sequence[Any], counterexamples: Sequence[Any]) -> None:
    """Refuse a raw item, a vector or a text or a path, that is given on both sides."""
    given = {_content(item) for item in examples} if len(counterexamples) else set()
    for item in counterexamples:
        if _content(item) in given:
            subject = f"{item!r} is" if isinstance(item, str) else "an item is"
            raise ArgumentError(f"{subject} given as a member and as none")


def _content(item: Any) -> Any:
    if isinstance(item, str | Path):
        return str(item)
    values = np.asarray(item)
    # Features are rounded to float32, so those that then are the same are one item.
    if values.dtype.kind not in "fiub":
        return values.tobytes()
    with np.errstate(over="ignore"):  # encoders refuse what is too large
        return (values.astype(np.float32) + 0).tobytes()  # -0.0 is 0.0


def rank_by_class(
    items: Items,
    n_bits: int,
    members: Examples,
    others: Examples,
    k: int,
    *,
    n_random: int,
    C: float,
    random_state: int,
    allowed: NDArray[np.bool_] | None = None,
) -> ClassRows:
    """Learn a class from examples, and rank the items that are none of them.

    Random items of the collection stand for everything else. A few of them may belong
    to the class; a linear model hardly minds. They are drawn from the whole collection,
    also where only the `allowed` rows are ranked.
    """
    for name, value in (("random_state", random_state), ("n_random", n_random)):
        if whole_number(value, name) < 0:
            raise ArgumentError(f"{name} must be at least 0, got {value}")
    if both := sorted({*members.rows.tolist()} & {*others.rows.tolist()}):
        (item,) = items.ids_at(np.array(both[:1]))
        raise ArgumentError(f"item {item} is given as a member and as none")
    unknown = np.ones(len(items), np.bool_)
    unknown[np.concatenate([members.rows, others.rows])] = False
    drawn = random_rows(unknown, n_random, random_state)
    negatives = np.concatenate([others.all_codes(items), items.codes[drawn]])
    if not len(negatives):
        raise ArgumentError(
            "nothing to tell the class from: give negative examples, or a collection "
            "with other items"
        )
    positives = members.all_codes(items)
    model = learn_class(
        positives,
        negatives,
        n_bits,
        **svm_settings(len(positives), len(negatives), C),
        random_state=random_state,
    )
    scores = model.scores(items.codes)
    rows = best_scores(scores, k, unknown if allowed is None else unknown & allowed)
    return ClassRows(scores[rows], rows)


def random_rows(
    unknown: NDArray[np.bool_], n: int, random_state: int
) -> NDArray[np.int64]:
    """Draw rows that stand for everything else, rising."""
    rng = np.random.default_rng(random_state)
    drawn: NDArray[np.int64] = np.sort(rng.permutation(np.flatnonzero(unknown))[:n])
    return drawn


def svm_settings(n_members: int, n_others: int, C: float) -> dict[str, float]:
    """Return what `learn_class` is given; `C` is that for one example."""
    return {"C": C * n_members**0.5, "balance": balance_of(n_members, n_others)}


def balance_of(n_members: int, n_others: int) -> float:
    """Return how far examples and random items are balanced, see `learn_class`.

    The examples weigh as much as the square root of the number of the others, and each
    no less than one of these. So one that is a member counts little beside few
    examples, and many examples are learnt from as they are.
    """
    if n_others <= n_members or not n_members:  # of none `learn_class` says so
        return 1.0
    ratio = max(1.0, n_others**0.5 / n_members)
    return float(np.log(ratio) / np.log(n_others / n_members))

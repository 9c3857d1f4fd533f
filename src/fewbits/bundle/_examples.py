"""Search by example: rank a collection by a class that a few items define."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from fewbits._typing import CodeArray, IdArray
from fewbits.bundle._items import Items
from fewbits.decoding import best_scores, learn_class
from fewbits.errors import ArgumentError


class ClassMembers(NamedTuple):
    """The items that fit a class best: scores, highest first, and ids."""

    scores: NDArray[np.float32]
    ids: IdArray


class Examples(NamedTuple):
    """Codes of items from outside, and rows of items of the collection."""

    codes: CodeArray
    rows: IdArray

    def all_codes(self, items: Items) -> CodeArray:
        """Return all of them as codes."""
        return np.concatenate([self.codes, items.codes[self.rows]])


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
) -> ClassMembers:
    """Learn a class from examples, and rank the items that are none of them.

    Random items of the collection stand for everything else. A few of them may belong
    to the class; a linear model hardly minds. They are drawn from the whole collection,
    also where only the `allowed` rows are ranked.
    """
    if random_state < 0:
        raise ArgumentError(f"random_state must be at least 0, got {random_state}")
    if both := sorted({*members.rows.tolist()} & {*others.rows.tolist()}):
        item = items.ids[both[0]]
        raise ArgumentError(f"item {item} is given as a member and as none")
    unknown = np.ones(len(items), np.bool_)
    unknown[np.concatenate([members.rows, others.rows])] = False
    rng = np.random.default_rng(random_state)
    drawn = np.sort(rng.permutation(np.flatnonzero(unknown))[:n_random])
    negatives = np.concatenate([others.all_codes(items), items.codes[drawn]])
    if not len(negatives):
        raise ArgumentError(
            "nothing to tell the class from: give negative examples, or a collection "
            "with other items"
        )
    positives = np.unique(members.all_codes(items), axis=0)  # given twice, counted once
    model = learn_class(positives, negatives, n_bits, C=C, random_state=random_state)
    scores = model.scores(items.codes)
    rows = best_scores(scores, k, unknown if allowed is None else unknown & allowed)
    return ClassMembers(scores[rows], items.ids[rows])

"""The answer of every decoder."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fewbits import _kernels
from fewbits._repr import one_line
from fewbits._typing import CodeArray, DistanceArray, IdArray


@dataclass(frozen=True, eq=False, slots=True)
class Decoded:
    """The class of every item, and what it took to find it.

    Attributes
    ----------
    distances : ndarray of shape (n,), dtype int32
        Hamming distance between the item's code and that of its class, -1 where nothing
        was found.
    rows : ndarray of shape (n,), dtype int64
        Row of the codebook, -1 for no class: nothing was found, or several classes are
        equally good and the caller wants none of them. ``codebook.labels(rows)`` gives
        the names.
    ties : ndarray of shape (n,), dtype int64
        How many classes are equally good; 1 is a clear answer, 0 none.
    lookups : ndarray of shape (n,), dtype int64
        Codes that were looked up in a hash table.
    comparisons : ndarray of shape (n,), dtype int64
        Class codes that the item's was compared with.
    """

    distances: DistanceArray
    rows: IdArray
    ties: IdArray
    lookups: IdArray
    comparisons: IdArray

    __repr__ = one_line

    def __len__(self) -> int:
        return len(self.rows)

    def only(self, accepted: NDArray[np.bool_]) -> "Decoded":
        """Return the same, with no class for items that are not accepted, bool (n,)."""
        return replace(
            self,
            distances=np.where(accepted, self.distances, -1).astype(np.int32),
            rows=np.where(accepted, self.rows, -1),
            ties=np.where(accepted, self.ties, 0),
        )


def nothing_found(n: int) -> Decoded:
    """Return the answers for `n` items before any is looked for; to be filled in."""
    numbers = [np.zeros(n, np.int64) for _ in range(3)]
    return Decoded(np.full(n, -1, np.int32), np.full(n, -1, np.int64), *numbers)


def put(answers: Decoded, items: IdArray, part: Decoded) -> None:
    """Take over the answers to some items; the work adds up."""
    answers.distances[items], answers.rows[items] = part.distances, part.rows
    answers.ties[items] = part.ties
    answers.lookups[items] += part.lookups
    answers.comparisons[items] += part.comparisons


def first_of_each(
    n: int, items: IdArray, rows: IdArray, counts: IdArray
) -> tuple[IdArray, IdArray]:
    """Return the lowest row found for each of `n` items, and how many classes were.

    `items` found `rows` that stand for `counts` classes, maybe the same row twice. The
    row is -1, and the number 0, where nothing was found.
    """
    order = np.lexsort((rows, items))
    items, rows, counts = items[order], rows[order], counts[order]
    is_new = np.ones(len(rows), np.bool_)
    is_new[1:] = (items[1:] != items[:-1]) | (rows[1:] != rows[:-1])
    items, rows, counts = items[is_new], rows[is_new], counts[is_new]
    lowest = np.full(n, -1, np.int64)
    lowest[items[::-1]] = rows[::-1]  # the last write is that of the lowest row
    ties = np.zeros(n, np.int64)
    np.add.at(ties, items, counts)
    return lowest, ties


def classes_within(
    class_codes: CodeArray, codes: CodeArray, radii: NDArray[np.integer[Any]]
) -> IdArray:
    """Return how many classes lie within the radius beside each code."""
    counts = np.empty(len(codes), np.int64)
    for radius in np.unique(radii):
        items = np.flatnonzero(radii == radius)
        numbers = np.empty(len(items), np.int64)
        _kernels.hamming_within_count(
            codes[items],
            class_codes,
            int(radius),
            None,
            numbers,
            _kernels.num_threads(),
        )
        counts[items] = numbers
    return counts

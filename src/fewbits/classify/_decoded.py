"""The answer of every decoder."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from fewbits._checks import check_choice
from fewbits._repr import one_line
from fewbits._typing import DistanceArray, IdArray

TIES = ("first", "none")


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

    def __repr__(self) -> str:
        return one_line(self)

    def __len__(self) -> int:
        return len(self.rows)

    def only(self, accepted: NDArray[np.bool_]) -> "Decoded":
        """Return the same, with no class for items that are not `accepted`.

        Parameters
        ----------
        accepted : ndarray of bool of shape (n,)
            As `AcceptanceRegion.accepts` gives it.
        """
        distances = np.where(accepted, self.distances, -1).astype(np.int32)
        rows, ties = np.where(accepted, self.rows, -1), np.where(accepted, self.ties, 0)
        return Decoded(distances, rows, ties, self.lookups, self.comparisons)


@dataclass(eq=False, slots=True)
class Answers:
    """Answers while they are being found, of the lowest row where classes tie."""

    distances: DistanceArray
    rows: IdArray
    ties: IdArray
    lookups: IdArray
    comparisons: IdArray

    @classmethod
    def none(cls, n: int) -> "Answers":
        """Return `n` answers that nothing was found without looking."""
        numbers = [np.zeros(n, np.int64) for _ in range(3)]
        return cls(np.full(n, -1, np.int32), np.full(n, -1, np.int64), *numbers)

    def put(self, queries: IdArray, part: "Answers") -> None:
        """Take over the answers to some queries; the work adds up."""
        self.distances[queries], self.rows[queries] = part.distances, part.rows
        self.ties[queries] = part.ties
        self.lookups[queries] += part.lookups
        self.comparisons[queries] += part.comparisons

    def decided(self, ties: str) -> Decoded:
        """Return the answers, with ties decided as the caller wants."""
        rows = np.where(self.ties > 1, -1, self.rows) if ties == "none" else self.rows
        return Decoded(self.distances, rows, self.ties, self.lookups, self.comparisons)


def check_ties(ties: str) -> str:
    """Return how to decide between equally good classes, if it is known."""
    return check_choice(ties, "ties", TIES)


def first_of_each(
    n: int, queries: IdArray, rows: IdArray, counts: IdArray
) -> tuple[IdArray, IdArray]:
    """Return the lowest row found for each of `n` queries, and how many classes were.

    Parameters
    ----------
    n : int
    queries, rows, counts : ndarray of shape (n_found,)
        Which query found which row, and the number of classes that the row stands for.
        The same row may be found twice.

    Returns
    -------
    rows, ties : ndarray of shape (n,), dtype int64
        -1 and 0 where nothing was found.

    Examples
    --------
    >>> queries, rows = np.array([0, 2, 0, 0]), np.array([5, 1, 4, 5])
    >>> first_of_each(3, queries, rows, np.array([1, 3, 1, 1]))
    (array([ 4, -1,  1]), array([2, 0, 3]))
    """
    order = np.lexsort((rows, queries))
    queries, rows, counts = queries[order], rows[order], counts[order]
    new = np.ones(len(rows), np.bool_)
    new[1:] = (queries[1:] != queries[:-1]) | (rows[1:] != rows[:-1])
    queries, rows, counts = queries[new], rows[new], counts[new]
    lowest = np.full(n, -1, np.int64)
    lowest[queries[::-1]] = rows[::-1]  # the last write is that of the lowest row
    ties = np.zeros(n, np.int64)
    np.add.at(ties, queries, counts)
    return lowest, ties

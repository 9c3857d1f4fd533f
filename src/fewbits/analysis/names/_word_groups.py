"""Tests of word frequencies that count groups of items, not items."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fewbits._labels import as_classes
from fewbits._typing import IdArray
from fewbits.errors import ArgumentError

FloatArray = NDArray[np.float64]
_FEWEST = 3


class WordGroups(NamedTuple):
    """Words that the items of each group carry.

    Attributes
    ----------
    n_groups : int
        Those with words.
    entries : IdArray
        For each entry of the matrix of carriers the pair of word and group it is of.
    items : IdArray
        For each entry its item.
    words, groups : IdArray
        Of each pair.
    lengths : FloatArray
        Words of each item.
    members : IdArray
        The group of each item.
    """

    n_groups: int
    entries: IdArray
    items: IdArray
    words: IdArray
    groups: IdArray
    lengths: FloatArray
    members: IdArray

    def squares(
        self, values: NDArray[np.uint8], scales: FloatArray, shares: FloatArray
    ) -> FloatArray:
        """Sum the squares of what the groups contribute to a difference of sides.

        Parameters
        ----------
        values : ndarray of shape (n,)
            The side of each item.
        scales, shares : ndarray of shape (2, n_words)
            An item on side ``s`` with ``m`` words contributes ``scales[s] * (y -
            shares[s] * m)``, with a minus on side 0; ``y`` is 1 if it has the word.

        Returns
        -------
        ndarray of shape (n_words,)
        """
        n_words = scales.shape[1]
        first = np.bincount(self.entries, values[self.items], len(self.words))
        total = np.bincount(self.entries, minlength=len(self.words))
        counted = scales[1, self.words] * first - scales[0, self.words] * (
            total - first
        )
        ones = np.bincount(self.members, self.lengths * values)
        zeros = np.bincount(self.members, self.lengths * (1 - values.astype(np.int8)))
        a, b = scales[1] * shares[1], scales[0] * shares[0]

        def by_word(weights: FloatArray) -> FloatArray:
            return np.bincount(self.words, weights, n_words).astype(np.float64)

        # Only few groups have a word, so the square of `counted - expected` is written
        # out: what was expected has its sum over all groups in closed form.
        result = (
            by_word(counted**2)
            - 2 * a * by_word(counted * ones[self.groups])
            + 2 * b * by_word(counted * zeros[self.groups])
            + a**2 * (ones @ ones)
            - 2 * a * b * (ones @ zeros)
            + b**2 * (zeros @ zeros)
        )
        correction = self.n_groups / (self.n_groups - 1)
        squares: FloatArray = np.maximum(result, 0) * correction
        return squares


def read_groups(carriers: Any, groups: ArrayLike) -> WordGroups:
    """Return the words of each group; `carriers` is sparse, (n_words, n)."""
    names, members = as_classes(groups, carriers.shape[1], "groups")
    entries = carriers.tocoo()
    words, items = (np.asarray(x, np.int64) for x in (entries.row, entries.col))
    lengths = np.bincount(items, minlength=len(members)).astype(np.float64)
    n_groups = len(np.unique(members[lengths > 0])) if len(words) else len(names)
    if n_groups < _FEWEST:
        raise ArgumentError(
            f"need at least {_FEWEST} groups of items with words, got {n_groups}"
        )
    pairs, places = np.unique(words * len(names) + members[items], return_inverse=True)
    return WordGroups(
        n_groups, places, items, *np.divmod(pairs, len(names)), lengths, members
    )

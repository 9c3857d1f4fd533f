"""Rank and select: positions among all, and numbers among those that are left."""

from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from fewbits._frozen import Immutable, frozen_array
from fewbits._typing import IdArray


class RankSelect(Immutable):
    """Turns positions, which count deleted ones, into ranks, which do not, and back.

    Takes time for what is asked, not for what there is, and memory for what is deleted.
    `live` are the positions that are not deleted; None where none is.

    Examples
    --------
    >>> live = RankSelect(np.array([True, False, True]))
    >>> live.rank(np.array([0, 1, 2, -1])), live.select(np.array([0, 1, -1]))
    (array([ 0, -1,  1, -1]), array([ 0,  2, -1]))
    """

    def __init__(self, live: NDArray[np.bool_] | None) -> None:
        deleted = np.empty(0, np.int64) if live is None else np.flatnonzero(~live)
        self._deleted = frozen_array(deleted)

    def rank(self, positions: IdArray) -> IdArray:
        """Return the rank of each position; -1 of deleted ones, and -1 stays."""
        if not self._deleted.size:
            return positions
        before = np.searchsorted(self._deleted, positions)
        nearest = self._deleted[np.minimum(before, len(self._deleted) - 1)]
        none = (positions < 0) | (nearest == positions)
        return np.where(none, -1, positions - before)

    def select(self, ranks: IdArray) -> IdArray:
        """Return the position of each rank; -1 stays."""
        if not self._deleted.size:
            return ranks
        before = np.searchsorted(self._live_before, ranks, side="right")
        return np.where(ranks < 0, -1, ranks + before)

    @cached_property
    def _live_before(self) -> IdArray:
        """Number of live positions before each deleted one."""
        return frozen_array(self._deleted - np.arange(len(self._deleted)))

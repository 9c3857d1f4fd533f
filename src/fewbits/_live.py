"""Rows that are left where others were deleted, and the places of both."""

from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from fewbits._frozen import Immutable, frozen_array
from fewbits._typing import IdArray


class LiveRows(Immutable):
    """Turns places, which count deleted ones, into rows, which do not, and back.

    Takes time for what is asked, not for what there is, and memory for what is deleted.

    Parameters
    ----------
    live : ndarray of bool or None
        The places that are not deleted; None where none is.

    Examples
    --------
    >>> import numpy as np
    >>> rows = LiveRows(np.array([True, False, True]))
    >>> rows.rows(np.array([0, 1, 2, -1])), rows.places(np.array([0, 1, -1]))
    (array([ 0, -1,  1, -1]), array([ 0,  2, -1]))
    """

    def __init__(self, live: NDArray[np.bool_] | None) -> None:
        gone = np.empty(0, np.int64) if live is None else np.flatnonzero(~live)
        self._gone = frozen_array(gone)

    def rows(self, places: IdArray) -> IdArray:
        """Return the row of each place; -1 of deleted ones, and -1 stays."""
        if not self._gone.size:
            return places
        before = np.searchsorted(self._gone, places)
        nearest = self._gone[np.minimum(before, len(self._gone) - 1)]
        none = (places < 0) | (nearest == places)
        return np.where(none, -1, places - before)

    def places(self, rows: IdArray) -> IdArray:
        """Return the place of each row; -1 stays."""
        if not self._gone.size:
            return rows
        before = np.searchsorted(self._live_before, rows, side="right")
        return np.where(rows < 0, -1, rows + before)

    @cached_property
    def _live_before(self) -> IdArray:
        """Number of rows before each deleted place."""
        return frozen_array(self._gone - np.arange(len(self._gone)))

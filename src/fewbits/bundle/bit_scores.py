"""Scores of items before thresholding: how strongly their bits are set."""

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fewbits._repr import one_line
from fewbits._typing import IdArray
from fewbits.analysis.bits import Extremes, extreme_items
from fewbits.errors import ArgumentError

if TYPE_CHECKING:
    from fewbits.bundle._bundle import Bundle

__all__ = ["BitScores", "bit_scores"]

Progress = Callable[[int, int], None]


class BitScores(NamedTuple):
    """Scores of items of a collection.

    Attributes
    ----------
    scores : ndarray of shape (n, n_bits), dtype float32
    rows : ndarray of shape (n,), dtype int64
        The items that have them, by their rows.
    """

    scores: NDArray[np.float32]
    rows: IdArray

    def __repr__(self) -> str:
        return one_line(self)

    def extremes(self, k: int = 8) -> Extremes:
        """Return the extreme items by their rows in the collection."""
        found = extreme_items(self.scores, k)
        zeros, ones = (
            side._replace(rows=np.where(side.rows < 0, -1, self.rows[side.rows]))
            for side in found
        )
        return Extremes(zeros, ones)


def bit_scores(
    bundle: "Bundle",
    rows: IdArray | None = None,
    *,
    progress: Progress | None = None,
) -> BitScores:
    """Return the scores of items, from their vectors or their raw items.

    Parameters
    ----------
    bundle : Bundle
    rows : ndarray of int, default=None
        Places of items; all for None. Images whose file is gone are left out.
    progress : callable, default=None
        Called with (items done, items in all) while features are extracted.

    Raises
    ------
    ArgumentError
        When the collection keeps neither.
    """
    items = bundle.collection
    chosen = np.arange(len(items)) if rows is None else rows
    vectors = items.some_vectors(rows)
    if vectors is not None:
        return BitScores(bundle.encoder.project(vectors), chosen)
    raw = bundle.raw_column
    if raw not in items.columns:
        raise ArgumentError(
            "how strongly a bit is set is told by vectors, and this collection keeps "
            "none: build it again with them (on the command line by --keep-vectors "
            "float16)"
        )
    values = items.column(str(raw), rows)
    if bundle.item_kind == "images":
        there = np.array([Path(path).is_file() for path in values], np.bool_)
        if there.any():
            chosen, values = chosen[there], values[there]
    features = bundle.features(list(values), progress=progress)
    return BitScores(bundle.encoder.project(features), chosen)

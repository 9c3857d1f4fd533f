"""The items with the most extreme scores of each bit."""

from collections.abc import Iterable, Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from fewbits._checks import check_count
from fewbits._repr import one_line
from fewbits._spans import spans
from fewbits._typing import Array, IdArray
from fewbits.errors import ArgumentError

_ENTRIES = 1 << 22  # scores looked at once


class Side(NamedTuple):
    """The most extreme items of every bit on one side, two matrices (n_bits, k).

    The most extreme item is first; where there are fewer than k, scores are NaN and
    rows -1.
    """

    scores: NDArray[np.float32]
    rows: IdArray

    def __repr__(self) -> str:
        return one_line(self)


class Extremes(NamedTuple):
    """The most extreme items of both sides of every bit."""

    zeros: Side
    ones: Side

    def __repr__(self) -> str:
        return one_line(self)


def extreme_items(scores: Array | Iterable[Array], k: int = 8) -> Extremes:
    """Find the items with the lowest and the highest scores of every bit.

    As in the sheets of attributes of DBC (figure 8) and PiCoDes (figure 1). Equal
    scores are ordered by row.

    Parameters
    ----------
    scores : ndarray of shape (n, n_bits), or iterable of such arrays
        Scores before thresholding, from ``encoder.project``. An array, which may be a
        memory map, is read a block at a time; several arrays are taken one after the
        other, so that the scores of a million items need not exist at once.
    k : int, default=8
        Items per side. An item may be on both sides where there are fewer than 2 k.

    Returns
    -------
    Extremes
        ``zeros`` (lowest first) and ``ones`` (highest first), each with ``scores``
        float32 and ``rows`` int64 of shape (n_bits, k).

    Raises
    ------
    ArgumentError
        When there is no score, widths differ, or a score is not finite.

    References
    ----------
    Rastegari, Farhadi and Forsyth, "Attribute Discovery via Predictable Discriminative
    Binary Codes", ECCV 2012.

    Bergamo, Torresani and Fitzgibbon, "PiCoDes: Learning a Compact Code for
    Novel-Category Recognition", NIPS 2011.

    Examples
    --------
    >>> import numpy as np
    >>> extremes = extreme_items(np.array([[0.5], [-2.0], [3.0], [-0.1]]), k=2)
    >>> extremes.zeros.rows, extremes.ones.rows
    (array([[1, 3]]), array([[2, 0]]))
    """
    k = check_count(k, "k")
    start, lowest, highest = 0, None, None
    for block in score_blocks(scores):
        if lowest is None or highest is None:
            lowest, highest = _nothing(block, k), _nothing(block, k)
        if block.shape[1] != len(lowest.rows):
            raise ArgumentError(
                f"scores of {len(lowest.rows)} bits are followed by some of "
                f"{block.shape[1]}"
            )
        columns = np.ascontiguousarray(block.T)
        _take(highest, columns, start)
        _take(lowest, -columns, start)
        start += len(block)
    if lowest is None or highest is None or not start:
        raise ArgumentError("need the scores of at least one item, got none")
    return Extremes(_finish(lowest, -1), _finish(highest, 1))


def score_blocks(scores: Array | Iterable[Array]) -> Iterator[NDArray[np.float32]]:
    """Yield finite scores in blocks of a few MB."""
    for array in [scores] if isinstance(scores, np.ndarray) else scores:
        part = np.asarray(array)
        if part.ndim != 2 or not part.shape[1] or part.dtype.kind not in "fiu":
            raise ArgumentError(
                "scores must be real numbers of shape (n, n_bits), "
                f"got dtype {part.dtype} and shape {part.shape}"
            )
        for span in spans(len(part), _ENTRIES // part.shape[1]):
            block = part[span].astype(np.float32, copy=False)
            if not np.isfinite(block).all():
                raise ArgumentError("scores must be finite, got NaN or infinity")
            yield block


def _nothing(block: NDArray[np.float32], k: int) -> Side:
    shape = block.shape[1], k
    return Side(np.full(shape, -np.inf, np.float32), np.full(shape, -1, np.int64))


def _take(best: Side, columns: NDArray[np.float32], start: int) -> None:
    """Merge the highest scores of a block, whose rows begin at `start`, into `best`."""
    k = best.rows.shape[1]
    for bit, column in enumerate(columns):
        # Strictly higher: of equal scores the earlier row is in already.
        rows = np.flatnonzero(column > best.scores[bit, -1])
        if len(rows) > k:
            kth = -np.partition(-column[rows], k - 1)[k - 1]
            rows = rows[column[rows] >= kth]
        scores = np.concatenate([best.scores[bit], column[rows]])
        places = np.concatenate([best.rows[bit], rows + start])
        order = np.argsort(-scores, kind="stable")[:k]
        best.scores[bit], best.rows[bit] = scores[order], places[order]


def _finish(best: Side, sign: int) -> Side:
    scores = np.where(best.rows < 0, np.nan, sign * best.scores).astype(np.float32)
    return Side(scores, best.rows)

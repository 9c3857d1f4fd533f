"""Rows that are held out of training on neighbours, to judge what it led to."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from fewbits._typing import CodeArray, IdArray
from fewbits.codes import hamming_topk, pack, prefix
from fewbits.evaluation import exact_neighbours, search_recall
from fewbits.learners._core._device import Matrix, current_backend
from fewbits.learners._core._rows import parts
from fewbits.learners.neighbours._maps import Map

Float32Array = NDArray[np.float32]
Float64Array = NDArray[np.float64]

_RECALL_AT = 10
_MOST_QUERIES, _COMPARISONS = 5000, 4000  # of the held-out rows
#: Fewer held-out rows come with few rows to learn from, which is where training loses.
_MANY = 500
#: Of these. The fifth nearest of 100 rows is no neighbour: on CIFAR-10 training found
#: more of such, and lost a quarter of recall@10 among 8,000.
_NEAREST_OF_FEW = 2


class Found(NamedTuple):
    """Share of the nearest held-out rows that are found, for each query.

    Attributes
    ----------
    by_codes, by_scores : ndarray of shape (n_queries,)
        By Hamming distance; by the scores of the query, as shortlists are re-ranked.
    """

    by_codes: Float64Array
    by_scores: Float64Array


class ValidationSplit:
    """Training rows, and held-out rows that are searched among themselves.

    A later search ranks rows that were not learnt from for queries that were not
    either: rows that were would be found too easily. Held-out rows are fewer than those
    that are searched later, and the tenth nearest of few is farther away than codes
    have to see: only as many count as 4,000 comparisons need, ten at most, and no more
    than a twentieth of the rows.

    Parameters
    ----------
    rows : ndarray of shape (n, n_inputs)
        Shuffled.
    held_out : ndarray of shape (m, n_inputs)
        There may be none.

    Attributes
    ----------
    rows_there : ndarray or Tensor
        The same where they are computed with.
    nearest : ndarray of shape (n_queries, k) or None
        The nearest held-out rows of the first ones.
    """

    def __init__(self, rows: Float32Array, held_out: Float32Array) -> None:
        self.rows, self.held_out = rows, held_out
        self.rows_there = current_backend().put(rows)
        self.nearest: IdArray | None = None
        if len(held_out) > 1:
            asked = held_out[:_MOST_QUERIES]
            wanted, most = -(-_COMPARISONS // len(asked)), len(held_out) // 20
            k = min(_RECALL_AT, wanted, max(1, most))
            found = exact_neighbours(asked, held_out, k + 1)
            self.nearest = without_itself(found.ids)
            self._held_out_there = current_backend().put(held_out)

    @property
    def few(self) -> bool:
        """Return whether the rows held out are so few that noise hides small gains."""
        return self.nearest is not None and len(self.held_out) < _MANY

    def recall(self, map: Map, lengths: Sequence[int]) -> float:
        """Return the share of them that codes find, a mean over the lengths.

        It is 0 when nothing is held out. Ties are broken by place, which is a chance,
        as rows are shuffled: their expectation takes ten times as long.
        """
        if self.nearest is None:
            return 0.0
        whole, found = codes_of(map, self._held_out_there), []
        n, k = self.nearest.shape
        for length in lengths:
            codes = prefix(whole, length)
            first = without_itself(hamming_topk(codes[:n], codes, k + 1).ids)
            found.append(search_recall(first, self.nearest).value)
        return float(np.mean(found))

    def error(self, recall: float) -> float:
        """Return the standard error of a recall."""
        n = 1 if self.nearest is None else self.nearest.size
        return float(np.sqrt(recall * (1 - recall) / n))

    def found(self, map: Map, lengths: Sequence[int]) -> Found:
        """Return what each query finds among few rows, means over the lengths."""
        assert self.nearest is not None
        nearest = self.nearest[:, :_NEAREST_OF_FEW]
        n, k = nearest.shape
        scores = current_backend().get(map.scores(self._held_out_there))
        signs = np.where(scores >= 0, np.float32(1), np.float32(-1))
        found = []
        for length in lengths:
            for asking in (signs, scores):
                alike = asking[:n, :length] @ signs[:, :length].T
                first = np.argsort(-alike, axis=1, kind="stable")[:, : k + 1]
                recall = search_recall(without_itself(first), nearest)
                found.append(recall.per_query)
        return Found(*np.reshape(found, (len(lengths), 2, n)).mean(axis=0))


def gained(before: Found, after: Found) -> bool:
    """Return whether more is found by codes, beyond the error, and no less by scores.

    The error is that of the difference, for the same queries.
    """
    by_codes, by_scores = (x - y for x, y in zip(after, before, strict=True))
    error = by_codes.std() / np.sqrt(len(by_codes))
    return bool(by_codes.mean() > error and by_scores.mean() >= 0)


def without_itself(ids: IdArray) -> IdArray:
    """Return lines without their own numbers, or the last, where these are not there.

    They are not where more rows than are asked for are the same.
    """
    own = ids == np.arange(len(ids))[:, None]
    own[:, -1] |= ~own.any(axis=1)
    found: IdArray = ids[~own].reshape(len(ids), -1)
    return found


def codes_of(map: Map, rows: Matrix) -> CodeArray:
    """Return the codes of rows, some at a time: their scores may be many."""
    n_bits = map.scores(rows[:1]).shape[1]
    some = parts(len(rows), max(n_bits, rows.shape[1]))
    scores = (map.scores(rows[each]) for each in some)
    return np.concatenate([pack(current_backend().get(each >= 0)) for each in scores])

"""Metrics of codes while they are trained: on held-out items, never on queries."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from fewbits._typing import CodeArray
from fewbits.analysis.bounds import code_bound
from fewbits.codes import pack
from fewbits.errors import ArgumentError
from fewbits.evaluation import mean_average_precision, same_label

_MOST_QUERIES, _MOST_ITEMS = 1000, 20_000
_HALVES = slice(0, None, 2), slice(1, None, 2)

Scores = NDArray[np.float32]


def split_off(
    labels: NDArray[Any], share: float, rng: np.random.RandomState
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return rows to train on, and held-out rows: this share of every class."""
    # A class of one item is trained on. Items with several labels are drawn without
    # regard to which they have, but for those that have none, which say nothing about a
    # ranking; one goes back for each label that would be left without any.
    n = len(labels)
    order = rng.permutation(n)
    if labels.ndim == 2:
        labelled = order[labels[order].any(axis=1)]
        held_out = labelled[: round(share * len(labelled))]
        there, total = labels[held_out] > 0, np.count_nonzero(labels, axis=0)
        lost = np.flatnonzero((total > 0) & (there.sum(axis=0) == total))
        back = [held_out[np.argmax(there[:, label])] for label in lost]
        held_out = np.setdiff1d(held_out, back)
    else:
        place = _place_in_class(labels[order])
        size = np.bincount(labels)[labels[order]]
        held_out = order[(place < np.round(share * size)) & (place < size - 1)]
    return np.setdiff1d(np.arange(n), held_out), np.sort(held_out)


def _place_in_class(labels: NDArray[Any]) -> NDArray[np.int64]:
    grouped = np.argsort(labels, kind="stable")
    starts = np.searchsorted(labels[grouped], labels[grouped])
    place = np.empty(len(labels), np.int64)
    place[grouped] = np.arange(len(labels)) - starts
    return place


def _alternating(rows: NDArray[np.int64], labels: NDArray[Any]) -> NDArray[np.int64]:
    """Return rows in an order in which both halves, every other row, share classes."""
    if labels.ndim == 1:
        rows = rows[np.argsort(labels[rows], kind="stable")]
        shared = bool((np.bincount(labels[rows]) > 1).any())
    else:
        one, other = (labels[rows[half]].any(axis=0) for half in _HALVES)
        shared = bool((one & other).any())
    if not shared:
        raise ArgumentError(
            f"validation_base='held_out' lets held-out items rank one another, but the "
            f"two halves of {len(rows)} share no label: raise validation"
        )
    return rows


class Evaluator:
    """Rank training items for held-out ones: 20,000 and 1,000 of them at most."""

    def __init__(
        self,
        labels: NDArray[Any],
        train: NDArray[np.int64],
        held_out: NDArray[np.int64],
        rng: np.random.RandomState,
        base: str,
    ) -> None:
        self.items = rng.permutation(train)[:_MOST_ITEMS]
        self.queries = rng.permutation(held_out)[:_MOST_QUERIES]
        if base == "held_out":
            self.queries = _alternating(self.queries, labels)
        self._item_labels, self._query_labels = labels[self.items], labels[self.queries]
        self._of_halves = None
        if base == "held_out":
            of_half = [self._query_labels[half] for half in _HALVES]
            self._of_halves = [same_label(*of_half), same_label(*of_half[::-1])]
        elif len(held_out):
            self._relevant = same_label(self._query_labels, self._item_labels)

    def metrics(
        self, items: Scores, queries: Scores, classes: Scores | None = None
    ) -> dict[str, float]:
        """Return ``bound``, and ``map`` if there are queries, from the scores."""
        # With scores of `classes` for the queries also ``accuracy``: how often the best
        # is one of theirs.
        codes = pack(items >= 0)
        bound = code_bound(codes, items.shape[1], self._item_labels)
        metrics = {"bound": float(bound.ratio)}
        if len(queries):
            metrics["map"] = self._map(pack(queries >= 0), codes)
            if classes is not None:
                metrics["accuracy"] = self._accuracy(classes)
        return metrics

    def _map(self, queries: CodeArray, items: CodeArray) -> float:
        if self._of_halves is None:
            return mean_average_precision(queries, items, self._relevant).value
        one, other = (queries[half] for half in _HALVES)
        values = [
            mean_average_precision(one, other, self._of_halves[0]).value,
            mean_average_precision(other, one, self._of_halves[1]).value,
        ]
        return float(np.mean(values))

    def _accuracy(self, classes: Scores) -> float:
        """Of classes that are equally good, each is taken as often."""
        best = classes == classes.max(axis=1, keepdims=True)
        n_best = best.sum(axis=1)
        labels = self._query_labels
        if labels.ndim == 1:
            return float(np.mean(best[np.arange(len(best)), labels] / n_best))
        shares = (best & (labels > 0)).sum(axis=1) / n_best
        return float(shares.sum() / max(labels.any(axis=1).sum(), 1))

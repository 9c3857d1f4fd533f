"""Metrics of codes while they are trained: on held-out items, never on queries."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

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
        shuffled = labels[order]
        grouped = np.argsort(shuffled, kind="stable")
        starts = np.searchsorted(shuffled[grouped], shuffled[grouped])
        place = np.empty(n, np.int64)  # how many items of its class come before each
        place[grouped] = np.arange(n) - starts
        size = np.bincount(labels)[shuffled]
        held_out = order[(place < np.round(share * size)) & (place < size - 1)]
    return np.setdiff1d(np.arange(n), held_out), np.sort(held_out)


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
        if base == "held_out" and labels.ndim == 1:  # so that halves share classes
            by_class = np.argsort(labels[self.queries], kind="stable")
            self.queries = self.queries[by_class]
        self._item_labels, self._query_labels = labels[self.items], labels[self.queries]
        self._of_halves = None
        if base == "held_out":
            one, other = (self._query_labels[half] for half in _HALVES)
            if labels.ndim == 1:
                shared = bool((np.bincount(self._query_labels) > 1).any())
            else:
                shared = bool((one.any(axis=0) & other.any(axis=0)).any())
            if not shared:
                raise ArgumentError(
                    "validation_base='held_out' lets held-out items rank one another, "
                    f"but the two halves of {len(self.queries)} share no label: raise "
                    "validation"
                )
            self._of_halves = [same_label(one, other), same_label(other, one)]
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
        if not len(queries):
            return metrics
        asking = pack(queries >= 0)
        if self._of_halves is None:
            of_all = mean_average_precision(asking, codes, self._relevant)
            metrics["map"] = of_all.value
        else:
            one, other = (asking[half] for half in _HALVES)
            values = [
                mean_average_precision(one, other, self._of_halves[0]).value,
                mean_average_precision(other, one, self._of_halves[1]).value,
            ]
            metrics["map"] = float(np.mean(values))
        if classes is None:
            return metrics
        # Of classes that are equally good, each is taken as often.
        best = classes == classes.max(axis=1, keepdims=True)
        n_best, labels = best.sum(axis=1), self._query_labels
        if labels.ndim == 1:
            accuracy = np.mean(best[np.arange(len(best)), labels] / n_best)
        else:
            shares = (best & (labels > 0)).sum(axis=1) / n_best
            accuracy = shares.sum() / max(labels.any(axis=1).sum(), 1)
        return {**metrics, "accuracy": float(accuracy)}

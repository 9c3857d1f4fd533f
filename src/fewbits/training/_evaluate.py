"""Evaluation of a bundle's codes against the features of its items."""

import time
from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np

from fewbits._repr import one_line
from fewbits._spans import spans
from fewbits._typing import FeatureArray, IdArray
from fewbits._warnings import warn_user
from fewbits.bundle import Bundle, vote_neighbours
from fewbits.classify import vote
from fewbits.encoders import LinearEncoder, feature_blocks
from fewbits.errors import ArgumentError
from fewbits.evaluation import (
    Comparison,
    compare_encoders,
    exact_neighbours,
    mean_average_precision,
    same_label,
    search_recall,
)
from fewbits.evaluation.classification import knn_accuracy
from fewbits.inputs import Input
from fewbits.training._fit import checked_labels

Progress = Callable[[int, int], None]
_COMPARED = 1 << 22  # numbers at a time


@dataclass(frozen=True)
class Report:
    """Metrics of one bundle on one pair of query and database items.

    Attributes
    ----------
    k : int
        Neighbours that count.
    comparison : list of Comparison
        Float vectors, the signs of centred features, the bundle's codes, and re-ranked
        search, if the bundle has a shortlist or stores vectors.
    mean_average_precision, knn_accuracy : float or None
        Mean average precision over labels (whole ranking, expected over ties), and
        k-NN accuracy; None without labels. Neighbours vote for one
        class, so `knn_accuracy` is None too for multi-label items. A
        bundle with a shortlist votes with its re-ranked neighbours.
    n_queries, n_items : int
    """

    k: int
    comparison: list[Comparison]
    mean_average_precision: float | None
    knn_accuracy: float | None
    n_queries: int
    n_items: int

    def __repr__(self) -> str:
        return one_line(self)

    def as_dict(self) -> dict[str, Any]:
        """Return plain values for JSON."""
        plain = asdict(self)
        plain["comparison"] = [row._asdict() for row in self.comparison]
        return plain


def evaluate_bundle(
    bundle: Bundle,
    queries: Input,
    database: Input,
    *,
    k: int = 10,
    progress: Progress | None = None,
) -> Report:
    """Measure a bundle's codes against the float features of the same items.

    Parameters
    ----------
    bundle : Bundle
    queries : Input
        Items that the encoder was not trained on and that are not in `database`.
    database : Input
    k : int, default=10
        Neighbours that count.
    progress : callable, default=None
        Called with (items done, items in all) while features are extracted, with
        (queries done, queries in all) while their nearest items are found, then with
        (steps done, steps in all).

    Warns
    -----
    UserWarning
        When queries are equal to items of the database, as if they were taken from it.

    Raises
    ------
    ArgumentError
        When only one side has labels, they differ in shape, there are fewer than `k`
        items, or the bundle is one of packed codes.
    """
    if bundle.item_kind == "codes":
        raise ArgumentError(
            "a bundle of packed codes has no vectors to compare its codes with"
        )
    queries, database = checked_labels(queries), checked_labels(database)
    _check_labels(queries, database)
    if len(database) < k:
        raise ArgumentError(f"{len(database)} items have no {k} nearest")
    Q = bundle.features(queries.values, progress=progress)
    X = bundle.features(database.values, progress=progress)
    encoders = {"sign bits": _signs(X), f"{bundle.encoder.n_bits} bits": bundle.encoder}
    nearest = exact_neighbours(Q, X, k, progress=progress).ids
    _warn_of_items(Q, X, nearest[:, 0])
    rows = compare_encoders(
        encoders,
        X,
        Q,
        k=k,
        nearest=nearest,
        progress=progress,
    )
    y, truth = database.labels, queries.labels
    precision = accuracy = None
    if y is not None and truth is not None:
        codes, items = bundle.encoder.encode(Q), bundle.encoder.encode(X)
        precision = mean_average_precision(codes, items, same_label(truth, y)).value
        if y.ndim == 1:
            accuracy = knn_accuracy(items, y, codes, truth, k=k).value
    kept = None if bundle.items is None else bundle.items.vector_form
    if bundle.shortlist is not None or kept is not None:
        of_features = replace(bundle, backbone=None, backbone_fingerprint=None)
        built = of_features.with_items(X, keep_vectors=kept)
        rows.append(_reranked(built, Q, nearest))
        if y is not None and accuracy is not None and bundle.shortlist is not None:
            neighbours = vote_neighbours(built, Q, k)
            accuracy = float(np.mean(vote(neighbours, y, k).labels == truth))
    return Report(k, rows, precision, accuracy, len(queries), len(database))


def _reranked(built: Bundle, queries: FeatureArray, nearest: IdArray) -> Comparison:
    """Search as a bundle does that has a shortlist or stores vectors.

    Its shortlist is re-ranked by vectors of the precision in which it stores them, or
    else by scores.
    """
    start = time.perf_counter()
    hits = built.search_reranked(queries, nearest.shape[1])
    speed = len(queries) / (time.perf_counter() - start)
    by = "scores" if built.collection.vectors is None else "vectors"
    again = "" if built.shortlist is None else f"{built.shortlist} "
    name = f"{built.encoder.n_bits} bits, {again}re-ranked by {by}"
    recall = search_recall(hits.ids, nearest).value
    return Comparison(name, built.collection.bytes_per_item, recall, None, speed)


def _check_labels(queries: Input, database: Input) -> None:
    if (queries.labels is None) != (database.labels is None):
        raise ArgumentError("give labels for the queries and the database, or for none")
    if queries.labels is None or database.labels is None:
        return
    if queries.labels.shape[1:] != database.labels.shape[1:]:
        raise ArgumentError(
            f"labels must have the same form, got shape {queries.labels.shape} in "
            f"{queries.source} and {database.labels.shape} in {database.source}"
        )
    if queries.labels.ndim == 1 and not np.isin(queries.labels, database.labels).any():
        raise ArgumentError(
            f"no label of {queries.source} is one of {database.source}, such as "
            f"{queries.labels[0]!s} and {database.labels[0]!s}"
        )


def _warn_of_items(queries: Any, items: Any, nearest: IdArray) -> None:
    """Warn of queries that are in the database: they find themselves."""
    equal = 0
    for span in spans(len(queries), max(1, _COMPARED // queries.shape[1])):
        query, item = (
            np.asarray(rows, dtype=np.float32)
            for rows in (queries[span], items[nearest[span]])
        )
        equal += int((query == item).all(axis=1).sum())
    if equal:
        verb = "is" if equal == 1 else "are"
        warn_user(
            f"{equal:,} of {len(queries):,} queries {verb} equal to an item of the "
            "database, and find it first; measure with items that are not in it"
        )


def _signs(features: Any) -> LinearEncoder:
    """Return the encoder of the signs of centred features.

    Block by block, because the features may be a memory map.
    """
    blocks = (block for _, block in feature_blocks(features))
    mean = sum(block.sum(axis=0, dtype=np.float64) for block in blocks) / len(features)
    return LinearEncoder(np.eye(len(mean)), -mean)

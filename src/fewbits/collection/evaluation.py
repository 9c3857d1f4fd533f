"""Evaluation of the codes of a collection against the features of items."""

import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from fewbits._repr import short_repr
from fewbits._spans import spans
from fewbits._typing import IdArray
from fewbits._warnings import warn_user
from fewbits.collection.collection import Collection
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
from fewbits.training import checked_labels

__all__ = ["Evaluation", "evaluate"]

Progress = Callable[[int, int], None]
_COMPARED = 1 << 22  # numbers at a time


@dataclass(frozen=True)
class Evaluation:
    """Metrics of an encoder on one pair of query and database items.

    Attributes
    ----------
    k : int
        Neighbours that count.
    comparison : list of Comparison
        Float vectors, the signs of centred features, the codes, and re-ranked search,
        if the collection keeps vectors.
    mean_average_precision, knn_accuracy : float or None
        Mean average precision over labels (whole ranking, expected over ties), and
        k-NN accuracy; None without labels. Neighbours vote for one class, so
        `knn_accuracy` is None too for items with several labels.
    n_queries, n_items : int
    """

    k: int
    comparison: list[Comparison]
    mean_average_precision: float | None
    knn_accuracy: float | None
    n_queries: int
    n_items: int

    def __repr__(self) -> str:
        return short_repr(self)

    def to_dict(self) -> dict[str, Any]:
        """Return plain values for JSON."""
        rows = [row._asdict() for row in self.comparison]
        return {**asdict(self), "comparison": rows}


def evaluate(
    collection: Collection,
    queries: Input,
    database: Input,
    *,
    k: int = 10,
    progress: Progress | None = None,
) -> Evaluation:
    """Measure the codes of a collection's encoder against float features.

    Parameters
    ----------
    collection : Collection
    queries : Input
        Items that the encoder was not trained on and that are not in `database`.
    database : Input
    k : int, default=10
        Neighbours that count.
    progress : callable, default=None
        Called with (items done, items in all) while features are extracted, with
        (queries done, queries in all) while their nearest items are found, then with
        (steps done, steps in all).

    Returns
    -------
    Evaluation

    Warns
    -----
    UserWarning
        When queries are equal to items of the database, as if they were taken from it.

    Raises
    ------
    ArgumentError
        When only one side has labels, they differ in shape, there are fewer than `k`
        items, or the codes were made elsewhere.
    """
    if collection.kind == "codes":
        raise ArgumentError(
            "a collection of codes has no vectors to compare its codes with"
        )
    queries, database = checked_labels(queries), checked_labels(database)
    y, truth = database.labels, queries.labels
    if (truth is None) != (y is None):
        raise ArgumentError("give labels for the queries and the database, or for none")
    if y is not None and truth is not None:
        if truth.shape[1:] != y.shape[1:]:
            raise ArgumentError(
                f"labels must have the same form, got shape {truth.shape} in "
                f"{queries.source} and {y.shape} in {database.source}"
            )
        if truth.ndim == 1 and not np.isin(truth, y).any():
            raise ArgumentError(
                f"no label of {queries.source} is one of {database.source}, such as "
                f"{truth[0]!s} and {y[0]!s}"
            )
    if len(database) < k:
        raise ArgumentError(f"{len(database)} items have no {k} nearest")
    encoder = collection.encoder
    Q = collection.features(queries.values, progress=progress)
    X = collection.features(database.values, progress=progress)
    # Block by block, because the features may be a memory map.
    sums = (block.sum(axis=0, dtype=np.float64) for _, block in feature_blocks(X))
    signs = LinearEncoder(np.eye(X.shape[1]), -sum(sums) / len(X))
    encoders = {"sign bits": signs, f"{encoder.n_bits} bits": encoder}
    nearest = exact_neighbours(Q, X, k, progress=progress).ids
    _warn_of_items(Q, X, nearest[:, 0])
    rows = compare_encoders(encoders, X, Q, k=k, nearest=nearest, progress=progress)
    precision = accuracy = None
    if y is not None and truth is not None:
        codes, items = encoder.encode(Q), encoder.encode(X)
        precision = mean_average_precision(codes, items, same_label(truth, y)).value
        if y.ndim == 1:
            accuracy = knn_accuracy(items, y, codes, truth, k=k).value
    if (form := collection.vector_dtype) is not None:
        built = Collection.create(None, X, encoder=encoder, keep_vectors=form)
        start = time.perf_counter()
        hits = built.search(vectors=Q, k=k)
        speed = len(queries) / (time.perf_counter() - start)
        recall = search_recall(hits.ids, nearest).value
        name = f"{encoder.n_bits} bits, re-ranked by {form} vectors"
        n_bytes = built.summary()["bytes_per_item"]
        rows.append(Comparison(name, n_bytes, recall, None, speed))
    return Evaluation(k, rows, precision, accuracy, len(queries), len(database))


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

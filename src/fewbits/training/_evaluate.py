"""Evaluation of a bundle's codes against the features of its items."""

from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from fewbits._repr import one_line
from fewbits._spans import spans
from fewbits._typing import IdArray
from fewbits._warnings import warn_user
from fewbits.bundle import Bundle
from fewbits.encoders import LinearEncoder, feature_blocks
from fewbits.errors import ArgumentError
from fewbits.evaluation import (
    Comparison,
    compare_encoders,
    exact_neighbours,
    mean_average_precision,
    same_label,
)
from fewbits.evaluation.classification import knn_accuracy
from fewbits.inputs import Input
from fewbits.training._alarms import checked_labels
from fewbits.training._reranked import reranked

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
        search, if the bundle was tuned for it or stores vectors.
    mean_average_precision, knn_accuracy : float or None
        Mean average precision over labels (whole ranking, expected over ties), and
        k-NN accuracy; None without labels. Neighbours vote for one
        class, so `knn_accuracy` is None too for multi-label items. A
        bundle that was tuned for re-ranking votes with its re-ranked neighbours.
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
    asked = bundle.features(queries.values, progress=progress)
    among = bundle.features(database.values, progress=progress)
    name = f"{bundle.encoder.n_bits} bits"
    encoders = {"sign bits": _signs(among), name: bundle.encoder}
    nearest = exact_neighbours(asked, among, k, progress=progress).ids
    _warn_of_items(asked, among, nearest[:, 0])
    rows = compare_encoders(
        encoders,
        among,
        asked,
        k=k,
        nearest=nearest,
        progress=progress,
    )
    precision, accuracy = _label_metrics(bundle, queries, database, asked, among, k)
    own = reranked(bundle, asked, among, nearest)
    if own is not None:
        rows.append(own.row)
        if accuracy is not None and bundle.shortlist is not None:
            accuracy = own.vote_accuracy(asked, queries.labels, database.labels, k)
    return Report(k, rows, precision, accuracy, len(queries), len(database))


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


def _warn_of_items(asked: Any, among: Any, nearest: IdArray) -> None:
    """Warn of queries that are in the database: they find themselves."""
    equal = 0
    for span in spans(len(asked), max(1, _COMPARED // asked.shape[1])):
        mine, theirs = (
            np.asarray(rows, dtype=np.float32)
            for rows in (asked[span], among[nearest[span]])
        )
        equal += int((mine == theirs).all(axis=1).sum())
    if equal:
        verb = "is" if equal == 1 else "are"
        warn_user(
            f"{equal:,} of {len(asked):,} queries {verb} equal to an item of the "
            "database, and find it first; measure with items that are not in it"
        )


def _label_metrics(
    bundle: Bundle, queries: Input, database: Input, asked: Any, among: Any, k: int
) -> tuple[float | None, float | None]:
    """Return mean average precision over labels, and k-NN accuracy."""
    if queries.labels is None or database.labels is None:
        return None, None
    codes, items = bundle.encoder.encode(asked), bundle.encoder.encode(among)
    relevance = same_label(queries.labels, database.labels)
    precision = mean_average_precision(codes, items, relevance).value
    if database.labels.ndim > 1:
        return precision, None
    found = knn_accuracy(items, database.labels, codes, queries.labels, k=k)
    return precision, found.value


def _signs(features: Any) -> LinearEncoder:
    """Return the encoder of the signs of centred features.

    Block by block, because the features may be a memory map.
    """
    blocks = (block for _, block in feature_blocks(features))
    mean = sum(block.sum(axis=0, dtype=np.float64) for block in blocks) / len(features)
    return LinearEncoder(np.eye(len(mean)), -mean)

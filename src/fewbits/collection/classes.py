"""The class of items: by class codes, by votes of neighbours, or by linear models."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fewbits._checks import check_count
from fewbits._labels import as_label_rows
from fewbits._repr import one_line
from fewbits._typing import IdArray
from fewbits.classify import (
    Codebook,
    label_scores,
    label_votes,
    learn_classes,
    nearest_label_votes,
    nearest_vote,
    top_classes,
    vote,
)
from fewbits.classify.decoders import Decoder, ScoreDecoder, decoder_of
from fewbits.codes import Neighbours
from fewbits.collection._model import Model
from fewbits.collection._rows import Mask, Rows
from fewbits.collection._search import Query, Search
from fewbits.errors import ArgumentError

_TOP = 3  # classes shown where it is known how probable they are
_LABELS = 5  # shown where items have several
_HALF = 0.5  # of the voters
_RATES = ("max_false_reject_rate", "max_false_accept_rate")


@dataclass(frozen=True, eq=False, repr=False)
class Classification:
    """The class of each item.

    Attributes
    ----------
    classes : ndarray of shape (n,), dtype object
        None for none of them; a list where items have several labels.
    scores : ndarray of shape (n,), dtype float64, or None
        How well each fits: the distance to the class code, -1 for none (smaller is
        better); the share of the votes; or the score of a linear model.
    accepted : ndarray of shape (n,), dtype bool, or None
        Whether each is of a known class, where items of unknown ones are rejected.
    expected : dict or None
        What to expect of rejection, see `fewbits.ood.RejectionThreshold`.
    """

    classes: NDArray[Any]
    scores: NDArray[np.float64] | None
    accepted: NDArray[np.bool_] | None
    expected: dict[str, Any] | None
    records: tuple[dict[str, Any], ...]

    @classmethod
    def of_records(
        cls, records: list[dict[str, Any]], expected: dict[str, Any] | None
    ) -> "Classification":
        """Return what `to_dict` gave, read from JSON."""
        labels = [record.get("class", record.get("labels")) for record in records]
        scores = None
        for name in ("distance", "share", "score"):
            if records and name in records[0]:
                scores = np.array([record[name] for record in records], np.float64)
        accepted = None
        if records and "accepted" in records[0]:
            accepted = np.array(
                [record.pop("accepted") for record in records], np.bool_
            )
        return cls(_objects(labels), scores, accepted, expected, tuple(records))

    def __len__(self) -> int:
        return len(self.records)

    def __repr__(self) -> str:
        return one_line(self)

    def to_list(self) -> list[dict[str, Any]]:
        """Return a dict for each item, as JSON has it.

        By class codes ``class``, ``distance`` and ``classes``, the most probable ones
        with their ``probability``; by votes ``class`` and ``share``; by linear models
        ``class`` and ``score``. Where items have several labels, ``labels`` and
        ``ranked``. ``accepted`` where items are rejected.
        """
        if self.accepted is None:
            return [dict(record) for record in self.records]
        pairs = zip(self.records, self.accepted.tolist(), strict=True)
        return [{**record, "accepted": accepted} for record, accepted in pairs]

    def to_dict(self) -> dict[str, Any]:
        """Return the whole answer as plain values: what a service answers."""
        expected = {} if self.expected is None else {"expected": self.expected}
        return {"results": self.to_list(), **expected}


def classify(
    model: Model,
    rows: Rows | None,
    query: Query,
    *,
    label: str | None,
    k: int | None,
    linear: bool,
    decoder: Decoder | str | None,
    max_false_reject_rate: float | None,
    max_false_accept_rate: float | None,
    top: int | None,
) -> Classification:
    """Return what `Collection.classify` does."""
    rates = dict(
        zip(_RATES, (max_false_reject_rate, max_false_accept_rate), strict=True)
    )
    unused: dict[str, Any]
    of_votes = {"k": k, "linear": linear or None}
    of_codes = {"decoder": decoder, **rates, "top": top}
    if label is None:
        unused, what = of_votes, "votes by label= (on the command line --label)"
    else:
        unused, what = of_codes, "class codes, not of votes by label="
    for name, value in unused.items():
        if value is not None:
            raise ArgumentError(f"{name} applies only to {what}: leave it out")
    if linear and k is not None:
        raise ArgumentError("k is of votes, not of linear models: leave it out")
    if label is None:
        if model.facts.several_labels:
            for name, value in {"decoder": decoder, **rates}.items():
                if value is not None:
                    raise ArgumentError(
                        f"{name} is for items of one class each: those of this "
                        "collection have several labels"
                    )
            return _labels_by_codes(model, query, _LABELS if top is None else top)
        return _class_by_codes(model, query, decoder, rates, top)
    if rows is None:
        raise ArgumentError("this collection holds no rows that could vote")
    labelled = rows.labelled(label) if label in rows.columns else None
    classes = label_rows(rows, label, labelled)
    if labelled is not None and not labelled.any():
        raise ArgumentError(f"no item has a label in column {label!r}")
    if linear:
        return _by_linear_models(model, rows, query, classes, labelled)
    k = 10 if k is None else check_count(k, "k")
    return _by_votes(model, rows, query, classes, labelled, k)


def label_rows(rows: Rows, name: str, some: Mask | None = None) -> NDArray[Any]:
    """Return a column of classes, or a row for each item that has several labels.

    Of all items, or of some.
    """
    if name not in rows.columns and "label" in rows.columns:
        raise ArgumentError(
            f"the collection has no column {name!r}: labels that were not a column are "
            f"kept as 'label'; it has {', '.join(rows.columns)}"
        )
    values = rows.column(name)
    values = values if some is None else values[some]
    return as_label_rows(values.tolist(), f"column {name!r}")


# By class codes.


def _class_by_codes(
    model: Model,
    query: Query,
    decoder: Decoder | str | None,
    rates: dict[str, float | None],
    top: int | None,
) -> Classification:
    rejects = any(rate is not None for rate in rates.values())
    rejection = model.rejecting if rejects else None  # says first what it needs
    knows_scores = query.has_features
    decoder = decoder_of(decoder or ("soft" if knows_scores else "nearest"))
    if isinstance(decoder, ScoreDecoder):
        scores: NDArray[Any] = model.encoder.project(query.features)
        if decoder.reads_log_odds and model.calibration is not None:
            scores = model.calibration.log_odds(scores)
        zero_bit = model.encoder.zero_bit
        decoded = decoder.decode(model.classes, scores, zero_bit=zero_bit)
    else:
        codes = query.codes  # before it matters whether there are classes
        decoded = decoder.decode(model.classes, codes)
    accepted = expected = None
    if rejection is not None:
        threshold = rejection.threshold(**rates)
        expected = threshold._asdict()
        accepted = rejection.score(query.features) >= threshold.threshold
        decoded = decoded.only(accepted)
    names = _names(model.classes, decoded.rows)
    records: list[dict[str, Any]] = [
        {"class": name, "distance": distance}
        for name, distance in zip(names, decoded.distances.tolist(), strict=True)
    ]
    if top is None:
        top = _TOP if model.calibration is not None and knows_scores else 0
    if check_count(top, "top", 0):
        scores = model.encoder.project(query.features)
        best = top_classes(model.classes, scores, top, model.calibration)
        for record, rows, shares in zip(
            records, best.rows, best.probabilities.tolist(), strict=True
        ):
            named = zip(_names(model.classes, rows), shares, strict=True)
            record["classes"] = [{"class": n, "probability": p} for n, p in named]
    distances = decoded.distances.astype(np.float64)
    return Classification(
        _objects(names), distances, accepted, expected, tuple(records)
    )


def _labels_by_codes(model: Model, query: Query, top: int) -> Classification:
    """Return the labels of items that may have several."""
    book, least = model.classes, model.facts.label_threshold
    top = check_count(top, "top")
    scores = label_scores(book, model.encoder.project(query.features))
    records = []
    for row, order in zip(scores, np.argsort(-scores, kind="stable"), strict=True):
        ranked = zip(_names(book, order), row[order].tolist(), strict=True)
        labels = [{"label": name, "score": score} for name, score in ranked]
        record: dict[str, Any] = {"ranked": labels[:top]}
        if least is not None:
            above = [entry["label"] for entry in labels if entry["score"] >= least]
            record = {"labels": above, **record}
        records.append(record)
    return Classification(
        _objects([record.get("labels") for record in records]),
        None,
        None,
        None,
        tuple(records),
    )


# By items of the collection.


def _by_votes(
    model: Model,
    rows: Rows,
    query: Query,
    classes: NDArray[Any],
    labelled: Mask | None,
    k: int,
) -> Classification:
    """Return the class that most of the nearest items have.

    Items whose codes are as far away as the k-th share the votes that are left; kept
    vectors choose the voters instead, where there are any. An item of the collection
    has no vote on itself, and one without a label on none.
    """
    if rows.vector_dtype is not None and query.has_features:
        search = Search(model, rows, query, rerank=True, mask=labelled)
        distances, numbers = search.nearest(min(k, max(1, len(rows))))
        positions = rows.positions_of(np.maximum(numbers, 0))
        if labelled is not None:  # among those with a label
            positions = np.cumsum(labelled)[positions] - 1
        voters = Neighbours(distances, np.where(numbers < 0, -1, positions))
        if classes.ndim > 1:
            return _ranked([*label_votes(voters, classes, k)], _HALF)
        best = vote(voters, classes, k)
        names, shares = best.labels.tolist(), best.shares
    else:
        codes = rows.codes if labelled is None else rows.codes[labelled]
        own = _own(rows, query, labelled)
        if classes.ndim > 1:
            shares = nearest_label_votes(query.codes, codes, classes, k, own=own)
            return _ranked([*shares], _HALF)
        best = nearest_vote(query.codes, codes, classes, k, own=own)
        names, shares = best.labels.tolist(), best.shares
    records = [
        {"class": name, "share": share}
        for name, share in zip(names, shares.tolist(), strict=True)
    ]
    return Classification(_objects(names), shares, None, None, tuple(records))


def _own(rows: Rows, query: Query, labelled: Mask | None) -> IdArray | None:
    """Return which of the labelled items each query is, -1 where it is none."""
    if query.stored is None:
        return None
    positions = rows.positions_of(query.stored)
    if labelled is None:
        return positions
    return np.where(labelled[positions], np.cumsum(labelled)[positions] - 1, -1)


def _by_linear_models(
    model: Model,
    rows: Rows,
    query: Query,
    classes: NDArray[Any],
    labelled: Mask | None,
) -> Classification:
    """Return the class by linear models on bits, learnt from items with a label."""
    codes = rows.codes if labelled is None else rows.codes[labelled]
    linear = learn_classes(codes, model.encoder.n_bits, classes)
    scores = linear.scores(query.codes)
    if classes.ndim > 1:
        return _ranked(list(scores), 0.0)
    names = linear.names[scores.argmax(axis=1)].tolist()
    best = scores.max(axis=1).astype(np.float64)
    records = [
        {"class": name, "score": score}
        for name, score in zip(names, scores.max(axis=1).tolist(), strict=True)
    ]
    return Classification(_objects(names), best, None, None, tuple(records))


def _ranked(scores: list[NDArray[Any]], least: float) -> Classification:
    """Return the labels whose share or score is large enough, and the best."""
    records = []
    for row in scores:
        order = np.argsort(-row, kind="stable").tolist()
        ranked = [{"label": i, "score": float(row[i])} for i in order]
        labels = [entry["label"] for entry in ranked if entry["score"] >= least]
        records.append({"labels": labels, "ranked": ranked[:_LABELS]})
    of_each = _objects([record["labels"] for record in records])
    return Classification(of_each, None, None, None, tuple(records))


def _objects(values: list[Any]) -> NDArray[Any]:
    return np.fromiter(values, object, len(values))


def _names(book: Codebook, rows: NDArray[np.int64]) -> list[Any]:
    names = book.names.tolist()
    return [names[row] if row >= 0 else None for row in rows.tolist()]

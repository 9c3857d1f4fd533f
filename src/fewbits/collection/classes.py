"""The class of items: by class codes, by votes of neighbours, or by linear models."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, NoReturn

import numpy as np
from numpy.typing import NDArray

from fewbits._checks import check_count
from fewbits._labels import as_label_rows
from fewbits._repr import short_repr
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
#: Methods whose fits have class codes.
_WITH_CLASSES = (
    "llc, deep-supervised-itq, csq, dbdh, dch, dsdh, greedyhash, hashnet, orthohash"
)


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
    ) -> Classification:
        """Return what `to_dict` gave, read from JSON."""
        labels = [record.get("class", record.get("labels")) for record in records]
        scores = None
        for name in ("distance", "share", "score"):
            if records and name in records[0]:
                scores = np.array([record[name] for record in records], np.float64)
        accepted = None
        if records and "accepted" in records[0]:
            accepted = np.array([record["accepted"] for record in records], np.bool_)
        return cls(_objects(labels), scores, accepted, expected, tuple(records))

    def __len__(self) -> int:
        return len(self.records)

    def __repr__(self) -> str:
        return short_repr(self)

    def to_list(self) -> list[dict[str, Any]]:
        """Return a dict for each item, as JSON has it.

        By class codes ``class``, ``distance`` and ``classes``, the most probable ones
        with their ``probability``; by votes ``class`` and ``share``; by linear models
        ``class`` and ``score``. Where items have several labels, ``labels`` and
        ``ranked``. ``accepted`` where items are rejected.
        """
        return [dict(record) for record in self.records]

    def to_dict(self) -> dict[str, Any]:
        """Return the whole answer as plain values: what a service answers."""
        expected = {} if self.expected is None else {"expected": self.expected}
        return {"results": self.to_list(), **expected}


def classify(
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
    model, rows = query.model, query.rows
    rates = {
        "max_false_reject_rate": max_false_reject_rate,
        "max_false_accept_rate": max_false_accept_rate,
    }
    unused: dict[str, Any] = {"k": k, "linear": linear or None}
    what = "votes by label= (on the command line --label)"
    if label is not None:
        unused = {"decoder": decoder, **rates, "top": top}
        what = "class codes, not of votes by label="
    for name, value in unused.items():
        if value is not None:
            raise ArgumentError(f"{name} applies only to {what}: leave it out")
    if linear and k is not None:
        raise ArgumentError("k is of votes, not of linear models: leave it out")
    if label is None and model.facts.several_labels:
        for name, value in {"decoder": decoder, **rates}.items():
            if value is not None:
                raise ArgumentError(
                    f"{name} is for items of one class each: those of this "
                    "collection have several labels"
                )
        top = _LABELS if top is None else check_count(top, "top")
        book, least = _codebook_of(model), model.facts.label_threshold
        label_shares = label_scores(book, model.encoder.project(query.features))
        return _ranked(label_shares, least, top, book.names.tolist())
    if label is None:
        return _class_by_codes(query, decoder, rates, top)
    if rows is None:
        raise ArgumentError("this collection holds no rows that could vote")
    labelled = rows.labelled(label) if label in rows.columns else None
    classes = label_rows(rows, label, labelled)
    if labelled is not None and not labelled.any():
        raise ArgumentError(f"no item has a label in column {label!r}")
    if linear:
        codes = rows.codes if labelled is None else rows.codes[labelled]
        linear_models = learn_classes(codes, model.encoder.n_bits, classes)
        scores = linear_models.scores(query.codes)
        if classes.ndim > 1:
            return _ranked(scores, 0.0)
        names = linear_models.names[scores.argmax(axis=1)].tolist()
        return _best(names, "score", scores.max(axis=1))
    k = 10 if k is None else check_count(k, "k")
    return _by_votes(query, classes, labelled, k)


def label_rows(rows: Rows, name: str, mask: Mask | None = None) -> NDArray[Any]:
    """Return a column of classes, or a row for each item that has several labels.

    Of all items, or of those of a mask.
    """
    if name not in rows.columns and "label" in rows.columns:
        raise ArgumentError(
            f"the collection has no column {name!r}: labels that were not a column are "
            f"kept as 'label'; it has {', '.join(rows.columns)}"
        )
    values = rows.column(name)
    values = values if mask is None else values[mask]
    return as_label_rows(values.tolist(), f"column {name!r}")


def _class_by_codes(
    query: Query,
    decoder: Decoder | str | None,
    rates: dict[str, float | None],
    top: int | None,
) -> Classification:
    model, rejection = query.model, None
    if any(rate is not None for rate in rates.values()):
        rejection = model.rejection or _refuse_rejection(model)  # before all else
    decoder = decoder_of(decoder or ("soft" if query.has_features else "nearest"))
    if isinstance(decoder, ScoreDecoder):
        scores: NDArray[Any] = model.encoder.project(query.features)
        if decoder.reads_log_odds and model.calibration is not None:
            scores = model.calibration.log_odds(scores)
        book = _codebook_of(model)
        decoded = decoder.decode(book, scores, zero_bit=model.encoder.zero_bit)
    else:
        codes = query.codes  # before it matters whether there are classes
        book = _codebook_of(model)
        decoded = decoder.decode(book, codes)
    accepted = expected = None
    if rejection is not None:
        threshold = rejection.threshold(**rates)
        expected = threshold._asdict()
        accepted = rejection.score(query.features) >= threshold.threshold
        decoded = decoded.only(accepted)
    names = _names(book, decoded.rows)
    answer = _best(names, "distance", decoded.distances)
    if top is None:
        top = _TOP if model.calibration is not None and query.has_features else 0
    if check_count(top, "top", 0):
        scores = model.encoder.project(query.features)
        best = top_classes(book, scores, top, model.calibration)
        for record, rows, shares in zip(
            answer.records, best.rows, best.probabilities.tolist(), strict=True
        ):
            named = zip(_names(book, rows), shares, strict=True)
            record["classes"] = [{"class": n, "probability": p} for n, p in named]
    if accepted is not None:
        for record, is_known in zip(answer.records, accepted.tolist(), strict=True):
            record["accepted"] = is_known
    return replace(answer, accepted=accepted, expected=expected)


def _codebook_of(model: Model) -> Codebook:
    if model.codebook is None:
        raise ArgumentError(
            "this collection has no class codes: learn them from labels by "
            "'fewbits fit --learner llc' or another deep method, or let items vote, by "
            "label= (on the command line --label)"
        )
    return model.codebook


def _refuse_rejection(model: Model) -> NoReturn:
    needs = (
        "'fewbits fit' learns that from items of at least two classes, one each, whose "
        "features were not trained on them"
    )
    if model.codebook is None:
        needs = (
            "that needs class codes. 'fewbits fit' learns class codes and rejection "
            f"from items of one class each by {_WITH_CLASSES} (these need torch)"
        )
    raise ArgumentError(
        f"this collection cannot reject items of unknown classes: {needs}"
    )


def _by_votes(
    query: Query, classes: NDArray[Any], labelled: Mask | None, k: int
) -> Classification:
    """Return the class that most of the nearest items have.

    Items whose codes are as far away as the k-th share the votes that are left; kept
    vectors choose the voters instead, where there are any. An item of the collection
    has no vote on itself, and one without a label on none.
    """
    rows: Rows = query.rows

    def voters_at(row_numbers: IdArray) -> IdArray:
        """Return which of the items with a label these rows are, -1 for none."""
        positions = rows.positions_of(np.maximum(row_numbers, 0))
        if labelled is not None:
            votes = labelled[positions]
            positions = np.where(votes, np.cumsum(labelled)[positions] - 1, -1)
        return np.where(row_numbers < 0, -1, positions)

    if rows.vector_dtype is not None and query.has_features:
        search = Search(query, "euclidean", mask=labelled)
        distances, hits = search.nearest(min(k, max(1, len(rows))))
        voters = Neighbours(distances, voters_at(hits))
        if classes.ndim > 1:
            return _ranked(label_votes(voters, classes, k), _HALF)
        best = vote(voters, classes, k)
    else:
        codes = rows.codes if labelled is None else rows.codes[labelled]
        query_rows = None if query.stored is None else voters_at(query.stored)
        if classes.ndim > 1:
            shares = nearest_label_votes(
                query.codes, codes, classes, k, query_rows=query_rows
            )
            return _ranked(shares, _HALF)
        best = nearest_vote(query.codes, codes, classes, k, query_rows=query_rows)
    return _best(best.labels.tolist(), "share", best.shares)


def _best(names: list[Any], what: str, scores: NDArray[Any]) -> Classification:
    """Return the one class of each item, with its distance, share or score."""
    records = [
        {"class": name, what: score}
        for name, score in zip(names, scores.tolist(), strict=True)
    ]
    values = scores.astype(np.float64)
    return Classification(_objects(names), values, None, None, tuple(records))


def _ranked(
    scores: NDArray[Any],
    least: float | None,
    top: int = _LABELS,
    names: list[Any] | None = None,
) -> Classification:
    """Return the labels whose share or score is large enough, and the best."""
    records: list[dict[str, Any]] = []
    for row in scores:
        order = np.argsort(-row, kind="stable").tolist()
        ranked = [
            {"label": i if names is None else names[i], "score": float(row[i])}
            for i in order
        ]
        record: dict[str, Any] = {"ranked": ranked[:top]}
        if least is not None:
            above = [entry["label"] for entry in ranked if entry["score"] >= least]
            record = {"labels": above, **record}
        records.append(record)
    labels = _objects([record.get("labels") for record in records])
    return Classification(labels, None, None, None, tuple(records))


def _objects(values: list[Any]) -> NDArray[Any]:
    return np.fromiter(values, object, len(values))


def _names(book: Codebook, rows: NDArray[np.int64]) -> list[Any]:
    names = book.names.tolist()
    return [names[row] if row >= 0 else None for row in rows.tolist()]

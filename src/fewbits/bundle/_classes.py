"""The class of raw items, by the codebook of a bundle."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from fewbits._checks import check_count
from fewbits.bundle._asked import Asked
from fewbits.bundle._decoding import decode
from fewbits.classify import Codebook, label_scores, top_classes
from fewbits.classify.decoders import Decoder, decoder_of
from fewbits.errors import ArgumentError

if TYPE_CHECKING:
    from fewbits.bundle._search import SearchMixin as Bundle

_TOP = 3  # classes shown where it is known how probable they are
SHOWN_LABELS = 5  # where items have several


def class_answers(
    bundle: "Bundle",
    items: Any,
    *,
    decoder: Decoder | str = "soft",
    max_false_reject_rate: float | None = None,
    max_false_accept_rate: float | None = None,
    top: int | None = None,
) -> list[dict[str, Any]]:
    """Return the class of each raw item with what is known about it.

    Parameters
    ----------
    bundle : Bundle
    items : array-like of shape (n, n_features), sequence or StoredItems
        Vectors, or whatever the backbone takes; or items of the collection.
    decoder : Decoder or str, default="soft"
        See `Bundle.classify`. By the default the class is also the most probable one.
    max_false_reject_rate, max_false_accept_rate : float, default=None
        See `Bundle.classify`.
    top : int, default=None
        How many of the most probable classes to add; None adds 3 where the bundle is
        calibrated, and none where it is not. Without calibration scores are taken for
        log-odds as they are, which makes most items look too sure.

    Returns
    -------
    list of dict
        ``class``, None for none of them, ``distance`` to its code, -1 for none, and
        ``classes``, a list of ``class`` and ``probability``.

    Raises
    ------
    ArgumentError
        When the bundle has no codebook, or its items have several labels.
    """
    if bundle.metadata.several_labels:
        raise ArgumentError(
            "items have several labels here, not one class: see label_answers"
        )
    decoder, book = decoder_of(decoder), bundle.classes
    asked = Asked(bundle, items)
    rates = max_false_reject_rate, max_false_accept_rate
    found = decode(bundle, asked, decoder, *rates)
    answers: list[dict[str, Any]] = [
        {"class": name, "distance": distance}
        for name, distance in zip(
            _names(book, found.rows), found.distances.tolist(), strict=True
        )
    ]
    if top is None:
        top = 0 if bundle.calibration is None else _TOP
    if check_count(top, "top", 0):
        ranked = _best(bundle, asked.features, top)
        for answer, best in zip(answers, ranked, strict=True):
            answer["classes"] = best
    return answers


def _best(
    bundle: "Bundle", features: NDArray[Any], top: int
) -> Iterator[list[dict[str, Any]]]:
    """Yield the most probable classes of each item."""
    book, scores = bundle.classes, bundle.encoder.project(features)
    best = top_classes(book, scores, top, bundle.calibration)
    for rows, shares in zip(best.rows, best.probabilities.tolist(), strict=True):
        named = zip(_names(book, rows), shares, strict=True)
        yield [{"class": name, "probability": share} for name, share in named]


def label_answers(
    bundle: "Bundle", items: Any, *, top: int = SHOWN_LABELS
) -> list[dict[str, Any]]:
    """Return the labels of each raw item, where items may have several.

    Parameters
    ----------
    bundle : Bundle
    items : array-like of shape (n, n_features), sequence or StoredItems
        Vectors, or whatever the backbone takes; or items of the collection.
    top : int, default=5
        How many labels to rank.

    Returns
    -------
    list of dict
        ``labels``, the names of those that the item has, best first, if a threshold of
        scores was learnt on held-out items; and ``ranked``, a list of
        ``label`` and ``score``, see `fewbits.classify.label_scores`.

    Raises
    ------
    ArgumentError
        When the bundle has no codebook, or `top` is not a whole number from 1 on.
    """
    book, least = bundle.classes, bundle.metadata.label_threshold
    top = check_count(top, "top")
    scores = label_scores(book, bundle.encoder.project(Asked(bundle, items).features))
    answers = []
    for row, order in zip(scores, np.argsort(-scores, kind="stable"), strict=True):
        ranked = zip(_names(book, order), row[order].tolist(), strict=True)
        known = [{"label": name, "score": score} for name, score in ranked]
        answer: dict[str, Any] = {}
        if least is not None:
            answer["labels"] = [e["label"] for e in known if e["score"] >= least]
        answers.append({**answer, "ranked": known[:top]})
    return answers


def _names(book: Codebook, rows: NDArray[np.int64]) -> list[Any]:
    names = book.names.tolist()
    return [names[row] if row >= 0 else None for row in rows.tolist()]

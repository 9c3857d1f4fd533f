"""The class of raw items, by the codebook of a bundle."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from fewbits._checks import check_count
from fewbits.bundle._parts import BundleParts
from fewbits.classify import (
    Calibration,
    Codebook,
    Decoded,
    decode_bounded,
    decode_exact,
    decode_nearest,
    decode_orbgrand,
    decode_soft,
    label_scores,
    learn_classes,
    nearest_vote,
    top_classes,
    vote,
)
from fewbits.classify._vote import ballots_of, label_shares, nearest_ballots
from fewbits.codes import Neighbours
from fewbits.errors import ArgumentError
from fewbits.ood import AcceptanceRegion, conservative_region
from fewbits.ood._leave_one_class_out import check_rate

if TYPE_CHECKING:
    from fewbits.analysis.bounds import CodeBound
    from fewbits.bundle._search import SearchMixin as Bundle

AnyBundle = TypeVar("AnyBundle", bound=BundleParts)
_TOP = 3  # classes shown where it is known how probable they are
_LABELS = 5  # shown where items have several
_HALF = 0.5  # of the voters
DECODERS = ("exact", "bounded", "nearest", "soft", "orbgrand")


def decode(
    bundle: "Bundle",
    features: NDArray[Any],
    *,
    decoder: str = "soft",
    radius: int = 1,
    max_queries: int = 1000,
    order: str = "ranks",
    max_false_accept_rate: float | None = None,
) -> Decoded:
    """Return the classes of features by one of the decoders, and none for unknown."""
    found = _decoded(bundle, features, decoder, radius, max_queries, order)
    if max_false_accept_rate is None:
        return found
    region = known_by(bundle.classes, max_false_accept_rate, bundle.calibration)
    return found.only(region.accepts(bundle.encoder.encode(features)))


def known_by(
    book: Codebook, rate: float, calibration: Calibration | None
) -> AcceptanceRegion:
    """Return the acceptance region of a maximum false-accept rate.

    By `fewbits.ood.conservative_region`: the stricter of leave-one-class-out and of the
    code space.

    Parameters
    ----------
    book : Codebook
    rate : float
        Share of unknown items that may be accepted, between 0 and 1.
    calibration : Calibration or None
        Of the codebook.

    Returns
    -------
    AcceptanceRegion

    Warns
    -----
    UserWarning
        When the rate is not met: `predicted_rate` is above it.

    Raises
    ------
    ArgumentError
        When the rate is out of range, or codes are too short for it.
    """
    check_rate(rate, "max_false_accept_rate")
    hidden = None if calibration is None else calibration.hidden
    return conservative_region(book.codes, book.n_bits, rate, hidden)


def by_code_space(bundle: AnyBundle) -> AnyBundle:
    """Return the bundle without its leave-one-class-out rates.

    A `max_false_accept_rate` then is a share of all possible codes.
    """
    if bundle.calibration is None:
        return bundle
    return replace(bundle, calibration=replace(bundle.calibration, hidden=None))


def _decoded(
    bundle: "Bundle",
    features: NDArray[Any],
    decoder: str,
    radius: int,
    max_queries: int,
    order: str,
) -> Decoded:
    encoder, book, zero = bundle.encoder, bundle.classes, bundle.encoder.zero_bit
    by_codes: dict[str, Callable[[Any], Decoded]] = {
        "exact": lambda codes: decode_exact(book, codes),
        "bounded": lambda codes: decode_bounded(book, codes, radius),
        "nearest": lambda codes: decode_nearest(book, codes),
    }
    by_scores: dict[str, Callable[[Any], Decoded]] = {
        # By what the probabilities are of, so that the two never disagree.
        "soft": lambda scores: decode_soft(
            book, _log_odds(scores, bundle.calibration), zero_bit=zero
        ),
        "orbgrand": lambda scores: decode_orbgrand(
            book, scores, max_queries, order=order, zero_bit=zero
        ),
    }
    if decoder in by_codes:
        return by_codes[decoder](encoder.encode(features))
    if decoder in by_scores:
        return by_scores[decoder](encoder.project(features))
    raise ArgumentError(f"no decoder {decoder!r}; known are {', '.join(DECODERS)}")


def _log_odds(scores: NDArray[Any], calibration: Calibration | None) -> NDArray[Any]:
    return scores if calibration is None else calibration.log_odds(scores)


def class_answers(
    bundle: "Bundle", items: Any, *, top: int | None = None, **options: Any
) -> list[dict[str, Any]]:
    """Return the class of each raw item with what is known about it.

    Parameters
    ----------
    bundle : Bundle
    items : array-like of shape (n, n_features), or sequence
        Vectors, or whatever the backbone takes.
    top : int, default=None
        How many of the most probable classes to add; None adds 3 where the bundle is
        calibrated, and none where it is not. Without calibration scores are taken for
        log-odds as they are, which makes most items look too sure.
    **options
        `decoder`, `radius`, `max_queries`, `order` and `max_false_accept_rate`, as in
        `Bundle.classify`. By the default the class is also the most probable one.

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
    features, book = bundle.features(items), bundle.classes
    found = decode(bundle, features, **options)
    answers: list[dict[str, Any]] = [
        {"class": name, "distance": distance}
        for name, distance in zip(
            _names(book, found.rows), found.distances.tolist(), strict=True
        )
    ]
    if top is None:
        top = 0 if bundle.calibration is None else _TOP
    if check_count(top, "top", 0):
        scores = bundle.encoder.project(features)
        best = top_classes(book, scores, top, bundle.calibration)
        for answer, rows, shares in zip(
            answers, best.rows, best.probabilities.tolist(), strict=True
        ):
            answer["classes"] = [
                {"class": name, "probability": share}
                for name, share in zip(_names(book, rows), shares, strict=True)
            ]
    return answers


def label_answers(
    bundle: "Bundle", items: Any, *, top: int = _LABELS
) -> list[dict[str, Any]]:
    """Return the labels of each raw item, where items may have several.

    Parameters
    ----------
    bundle : Bundle
    items : array-like of shape (n, n_features), or sequence
        Vectors, or whatever the backbone takes.
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
    scores = label_scores(book, bundle.encoder.project(bundle.features(items)))
    answers = []
    for row, order in zip(scores, np.argsort(-scores, kind="stable"), strict=True):
        ranked = zip(_names(book, order), row[order].tolist(), strict=True)
        known = [{"label": name, "score": score} for name, score in ranked]
        answer: dict[str, Any] = {}
        if least is not None:
            answer["labels"] = [e["label"] for e in known if e["score"] >= least]
        answers.append({**answer, "ranked": known[:top]})
    return answers


def vote_answers(
    bundle: "Bundle", items: Any, labels: str, k: int = 10
) -> list[dict[str, Any]]:
    """Return the class that most of the nearest items of the collection have.

    Re-ranked neighbours vote if the bundle was tuned for re-ranking. Items as far away
    as the k-th share the votes that are left; ties at the end of a shortlist are cut in
    row order.

    Parameters
    ----------
    bundle : Bundle
    items : array-like of shape (n, n_features), or sequence
        Vectors, or whatever the backbone takes.
    labels : str
        A column of the collection that holds classes, or for each item which of
        several labels it has.
    k : int, default=10
        Items that vote.

    Returns
    -------
    list of dict
        ``class`` and its ``share`` of the votes; where items have several labels,
        ``labels``, those that at least half of the voters have, and ``ranked``, the
        most frequent as ``label`` and ``score``, their share.
    """
    classes = bundle.collection.classes(labels)
    if classes.ndim > 1:
        blocks = _label_votes(bundle, items, classes, k)
        return [_ranked_labels(each, _HALF) for shares in blocks for each in shares]
    if bundle.shortlist is None:
        codes = bundle.collection.codes
        found = nearest_vote(bundle.encode(items), codes, classes, k)
    else:
        found = vote(ranked_again(bundle, items, k), classes, k)
    return [
        {"class": name, "share": share}
        for name, share in zip(
            found.labels.tolist(), found.shares.tolist(), strict=True
        )
    ]


def _label_votes(
    bundle: "Bundle", items: Any, labels: NDArray[Any], k: int
) -> Iterator[NDArray[np.float64]]:
    """Yield which share of the neighbours has each label, by blocks of items."""
    if bundle.shortlist is not None:
        found = ranked_again(bundle, items, k)
        yield label_shares(ballots_of(found, k), labels, len(found.ids))
        return
    codes, n_labels = bundle.collection.codes, labels.shape[1]
    for span, ballots in nearest_ballots(bundle.encode(items), codes, k, n_labels):
        yield label_shares(ballots, labels, span.stop - span.start)


def linear_answers(bundle: "Bundle", items: Any, labels: str) -> list[dict[str, Any]]:
    """Return the class of items by linear models on bits, learnt from the collection.

    Parameters
    ----------
    bundle : Bundle
    items : array-like of shape (n, n_features), or sequence
        Vectors, or whatever the backbone takes.
    labels : str
        A column of the collection, as for `vote_answers`.

    Returns
    -------
    list of dict
        ``class`` and its ``score``, above 0 where it is rather of the class than of
        another; where items have several labels, ``labels``, those with such a score,
        and ``ranked``, the highest as ``label`` and ``score``.
    """
    collection = bundle.collection
    classes = collection.classes(labels)
    model = learn_classes(collection.codes, bundle.encoder.n_bits, classes)
    scores = model.scores(bundle.encode(items))
    if classes.ndim > 1:
        return [_ranked_labels(each, 0.0) for each in scores]
    names = model.names[scores.argmax(axis=1)].tolist()
    return [
        {"class": name, "score": score}
        for name, score in zip(names, scores.max(axis=1).tolist(), strict=True)
    ]


def _ranked_labels(scores: NDArray[Any], least: float) -> dict[str, Any]:
    order = np.argsort(-scores, kind="stable")
    ranked = [{"label": i, "score": float(scores[i])} for i in order.tolist()]
    most = [each["label"] for each in ranked if each["score"] >= least]
    return {"labels": most, "ranked": ranked[:_LABELS]}


def _names(book: Codebook, rows: NDArray[np.int64]) -> list[Any]:
    names = book.names.tolist()
    return [names[row] if row >= 0 else None for row in rows.tolist()]


def ranked_again(bundle: "Bundle", items: Any, k: int) -> Neighbours:
    """Return rows of the collection by the tuned search, and their distances.

    By scores the whole shortlist, because items of one code are equally far away, and
    share votes.
    """
    collection = bundle.collection
    wanted = check_count(k, "k")
    if collection.vectors is None:
        wanted = max(wanted, bundle.shortlist or 0)
    found = bundle._reranked(bundle.features(items), min(wanted, len(collection)))
    return Neighbours(found.distances, found.ids)  # type: ignore[arg-type]


def bound_of(bundle: "Bundle", labels: str) -> "CodeBound":
    """Return the distances between and within classes, which bound average precision.

    Parameters
    ----------
    bundle : Bundle
    labels : str
        A column of the collection that holds classes, or for each item which of
        several labels it has.
    """
    from fewbits.analysis.bounds import code_bound

    items = bundle.collection
    return code_bound(items.codes, bundle.encoder.n_bits, items.classes(labels))

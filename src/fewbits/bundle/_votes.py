"""The class of raw items, by the labels of the collection of a bundle."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from fewbits._checks import check_count
from fewbits._spans import spans
from fewbits.bundle._asked import Asked
from fewbits.bundle._classes import SHOWN_LABELS
from fewbits.classify import (
    label_votes,
    learn_classes,
    nearest_label_votes,
    nearest_vote,
    vote,
)
from fewbits.codes import Neighbours

if TYPE_CHECKING:
    from fewbits.analysis.bounds import CodeBound
    from fewbits.bundle._search import SearchMixin as Bundle

_HALF = 0.5  # of the voters
_SHARES = 1 << 22  # of votes at once


def vote_answers(
    bundle: "Bundle", items: Any, labels: str, k: int = 10
) -> list[dict[str, Any]]:
    """Return the class that most of the nearest items of the collection have.

    Re-ranked neighbours vote if the bundle was tuned for re-ranking. Items as far away
    as the k-th share the votes that are left; ties at the end of a shortlist are cut in
    row order. An item of the collection has no vote on itself, and its neighbours are
    re-ranked only where its features are known.

    Parameters
    ----------
    bundle : Bundle
    items : array-like of shape (n, n_features), sequence or StoredItems
        Vectors, or whatever the backbone takes; or items of the collection.
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
        blocks = _label_shares(bundle, items, classes, k)
        return [_ranked_labels(each, _HALF) for shares in blocks for each in shares]
    asked = Asked(bundle, items)
    if _by_codes(bundle, asked):
        codes = bundle.collection.codes
        found = nearest_vote(asked.codes, codes, classes, k, own=asked.rows)
    else:
        found = vote(vote_neighbours(bundle, items, k), classes, k)
    return [
        {"class": name, "share": share}
        for name, share in zip(
            found.labels.tolist(), found.shares.tolist(), strict=True
        )
    ]


def _by_codes(bundle: "Bundle", asked: Asked) -> bool:
    return bundle.shortlist is None or not asked.has_features


def vote_neighbours(bundle: "Bundle", items: Any, k: int) -> Neighbours:
    """Return the re-ranked neighbours among which `k` vote on each item.

    By scores the whole shortlist, because items of one code are equally far away, and
    share votes.

    Parameters
    ----------
    bundle : Bundle
        With a collection.
    items : array-like of shape (n, n_features), sequence or StoredItems
        Vectors, or whatever the backbone takes; or items of the collection.
    k : int
        Items that vote.

    Returns
    -------
    Neighbours
        ``distances`` as of `Bundle.search_reranked`, and as ``ids`` the rows of the
        collection; `fewbits.classify.vote` takes them with `k`.
    """
    wanted = check_count(k, "k")
    if bundle.collection.vectors is None:
        wanted = max(wanted, bundle.shortlist or 0)
    own = Asked(bundle, items).rows
    found = bundle.search_rows(items, wanted + (own is not None), rerank=True)
    if own is None:
        return Neighbours(found.distances, found.rows)
    rows = np.where(found.rows == own[:, None], -1, found.rows)
    return Neighbours(found.distances, rows)


def _label_shares(
    bundle: "Bundle", items: Any, labels: NDArray[Any], k: int
) -> Iterator[NDArray[np.float64]]:
    """Yield which share of the neighbours has each label, by blocks of items."""
    asked = Asked(bundle, items)
    if not _by_codes(bundle, asked):
        yield label_votes(vote_neighbours(bundle, items, k), labels, k)
        return
    codes, own = asked.codes, asked.rows
    for block in spans(len(codes), max(1, _SHARES // max(1, labels.shape[1]))):
        these = None if own is None else own[block]
        database = bundle.collection.codes
        yield nearest_label_votes(codes[block], database, labels, k, own=these)


def linear_answers(bundle: "Bundle", items: Any, labels: str) -> list[dict[str, Any]]:
    """Return the class of items by linear models on bits, learnt from the collection.

    Parameters
    ----------
    bundle : Bundle
    items : array-like of shape (n, n_features), sequence or StoredItems
        Vectors, or whatever the backbone takes; or items of the collection.
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
    scores = model.scores(Asked(bundle, items).codes)
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
    return {"labels": most, "ranked": ranked[:SHOWN_LABELS]}


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

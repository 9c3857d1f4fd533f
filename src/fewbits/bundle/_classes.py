"""The class of raw items, by the codebook of a bundle."""

from collections.abc import Callable
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from fewbits.analysis import CodeBound, code_bound
from fewbits.codes import hamming_topk, n_bytes
from fewbits.decoding import (
    Calibration,
    Codebook,
    Decoded,
    KnownRegion,
    decode_bounded,
    decode_exact,
    decode_nearest,
    decode_ordered,
    decode_soft,
    predicted_region,
    top_classes,
    vote,
)
from fewbits.errors import ArgumentError

if TYPE_CHECKING:
    from fewbits.bundle._bundle import Bundle

_TOP = 3  # classes shown where it is known how probable they are
DECODERS = ("exact", "bounded", "nearest", "soft", "ordered")


def decode(
    bundle: "Bundle",
    features: NDArray[Any],
    *,
    decoder: str = "soft",
    radius: int = 1,
    budget: int = 1000,
    foreign_rate: float | None = None,
) -> Decoded:
    """Return the classes of features by one of the decoders, and none for foreign."""
    found = _decoded(bundle, features, decoder, radius, budget)
    if foreign_rate is None:
        return found
    region = known_by(bundle.classes, foreign_rate, bundle.calibration)
    return found.only(region.accepts(bundle.encoder.encode(features)))


def known_by(
    book: Codebook, rate: float, calibration: Calibration | None
) -> KnownRegion:
    """Return what is near enough to a class that few foreign items are.

    As items of classes that played foreign ones tell, or, where these are none or too
    few for such a rate, as the space of codes does.
    """
    hidden = None if calibration is None else calibration.hidden
    if hidden is None or rate * hidden.n_items < 1:
        return _region(book.codes.tobytes(), book.n_bits, rate)
    return hidden.region(book.codes, book.n_bits, rate)


@lru_cache(maxsize=8)  # estimating how much of the space it covers takes a while
def _region(codes: bytes, n_bits: int, rate: float) -> KnownRegion:
    rows = np.frombuffer(codes, np.uint8).reshape(-1, n_bytes(n_bits))
    return predicted_region(rows, n_bits, rate)


def _decoded(
    bundle: "Bundle", features: NDArray[Any], decoder: str, radius: int, budget: int
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
        "ordered": lambda scores: decode_ordered(book, scores, budget, zero_bit=zero),
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
        `decoder`, `radius`, `budget` and `foreign_rate`, as in `Bundle.classify`. By
        the default the class is also the most probable one.

    Returns
    -------
    list of dict
        ``class``, None for none of them, ``distance`` to its code, -1 for none, and
        ``classes``, a list of ``class`` and ``probability``.
    """
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
    if top:
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


def vote_answers(
    bundle: "Bundle", items: Any, labels: str, k: int = 10
) -> list[dict[str, Any]]:
    """Return the class that most of the nearest items of the collection have.

    Parameters
    ----------
    bundle : Bundle
    items : array-like of shape (n, n_features), or sequence
        Vectors, or whatever the backbone takes.
    labels : str
        A column of the collection that holds classes.
    k : int, default=10
        Items that vote.

    Returns
    -------
    list of dict
        ``class`` and its ``share`` of the votes.
    """
    collection = bundle.collection
    classes = np.asarray(collection.column(labels))
    nearest = hamming_topk(bundle.encode(items), collection.codes, k)
    found = vote(nearest, classes)
    return [
        {"class": name, "share": share}
        for name, share in zip(
            found.labels.tolist(), found.shares.tolist(), strict=True
        )
    ]


def _names(book: Codebook, rows: NDArray[np.int64]) -> list[Any]:
    names = book.names.tolist()
    return [names[row] if row >= 0 else None for row in rows.tolist()]


def bound_of(bundle: "Bundle", labels: str) -> CodeBound:
    """Return the distances that bound what the codes of a collection can be worth.

    Parameters
    ----------
    bundle : Bundle
    labels : str
        A column of the collection that holds classes.
    """
    items = bundle.collection
    return code_bound(items.codes, bundle.encoder.n_bits, items.column(labels))

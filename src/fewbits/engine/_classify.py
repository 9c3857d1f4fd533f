"""Classes of raw items."""

from dataclasses import dataclass
from typing import Any

from fewbits._repr import one_line
from fewbits.bundle import (
    Bundle,
    class_answers,
    label_answers,
    linear_answers,
    vote_answers,
)
from fewbits.bundle.serving import StoredItems, has_features
from fewbits.classify import Decoded
from fewbits.classify.decoders import Decoder, decoder_of
from fewbits.engine._labels import item_labels
from fewbits.errors import ArgumentError

_RATES = ("max_false_reject_rate", "max_false_accept_rate")
_DECODING = ("decoder", *_RATES)


@dataclass(frozen=True, eq=False)
class ClassifyRequest:
    """Ask which class each item is of.

    By class codes; or, where `labels` names a column, from the items of
    the collection. None takes the default of `Bundle.classify` or of the vote.

    Parameters
    ----------
    items : array-like of shape (n, n_features), or sequence
        Raw items: vectors, or whatever the backbone of the bundle takes.
    decoder : Decoder or str, default=None
        How codes are decoded: one of `fewbits.classify.decoders`, or its short name,
        see `fewbits.bundle.Bundle.classify`. A short name is replaced by its decoder.
    max_false_reject_rate, max_false_accept_rate : float, default=None
        Reject out-of-distribution items by one of them, see
        `fewbits.bundle.Bundle.classify`.
    top : int, default=None
        Number of classes to show with their probabilities, or of labels to rank.
    labels : str, default=None
        Column of the collection with classes, by which its items vote.
    k : int, default=None
        Number of items that vote.
    linear : bool, default=False
        With `labels`, learn linear models on bits in place of votes; from the items
        that are asked about, too, where these are of the collection.
    ids : array-like of int or str, default=None
        In place of `items`, items of the collection, which do not vote on themselves.
        Where it keeps neither their vectors nor texts, their codes alone are
        decoded, by default to the nearest class code, and none can be rejected.

    Raises
    ------
    ArgumentError
        When not exactly one of `items` and `ids` is given, values are given that do not
        go together, or there is no such decoder.
    """

    items: Any = None
    decoder: Decoder | str | None = None
    max_false_reject_rate: float | None = None
    max_false_accept_rate: float | None = None
    top: int | None = None
    labels: str | None = None
    k: int | None = None
    linear: bool = False
    ids: Any = None

    def __post_init__(self) -> None:
        if (self.items is None) == (self.ids is None):
            raise ArgumentError("give exactly one of items and ids")
        if self.labels is None:
            unused, of = ["k", *(["linear"] if self.linear else [])], "votes by labels"
        else:
            unused, of = [*_DECODING, "top"], "class codes, not votes by labels"
            unused += ["k"] if self.linear else []
        for name in unused:
            if getattr(self, name) is not None:
                raise ArgumentError(f"{name} is of {of}: leave it out")
        if self.decoder is not None:
            object.__setattr__(self, "decoder", decoder_of(self.decoder))

    def decoding(self) -> dict[str, Any]:
        """Return what was chosen of the decoder and of rejection."""
        given = {name: getattr(self, name) for name in _DECODING}
        return {name: value for name, value in given.items() if value is not None}


@dataclass(frozen=True)
class ClassifyResponse:
    """The class of each item, and what is accepted as known.

    Attributes
    ----------
    results : tuple of dict
        ``item``, the text, path or id, or ``"item 0"`` for the first vector, and what
        `fewbits.bundle.class_answers`, `label_answers`, `vote_answers` or
        `linear_answers` tell.
    accepted : dict or None
        Where out-of-distribution items are rejected, what to expect of it: see
        `fewbits.ood.RejectionThreshold`.
    """

    results: tuple[dict[str, Any], ...]
    accepted: dict[str, Any] | None = None

    def __repr__(self) -> str:
        return one_line(self)

    def to_dict(self) -> dict[str, Any]:
        """Return plain values."""
        accepted = {} if self.accepted is None else {"accepted": self.accepted}
        return {"results": [{**each, **accepted} for each in self.results]}


def classify(bundle: Bundle, request: ClassifyRequest) -> ClassifyResponse:
    """Return the class of each item, or none.

    Parameters
    ----------
    bundle : Bundle
        With a codebook, or with a collection that has `request.labels`.
    request : ClassifyRequest

    Returns
    -------
    ClassifyResponse

    Raises
    ------
    ArgumentError
        When the bundle has neither, or an option does not go with its classes.
    """
    answers = _answers(bundle, request)
    accepted = _accepted(bundle, request)
    if request.ids is None:
        labels = item_labels(bundle, request.items, len(answers))
    else:
        labels = [str(each) for each in request.ids]
    results = (
        {"item": label, **each} for label, each in zip(labels, answers, strict=True)
    )
    return ClassifyResponse(tuple(results), accepted)


def _answers(bundle: Bundle, request: ClassifyRequest) -> list[dict[str, Any]]:
    items, labels = _items(bundle, request), request.labels
    top: dict[str, Any] = {} if request.top is None else {"top": request.top}
    if labels is not None and request.linear:
        return linear_answers(bundle, items, labels)
    if labels is not None:
        votes = {} if request.k is None else {"k": request.k}
        return vote_answers(bundle, items, labels, **votes)
    if not bundle.metadata.several_labels:
        if not _knows_scores(bundle, request):
            top = {"top": 0, **top}
        return class_answers(bundle, items, **top, **_decoding(bundle, request))
    if given := next(iter(request.decoding()), None):
        raise ArgumentError(
            f"{given} is for items of one class each: those of this bundle have "
            "several labels"
        )
    return label_answers(bundle, items, **top)


def decode_items(bundle: Bundle, request: ClassifyRequest) -> Decoded:
    """Return what `Bundle.classify` does, of raw items or those of the collection."""
    return bundle.classify(_items(bundle, request), **_decoding(bundle, request))


def _items(bundle: Bundle, request: ClassifyRequest) -> Any:
    if request.ids is None:
        return request.items
    return StoredItems(bundle.collection.rows(request.ids))


def _knows_scores(bundle: Bundle, request: ClassifyRequest) -> bool:
    return request.ids is None or has_features(bundle)


def _decoding(bundle: Bundle, request: ClassifyRequest) -> dict[str, Any]:
    given = request.decoding()
    return given if _knows_scores(bundle, request) else {"decoder": "nearest", **given}


def _accepted(bundle: Bundle, request: ClassifyRequest) -> dict[str, Any] | None:
    rates = {name: getattr(request, name) for name in _RATES}
    if not any(rate is not None for rate in rates.values()):
        return None
    return bundle.rejecting.threshold(**rates)._asdict()

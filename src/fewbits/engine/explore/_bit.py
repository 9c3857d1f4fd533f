"""The meaning of one bit: items that show it best, and its classes."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fewbits._repr import one_line
from fewbits._typing import CodeArray, IdArray
from fewbits.analysis.bits import Extremes, Side
from fewbits.bundle import Bundle, hits_of
from fewbits.bundle.bit_scores import bit_scores
from fewbits.codes import hamming_distances, pack, unpack
from fewbits.engine.explore._bit_names import check_bit
from fewbits.engine.explore._bits import filled
from fewbits.engine.explore._samples import sampled_rows
from fewbits.errors import FewbitsError

#: Items whose scores are compared: kept vectors are cheap, a backbone is not.
_SCORED = {"vectors": 50_000, "texts": 10_000, "images": 500}
_CODES = 50_000  # looked at where there are no scores
_MOST_EXAMPLES = 100
_CLASSES = 8  # at each end


@dataclass(frozen=True, eq=False)
class BitExamples:
    """Items that show the sides of bits best.

    Attributes
    ----------
    by : {"vectors", "texts", "images", "codes"}
        What tells: scores of kept vectors, or of texts or images that are read again;
        or codes alone.
    n_items : int
        Items that were looked at.
    extremes : Extremes or None
        The items with the largest scores; None by codes alone.
    """

    by: str
    n_items: int
    extremes: Extremes | None

    def __repr__(self) -> str:
        return one_line(self)


def bit_examples(bundle: Bundle, k: int = _MOST_EXAMPLES) -> BitExamples:
    """Return the items with the largest scores of each bit, of a sample.

    One call serves the questions about all bits.

    Parameters
    ----------
    bundle : Bundle
        With a collection.
    k : int, default=100
        Items on each side.
    """
    items = filled(bundle).collection
    kept = items.vector_form is not None
    by = "vectors" if kept or bundle.item_kind == "codes" else bundle.item_kind
    rows = sampled_rows(len(items), _SCORED[by])
    try:
        found = bit_scores(bundle, rows)
    except FewbitsError:  # nothing to score, or not with what is installed here
        return BitExamples("codes", min(len(items), _CODES), None)
    return BitExamples(by, len(found.rows), found.extremes(k))


@dataclass(frozen=True)
class BitRequest:
    """Ask what one bit means.

    Parameters
    ----------
    bit : int
    k : int, default=8
        Examples of each side, at most 100.
    labels : str, default=None
        A column with classes: tell which of them have the bit most and least.
    """

    bit: int
    k: int = 8
    labels: str | None = None


@dataclass(frozen=True)
class BitResponse:
    """The examples of both sides of a bit, and its classes.

    Attributes
    ----------
    bit : int
    by : str
    n_items : int
        See `BitExamples`.
    zeros, ones : list of dict
        Best first: ``id``, ``columns``, and ``score`` where there are scores, else
        ``distance``, the bits in which the code differs from the majority of its side.
    classes : list of dict or None
        ``class``, ``n`` items, and the ``share`` of these that have a 1, in its order;
        None where no column was named. Only the ends of a long list.
    n_classes : int
    """

    bit: int
    by: str
    n_items: int
    zeros: list[dict[str, Any]]
    ones: list[dict[str, Any]]
    classes: list[dict[str, Any]] | None
    n_classes: int

    def __repr__(self) -> str:
        return one_line(self)

    def to_dict(self) -> dict[str, Any]:
        """Return plain values."""
        return {
            "bit": self.bit,
            "by": self.by,
            "n_items": self.n_items,
            "zeros": self.zeros,
            "ones": self.ones,
            "classes": self.classes,
            "n_classes": self.n_classes,
        }


def bit(
    bundle: Bundle, request: BitRequest, examples: BitExamples | None = None
) -> BitResponse:
    """Show what one bit means.

    Parameters
    ----------
    bundle : Bundle
        With a collection.
    request : BitRequest
    examples : BitExamples, default=None
        Of this bundle; None computes them.

    Returns
    -------
    BitResponse

    Raises
    ------
    ArgumentError
        When there is no such bit or column, or the collection is empty.
    """
    check_bit(bundle, request.bit)
    found = bit_examples(bundle) if examples is None else examples
    if found.extremes is None:
        zeros, ones = (_typical(bundle, request, value) for value in (0, 1))
    else:
        zeros, ones = (
            _extreme(bundle, request, value, side)
            for value, side in enumerate(found.extremes)
        )
    classes = None if request.labels is None else _classes(bundle, request)
    return BitResponse(
        request.bit,
        found.by,
        found.n_items,
        zeros,
        ones,
        _ends(classes),
        len(classes or ()),
    )


def _extreme(
    bundle: Bundle, request: BitRequest, value: int, side: Side
) -> list[dict[str, Any]]:
    rows, scores = side.rows[request.bit], side.scores[request.bit]
    # An item of the other side may be extreme where this one has few.
    codes = bundle.collection.codes[np.maximum(rows, 0)]
    own = (rows >= 0) & (values_of(codes, request.bit) == value)
    return _hits(bundle, rows[own][: request.k], score=scores[own][: request.k])


def _typical(bundle: Bundle, request: BitRequest, value: int) -> list[dict[str, Any]]:
    """Return the items nearest to the majority of the codes of a side."""
    items, n_bits = bundle.collection, bundle.encoder.n_bits
    rows = sampled_rows(len(items), _CODES)
    codes = items.codes[rows]
    own = values_of(codes, request.bit) == value
    if not own.any():
        return []
    rows, codes = rows[own], np.ascontiguousarray(codes[own])
    majority = unpack(codes, n_bits).mean(axis=0, keepdims=True) >= 0.5
    distances = hamming_distances(pack(majority), codes)[0]
    best = np.argsort(distances, kind="stable")[: request.k]
    return _hits(bundle, rows[best], distance=distances[best])


def values_of(codes: CodeArray, bit: int) -> NDArray[np.uint8]:
    """Return the values of one bit, without unpacking the others."""
    shift = np.uint8(7 - bit % 8)
    values: NDArray[np.uint8] = codes[:, bit // 8] >> shift & np.uint8(1)
    return values


def _hits(
    bundle: Bundle, rows: IdArray, **measured: NDArray[Any]
) -> list[dict[str, Any]]:
    apart: dict[str, Any] = {name: values[None] for name, values in measured.items()}
    (hits,) = hits_of(bundle.collection, rows[None], **apart)
    return hits


def _classes(bundle: Bundle, request: BitRequest) -> list[dict[str, Any]]:
    assert request.labels is not None
    items = bundle.collection
    rows = sampled_rows(len(items), _CODES)
    column = items.column(request.labels, rows)
    names = np.array(["" if each is None else str(each) for each in column])
    values = values_of(items.codes[rows], request.bit)
    found, numbers = np.unique(names, return_inverse=True)
    counts = np.bincount(numbers)
    shares = np.bincount(numbers, values) / counts
    order = np.lexsort((found, -counts, shares))
    return [
        {"class": str(found[i]), "n": int(counts[i]), "share": float(shares[i])}
        for i in order
    ]


def _ends(classes: list[dict[str, Any]] | None) -> list[dict[str, Any]] | None:
    if classes is None or len(classes) <= 2 * _CLASSES:
        return classes
    return classes[:_CLASSES] + classes[-_CLASSES:]

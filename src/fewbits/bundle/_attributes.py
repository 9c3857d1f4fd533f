"""Meaning of the bits of a bundle's collection, as statistics and as a page."""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from fewbits._checks import check_bits
from fewbits._typing import CodeArray, IdArray
from fewbits.analysis.bits import (
    BitReport,
    ClassProfile,
    bit_report,
    class_profile,
    distinct_bits,
    rank_bits,
)
from fewbits.analysis.maps import CodeMap, map_codes
from fewbits.analysis.names import Proposals, propose_names
from fewbits.bundle._hand_files import read_by_hand
from fewbits.bundle.bit_scores import bit_scores
from fewbits.errors import ArgumentError
from fewbits.report import write_page

if TYPE_CHECKING:
    from fewbits.bundle._bundle import Bundle

Progress = Callable[[int, int], None]
#: Classes whose distinctive attributes are on the page.
PROFILES = 30
#: Bits on the page, unless the caller chooses them.
SHOWN_BITS = 32
#: On each map, drawn from the collection.
MAP_ITEMS = 500


def report_of(bundle: "Bundle", labels: str | None = None) -> BitReport:
    """Return statistics of the bits of a collection.

    Parameters
    ----------
    bundle : Bundle
    labels : str, default=None
        A column of the collection that holds classes, or for each item which of
        several labels it has.
    """
    items = bundle.collection
    classes = None if labels is None else items.classes(labels)
    return bit_report(items.codes, bundle.encoder.n_bits, classes)


def write_attributes(
    bundle: "Bundle",
    path: str | Path,
    *,
    labels: str | None = None,
    captions: str | None = None,
    groups: str | None = None,
    names: Mapping[int, tuple[str | None, str | None]] | None = None,
    bits: Iterable[int] | None = None,
    progress: Progress | None = None,
) -> None:
    """Write a page that shows the most extreme items of each bit, and proposes names.

    With maps of the code space, by multidimensional scaling and by t-SNE.

    Parameters
    ----------
    bundle : Bundle
    path : str or Path
        Of the HTML file.
    labels : str, default=None
        A column that holds classes: bits are ranked by what they say about them. The
        maps have its colours, or those of the labels of the collection.
    captions : str, default=None
        A column that holds text, shown beside the items and searched for names. When
        not given, the texts themselves; of others the labels, or the column ``label``
        that ``fewbits build`` keeps where there are any.
    groups : str, default=None
        A column that holds classes: names are to hold for other classes, too, see
        `fewbits.analysis.names.propose_names`. None takes items as independent.
    names : mapping of int to pair of str or None, default=None
        Names of bits given by hand, see `fewbits.analysis.names.name_bits`. These bits
        come first on the page.
    bits : iterable of int, default=None
        The bits to show, in this order. None shows those named by hand, then the best
        that do not go with a better one, 32 in all; see
        `fewbits.analysis.bits.distinct_bits`.
    progress : callable, default=None
        Called with (items done, items in all) while features are extracted.

    Raises
    ------
    ArgumentError
        When the collection keeps neither vectors nor raw items, there is no such column
        or bit, items have several labels, or there are groups, but no texts, or fewer
        than 3 groups.
    """
    named = check_bits(names or (), bundle.encoder.n_bits)
    wanted = None if bits is None else check_bits(bits, bundle.encoder.n_bits)
    items, kind = bundle.collection, bundle.item_kind
    classes = None if labels is None else _one_class_each(bundle, labels)
    raw = bundle.raw_column
    given = labels or bundle.label_column
    words = captions or (raw if kind == "texts" else given)
    texts = None if words is None else [_text(value) for value in items.column(words)]
    shown: Any = items.column(raw) if raw in items.columns else texts or items.ids
    # Of many classes, each is a small share of a side that it yet belongs to.
    least = {"min_share": 0.0} if words == given else {}
    proposals = _proposals(bundle, texts, groups, **least)
    scores, rows = scored = bit_scores(bundle, progress=progress)
    ranking = rank_bits(scores, None if classes is None else classes[rows])
    shown_bits = distinct_bits(
        items.codes,
        bundle.encoder.n_bits,
        ranking.order,
        first=named if wanted is None else wanted,
        n_shown=SHOWN_BITS if wanted is None else 1,
    )
    write_page(
        path,
        report_of(bundle, labels),
        scored.extremes(),
        shown,
        kind=kind if raw in items.columns else "texts",
        captions=texts if kind == "images" else None,
        proposals=proposals,
        by_hand=names,
        ranking=ranking,
        bits=shown_bits if wanted is None else wanted,
        alike=shown_bits,
        maps=_maps(items.codes),
        classes=_colouring(bundle, classes),
        notes=_notes(shown, rows),
        ids=items.ids.tolist(),
        profiles=[] if classes is None else _profiles(bundle, classes),
    )


def _maps(codes: CodeArray) -> list[CodeMap]:
    return [
        map_codes(codes, method=method, max_items=MAP_ITEMS)
        for method in ("smacof", "tsne")
    ]


def _colouring(bundle: "Bundle", classes: NDArray[Any] | None) -> list[Any] | None:
    """Return the classes that colour the maps: those asked for, or the labels."""
    name = bundle.label_column
    if classes is None and name is not None:
        column = bundle.collection.column(name)
        # An item with several labels has no one colour.
        if not any(isinstance(label, list) for label in column):
            classes = column
    return None if classes is None else list(classes)


def _one_class_each(bundle: "Bundle", labels: str) -> NDArray[Any]:
    classes = bundle.collection.classes(labels)
    if classes.ndim > 1:
        raise ArgumentError(
            f"column {labels!r} has several labels for an item, and the page ranks "
            "bits by one class each: leave the labels out"
        )
    return bundle.collection.column(labels)


def _text(value: Any) -> str:
    """Return a caption; what is missing has no words."""
    return "" if value is None else str(value)


def _proposals(
    bundle: "Bundle", texts: Sequence[str] | None, groups: str | None, **options: Any
) -> Proposals | None:
    if texts is None:
        if groups is not None:
            raise ArgumentError(
                "groups are for names, which need texts: name a column of captions"
            )
        return None
    items = bundle.collection
    return propose_names(
        texts,
        items.codes,
        bundle.encoder.n_bits,
        groups=None if groups is None else items.column(groups),
        **options,
    )


def _profiles(bundle: "Bundle", classes: NDArray[Any]) -> list[ClassProfile]:
    """Return the distinctive attributes of the most frequent classes."""
    found, counts = np.unique(classes, return_counts=True)
    if len(found) < 2:
        return []
    frequent = found[np.argsort(-counts, kind="stable")[:PROFILES]]
    codes, n_bits = bundle.collection.codes, bundle.encoder.n_bits
    return [class_profile(codes, n_bits, classes, each) for each in frequent]


def read_names(path: str | Path) -> dict[int, tuple[str | None, str | None]]:
    """Return names that were given to bits by hand.

    Parameters
    ----------
    path : str or Path
        JSON such as ``{"12": ["animal", "vehicle"], "40": [null, "round"]}``: the names
        of the sides 0 and 1 of a bit, null for the one that is proposed.

    Raises
    ------
    ArgumentError
        When the file holds anything else.
    """

    def fits(bit: str, sides: Any) -> bool:
        return bool(re.fullmatch("0|[1-9][0-9]*", bit)) and _are_names(sides)

    given = read_by_hand(path, 'names such as {"12": ["animal", "vehicle"]}', fits)
    return {int(bit): (zeros, ones) for bit, (zeros, ones) in given.items()}


def _are_names(sides: Any) -> bool:
    return (
        isinstance(sides, list)
        and len(sides) == 2
        and all(isinstance(name, str | None) for name in sides)
    )


def _notes(values: Sequence[Any], rows: IdArray) -> list[str]:
    """Return a sentence about the items without scores, if there are any."""
    without = np.setdiff1d(np.arange(len(values)), rows)
    if not len(without):
        return []
    return [
        f"{len(without):,} of {len(values):,} images are left out where scores count: "
        f"there is no file {values[int(without[0])]}"
    ]

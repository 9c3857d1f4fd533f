"""Pages about a collection: what its bits mean, and how its classes are related."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fewbits._checks import check_bits
from fewbits._repr import short_repr
from fewbits._typing import IdArray
from fewbits.analysis.bits import (
    BitReport,
    Extremes,
    bit_report,
    class_profile,
    distinct_bits,
    extreme_items,
    rank_bits,
)
from fewbits.analysis.maps import fit_layout
from fewbits.analysis.names import name_bits, propose_names
from fewbits.analysis.taxonomy import TaxonomyMetrics, paths_of
from fewbits.collection import tools
from fewbits.collection.collection import Collection
from fewbits.errors import ArgumentError
from fewbits.report import BitsPage, write_taxonomy_page

__all__ = [
    "BitScores",
    "bit_scores",
    "check_taxonomy",
    "report_of",
    "write_attributes",
    "write_taxonomy",
]

Progress = Callable[[int, int], None]
_PROFILES = 30  # classes whose distinctive attributes are on the page
_SHOWN_BITS = 32  # on the page, unless the caller chooses them
_MAP_ITEMS = 500  # on the map, drawn from the collection


class BitScores(NamedTuple):
    """Scores of items of a collection before thresholding.

    Attributes
    ----------
    scores : ndarray of shape (n, n_bits), dtype float32
    positions : ndarray of shape (n,), dtype int64
        The items that have them, by their positions in the collection.
    """

    scores: NDArray[np.float32]
    positions: IdArray

    def __repr__(self) -> str:
        return short_repr(self)

    def extremes(self, k: int = 8) -> Extremes:
        """Return the extreme items of each bit by their positions."""
        zeros, ones = (
            side._replace(rows=np.where(side.rows < 0, -1, self.positions[side.rows]))
            for side in extreme_items(self.scores, k)
        )
        return Extremes(zeros, ones)


def bit_scores(
    collection: Collection,
    positions: IdArray | None = None,
    *,
    progress: Progress | None = None,
) -> BitScores:
    """Return how strongly the bits of items are set, from their vectors or the items.

    Parameters
    ----------
    collection : Collection
    positions : ndarray of int, default=None
        Of items; all for None. Images whose file is gone are left out.
    progress : callable, default=None
        Called with (items done, items in all) while features are extracted.

    Raises
    ------
    ArgumentError
        When the collection keeps neither vectors nor the items.
    """
    if positions is None:
        positions = np.arange(len(collection))
    vectors = tools.vectors_at(collection, positions)
    if vectors is not None:
        return BitScores(collection.encoder.project(vectors), positions)
    column = collection.item_column
    if column is None:
        raise ArgumentError(
            "how strongly a bit is set is told by vectors, and this collection keeps "
            "none: build it again with them (on the command line by --keep-vectors "
            "float16)"
        )
    items = collection.column(column, positions)
    if collection.kind == "images":
        is_file = np.array([Path(path).is_file() for path in items], np.bool_)
        if is_file.any():
            positions, items = positions[is_file], items[is_file]
    features = collection.features(list(items), progress=progress)
    return BitScores(collection.encoder.project(features), positions)


def report_of(collection: Collection, label: str | None = None) -> BitReport:
    """Return statistics of the bits of a collection.

    Parameters
    ----------
    collection : Collection
    label : str, default=None
        A column that holds classes, or for each item which of several labels it has.
    """
    classes = None if label is None else collection.labels(label)
    return bit_report(collection.codes, collection.encoder.n_bits, classes)


def write_attributes(
    collection: Collection,
    path: str | Path,
    *,
    label: str | None = None,
    captions: str | None = None,
    groups: str | None = None,
    names: Mapping[int, tuple[str | None, str | None]] | None = None,
    bits: Iterable[int] | None = None,
    progress: Progress | None = None,
) -> None:
    """Write a page that shows the most extreme items of each bit, and proposes names.

    With a map of the codes, which is laid out as that of the explorer.

    Parameters
    ----------
    collection : Collection
    path : str or Path
        Of the HTML file.
    label : str, default=None
        A column that holds classes: bits are ranked by what they say about them. The
        map has its colours, or those of the labels of the collection.
    captions : str, default=None
        A column that holds text, shown beside the items and searched for names. When
        not given, the texts themselves; of other items their labels, if there are any.
    groups : str, default=None
        A column that holds classes: names are to hold for other classes, too, see
        `fewbits.analysis.names.propose_names`. None takes items as independent.
    names : mapping of int to pair of str or None, default=None
        Names of bits given by hand, see `fewbits.inputs.by_hand.read_names`. These bits
        come first on the page.
    bits : iterable of int, default=None
        The bits to show, in this order. None shows those named by hand, then the best
        that do not go with a better one, 32 in all.
    progress : callable, default=None
        Called with (items done, items in all) while features are extracted.

    Raises
    ------
    ArgumentError
        When the collection keeps neither vectors nor the items, there is no such column
        or bit, items have several labels, or there are groups, but no texts, or fewer
        than 3 groups.
    """
    n_bits, codes = collection.encoder.n_bits, collection.codes
    bits_with_names = check_bits(names or (), n_bits)
    bits_to_show = None if bits is None else check_bits(bits, n_bits)
    if bits_to_show == []:
        raise ArgumentError("need at least one bit to show, got none")
    kind, raw = collection.kind, collection.item_column
    labels = label or collection.label_column
    classes: Any = None
    if label is not None:
        if collection.labels(label).ndim > 1:
            raise ArgumentError(
                f"column {label!r} has several labels for an item, and the page ranks "
                "bits by one class each: leave the labels out"
            )
        classes = collection.column(label)
    words = captions or (raw if kind == "texts" else labels)
    texts = None
    if words is not None:
        texts = ["" if v is None else str(v) for v in collection.column(words)]
    items: Any = collection.column(raw) if raw else texts or collection.ids
    if texts is None and groups is not None:
        raise ArgumentError(
            "groups are for names, which need texts: name a column of captions"
        )
    proposals = None
    if texts is not None:
        # Of many classes, each is a small share of a side that it yet belongs to.
        options: dict[str, Any] = {"min_share": 0.0} if words == labels else {}
        if groups is not None:
            options["groups"] = collection.column(groups)
        proposals = propose_names(texts, codes, n_bits, **options)
    scores, positions = scored = bit_scores(collection, progress=progress)
    ranking = rank_bits(scores, None if classes is None else classes[positions])
    distinct = distinct_bits(
        codes,
        n_bits,
        ranking.order,
        first=bits_with_names if bits_to_show is None else bits_to_show,
        n_shown=_SHOWN_BITS if bits_to_show is None else 1,
    )
    rows = np.sort(np.random.default_rng(0).permutation(len(codes))[:_MAP_ITEMS])
    drawn = np.ascontiguousarray(codes[rows])
    colours = classes
    if classes is None and collection.label_column is not None:
        column = collection.column(collection.label_column)
        # An item with several labels has no one colour.
        if not any(isinstance(value, list) for value in column):
            colours = column
    profiles = []
    if classes is not None:
        names_of_classes, counts = np.unique(classes, return_counts=True)
        frequent = names_of_classes[np.argsort(-counts, kind="stable")[:_PROFILES]]
        if len(frequent) > 1:
            profiles = [class_profile(codes, n_bits, classes, x) for x in frequent]
    notes, without = [], np.setdiff1d(np.arange(len(items)), positions)
    if len(without):
        notes = [
            f"{len(without):,} of {len(items):,} images are left out where scores "
            f"count: there is no file {items[int(without[0])]}"
        ]
    page = BitsPage(
        report=report_of(collection, label),
        extremes=scored.extremes(),
        ranking=ranking,
        bits=distinct,
        items=items,
        ids=collection.ids.tolist(),
        are_images=kind == "images",
        captions=texts if kind == "images" else None,
        proposals=proposals,
        names=name_bits(proposals, names),
        places=dict(zip(rows.tolist(), fit_layout(drawn).place(drawn), strict=True)),
        classes=None if colours is None else [str(name) for name in colours],
        profiles=profiles,
        notes=notes,
    )
    page.write(path)


# Classes.


def check_taxonomy(
    collection: Collection, tree: Mapping[str, Sequence[str]] | None = None
) -> None:
    """Refuse a collection or a tree that `write_taxonomy` makes no page of.

    Raises
    ------
    ArgumentError
        When there is no codebook, or the tree lacks a class.
    """
    if collection.codebook is None:
        raise ArgumentError(
            "this collection has no class codes, which --taxonomy relates: learn them "
            "from labels by 'fewbits fit --learner llc' or another deep method"
        )
    if tree is not None:
        paths_of(tree, [str(name) for name in collection.codebook.names])


def write_taxonomy(
    collection: Collection,
    path: str | Path,
    tree: Mapping[str, Sequence[str]] | None = None,
) -> TaxonomyMetrics:
    """Write a page about the class codes and the tree that they form.

    Parameters
    ----------
    collection : Collection
    path : str or Path
        Replaced when it exists; left as it is when anything goes wrong.
    tree : mapping of str to sequence of str, default=None
        The groups above each class in a tree to compare with, from the root on, see
        `fewbits.inputs.by_hand.read_tree`; other classes in it do not matter.

    Returns
    -------
    fewbits.analysis.taxonomy.TaxonomyMetrics

    Raises
    ------
    ArgumentError
        When there is no codebook, or the tree lacks a class.
    """
    check_taxonomy(collection, tree)
    book = collection.codebook
    assert book is not None
    names = [str(name) for name in book.names]
    paths = None if tree is None else paths_of(tree, names)
    return write_taxonomy_page(path, book.codes, book.n_bits, names, paths)

"""What the bits of a bundle's collection mean, as statistics and as a page."""

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from fewbits.analysis import (
    BitReport,
    bit_report,
    extreme_items,
    map_codes,
    propose_names,
    rank_bits,
    write_page,
)
from fewbits.errors import ArgumentError

if TYPE_CHECKING:
    from fewbits.bundle._bundle import Bundle

Progress = Callable[[int, int], None]
#: The column in which ``fewbits build`` keeps raw items, by their kind.
RAW_COLUMNS = {"texts": "text", "images": "path"}

#: On each map, drawn from the collection.
MAP_ITEMS = 500


def report_of(bundle: "Bundle", labels: str | None = None) -> BitReport:
    """Return statistics of the bits of a collection.

    Parameters
    ----------
    bundle : Bundle
    labels : str, default=None
        A column of the collection that holds classes.
    """
    items = bundle.collection
    classes = None if labels is None else items.column(labels)
    return bit_report(items.codes, bundle.encoder.n_bits, classes)


def write_attributes(
    bundle: "Bundle",
    path: str | Path,
    *,
    labels: str | None = None,
    captions: str | None = None,
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
        A column that holds classes: bits are ranked by what they say about them.
    captions : str, default=None
        A column that holds text, shown beside the items and searched for names. The
        texts themselves, or the labels, when not given.
    progress : callable, default=None
        Called with (items done, items in all) while features are extracted.

    Raises
    ------
    ArgumentError
        When the collection keeps neither vectors nor raw items, or no such column.
    """
    items, kind = bundle.collection, bundle.item_kind
    scores = _scores(bundle, progress)
    classes = None if labels is None else items.column(labels)
    raw = RAW_COLUMNS.get(kind, "")
    words = captions or (raw if kind == "texts" else labels)
    texts = None if words is None else [str(text) for text in items.column(words)]
    shown: Any = items.column(raw) if raw in items.columns else texts or items.ids
    write_page(
        path,
        report_of(bundle, labels),
        extreme_items(scores),
        shown,
        kind=kind if raw in items.columns else "texts",
        captions=texts if kind == "images" else None,
        proposals=None
        if texts is None
        else propose_names(texts, items.codes, bundle.encoder.n_bits),
        ranking=rank_bits(scores, classes),
        maps=[
            map_codes(items.codes, method=method, max_items=MAP_ITEMS)
            for method in ("smacof", "tsne")
        ],
        classes=None if classes is None else list(classes),
    )


def _scores(bundle: "Bundle", progress: Progress | None) -> NDArray[np.float32]:
    """Return the scores of the collection, from its vectors or its raw items."""
    items = bundle.collection
    if items.vectors is not None:
        return bundle.encoder.project(items.vectors)
    raw = RAW_COLUMNS.get(bundle.item_kind)
    if raw not in items.columns:
        raise ArgumentError(
            "how strongly a bit is set is told by vectors, and this collection keeps "
            "none: build it again with --keep-vectors float16"
        )
    values = list(items.column(str(raw)))
    return bundle.encoder.project(bundle.features(values, progress=progress))

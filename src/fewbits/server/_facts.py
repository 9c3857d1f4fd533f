"""Facts about a bundle that its explorer and clients go by."""

from typing import TYPE_CHECKING, Any

import numpy as np

from fewbits._arrow import is_text
from fewbits._version import __version__
from fewbits.bundle.serving import has_features
from fewbits.errors import ArtefactError
from fewbits.server._pages import pages_of

if TYPE_CHECKING:
    from fewbits.bundle import Bundle
    from fewbits.server._served import Served

_SAMPLE = 10_000  # rows that are looked at
_MOST_CLASSES = 1000
_MOST_NUMBERS = 100  # others are more likely counts


def facts_of(served: "Served") -> dict[str, Any]:
    """Return what is known before anything is asked."""
    bundle, settings = served.bundle, served.settings
    encoder = bundle.encoder
    return {
        "name": served.service.live.name,
        "version": __version__,
        "snapshot": served.version,
        "writable": settings.writable,
        "n_items": 0 if bundle.items is None else len(bundle.items),
        "n_bits": encoder.n_bits,
        "bytes_per_code": -(-encoder.n_bits // 8),
        "encoder": {
            "kind": encoder.kind,
            "n_features": encoder.n_features,
            "fingerprint": encoder.fingerprint,
        },
        "backbone": bundle.backbone,
        "item_kind": bundle.item_kind,
        "feature_names": list(bundle.metadata.feature_names or ()),
        "raw_column": bundle.raw_column,
        **_of_items(served),
        "n_classes": None if bundle.codebook is None else len(bundle.codebook),
        "novelty_radius": bundle.novelty_radius,
        "limits": settings.limits(),
        "pages": pages_of(served.folder),
        "summary": bundle.summary(),
    }


def _of_items(served: "Served") -> dict[str, Any]:
    bundle = served.bundle
    items = bundle.items
    if items is None:
        return {
            "label_column": None,
            "columns": [],
            "unreadable": [],
            "id_type": None,
            "vectors": False,
            "item_features": False,
        }
    label = bundle.label_column
    columns, unreadable = [], []
    for name in items.columns:
        kind = str(items.schema.field(name).type)
        fact = {"name": name, "type": kind, "is_class": name == label}
        try:
            fact |= _distinct(bundle, name, label)
        except ArtefactError as error:
            served.service.live.set_damage(str(error))
            unreadable.append(name)
        columns.append(fact)
    return {
        "label_column": label,
        "columns": columns,
        "unreadable": unreadable,
        "id_type": "string" if items.has_text_ids else "integer",
        "vectors": items.vector_form is not None,
        "item_features": has_features(bundle),
    }


def _distinct(bundle: "Bundle", name: str, label: str | None) -> dict[str, Any]:
    """Return what a column holds; texts and whole numbers that repeat are classes."""
    import pyarrow as pa

    items = bundle.collection
    kind = items.schema.field(name).type
    if not (is_text(kind) or pa.types.is_integer(kind)):
        return {}
    rows = np.linspace(0, len(items) - 1, min(len(items), _SAMPLE)).astype(np.int64)
    n_distinct = len(items.table_at(rows, [name])[name].unique())
    most = _MOST_CLASSES if is_text(kind) else _MOST_NUMBERS
    repeats = n_distinct <= min(most, len(rows) / 2)
    is_class = name == label or (repeats and name != bundle.raw_column)
    # Of a sample: those of a large collection may be more.
    return {"is_class": is_class, "n_distinct": n_distinct}

"""Facts about a bundle that its explorer and clients go by."""

from typing import TYPE_CHECKING, Any

from fewbits._version import __version__

if TYPE_CHECKING:
    from fewbits.bundle import Bundle
    from fewbits.server._served import Served


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
        "raw_column": bundle.raw_column,
        **_of_items(bundle),
        "n_classes": None if bundle.codebook is None else len(bundle.codebook),
        "novelty_radius": bundle.novelty_radius,
        "limits": settings.limits(),
        "pages": {},
        "summary": bundle.summary(),
    }


def _of_items(bundle: "Bundle") -> dict[str, Any]:
    items = bundle.items
    if items is None:
        return {"label_column": None, "columns": [], "id_type": None, "vectors": False}
    label = bundle.label_column
    kept = [items.schema.field(name) for name in items.columns]
    return {
        "label_column": label,
        "columns": [
            {"name": x.name, "type": str(x.type), "is_class": x.name == label}
            for x in kept
        ],
        "id_type": "string" if items.has_text_ids else "integer",
        "vectors": items.vectors is not None,
    }

"""A bundle in a few plain values."""

from typing import Any

from fewbits.encoders import Encoder


def summary_of(bundle: Any) -> dict[str, Any]:
    """Return what `Bundle.summary` returns."""
    facts: dict[str, Any] = {
        **encoder_facts(bundle.encoder, "encoder"),
        "backbone": bundle.backbone,
        "n_items": 0 if bundle.items is None else len(bundle.items),
    }
    if bundle.codebook is not None:
        facts["n_classes"] = len(bundle.codebook)
        facts["calibrated"] = bundle.calibration is not None
        facts["rejects"] = bundle.rejection is not None
    if bundle.items is not None:
        facts["bytes_per_code"] = bundle.items.code_bytes
        facts["bytes_per_item"] = bundle.items.bytes_per_item
        facts["columns"] = bundle.items.columns
        facts["vectors"] = bundle.items.vector_form is not None
    return {**bundle.metadata.summary(), **facts}


def encoder_facts(encoder: Encoder, kind: str) -> dict[str, Any]:
    """Return what there is to know about an encoder; its kind by this name."""
    names = ("n_features", "n_bits", "fingerprint")
    return {kind: encoder.kind, **{name: getattr(encoder, name) for name in names}}

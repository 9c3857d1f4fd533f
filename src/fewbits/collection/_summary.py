"""What there is to know about a collection, and what takes space, as plain values."""

from pathlib import Path
from typing import Any

from fewbits.collection._folder import encoder_facts
from fewbits.collection._model import Model
from fewbits.collection._rows import Rows
from fewbits.store import CORRECTION


def summary(model: Model, rows: Rows | None) -> dict[str, Any]:
    values = model.facts.to_dict()
    for name in ("feature_names", "item_column", "label_column", "id_column"):
        values.pop(name, None)
    values |= values.pop("extra", {})
    values |= encoder_facts(model.encoder, "encoder")
    values |= {"backbone": model.backbone, "kind": model.kind}
    values["n_items"] = 0 if rows is None else len(rows)
    if model.codebook is not None:
        values["n_classes"] = len(model.codebook)
        values["calibrated"] = model.calibration is not None
        values["rejects"] = model.rejection is not None
    if rows is not None:
        values["bytes_per_code"] = rows.code_bytes
        values["bytes_per_item"] = rows.bytes_per_item
        values["columns"] = rows.columns
        values["vectors"] = rows.vector_dtype
    return values


def usage(rows: Rows, folder: Path | None) -> dict[str, Any]:
    code, correction = rows.code_bytes, rows.bytes_of(CORRECTION)
    sizes = {"codes": code, "corrections": correction}
    n_rows = sum(part.n_rows for part in rows.parts)
    facts = {"n_dead_rows": n_rows - len(rows), "n_segments": 0, "n_files": 0}
    if folder is None:
        sizes["vectors"] = rows.bytes_per_item - code - correction
        return {**facts, "bytes": {k: v * len(rows) for k, v in sizes.items()}}
    facts |= {"n_segments": len(rows.parts), "n_files": rows.store.n_files()}
    used = rows.store.bytes_by_kind()
    left = used["rows"]
    for name, size in sizes.items():
        sizes[name] = min(size * n_rows, left)
        left -= sizes[name]
    files = [path for path in folder.iterdir() if path.is_file()]
    sizes |= {
        "vectors": used["vectors"],
        "ids and columns": left,
        "checksums": used["checksums"],
        "derived": used["derived"] + used["tables"],
        "manifests": used["manifests"] + used["deleted"],
        "encoder and classes": sum(path.stat().st_size for path in files),
    }
    return {**facts, "bytes": sizes}

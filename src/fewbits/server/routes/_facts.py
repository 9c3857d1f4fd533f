"""Health, facts about the collection, metrics, and pages that lie in its folder."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from fastapi import APIRouter, Response
from prometheus_client import CONTENT_TYPE_LATEST

from fewbits._arrow import is_text
from fewbits._version import __version__
from fewbits.errors import ArtefactError
from fewbits.server._errors import ApiError
from fewbits.server._replies import Json, also, answers
from fewbits.server._service import Current

if TYPE_CHECKING:
    from fewbits.collection import Collection
    from fewbits.server._service import Served

router = APIRouter()
_SAMPLE = 10_000  # rows that are looked at
_MOST_CLASSES = 1000
_MOST_NUMBERS = 100  # others are more likely counts
#: What `fewbits inspect` writes, under the names by which the explorer looks for it.
PAGES = {"attributes": "attributes.html", "taxonomy": "taxonomy.html"}
_MOST_BYTES = 64 << 20
#: A page may show its own style and pictures, and run nothing.
_HEADERS = {
    "Content-Security-Policy": "default-src 'none'; style-src 'unsafe-inline'; "
    "img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; "
    "sandbox"
}


@router.get("/v1/health", responses=answers("Health"))
async def health(served: Current) -> Json:
    """Return whether the service is healthy, and its snapshot."""
    fault = served.service.live.fault
    content = {
        "status": "ok" if fault is None else "degraded",
        "version": __version__,
        "snapshot": served.version,
    }
    return Json(content if fault is None else {**content, "reason": fault})


@router.get("/v1/facts", responses=answers("Facts"))
async def facts(served: Current) -> Json:
    """Return facts about the collection, and the limits of requests."""
    return Json(await served.run(_facts, served))


@router.get("/metrics", response_class=Response, responses=also("text/plain"))
async def metrics(served: Current) -> Response:
    """Return counts and times in Prometheus' text format."""
    return Response(served.service.metrics.text(), media_type=CONTENT_TYPE_LATEST)


@router.get("/v1/pages/{name}", response_class=Response, responses=also("text/html"))
async def pages(name: str, served: Current) -> Response:
    """Return the page about attributes or taxonomy that was written beforehand."""
    return await served.run(_page, served.folder, name)


def _page(folder: Path | None, name: str) -> Response:
    """Return a page; its name is one of those known, never a path."""
    if folder is None or name not in PAGES:
        raise ApiError(404, "not_found", f"pages are {' and '.join(PAGES)}")
    path = folder / PAGES[name]
    try:
        if path.stat().st_size > _MOST_BYTES:
            raise ApiError(404, "not_found", f"{path.name} is too large to be shown")
        data = path.read_bytes()
    except OSError:
        raise ApiError(
            404,
            "not_found",
            f"write it first: fewbits inspect FOLDER --{name} FOLDER/{PAGES[name]}",
        ) from None
    return Response(data, media_type="text/html; charset=utf-8", headers=_HEADERS)


def _facts(served: "Served") -> dict[str, Any]:
    """Return what is known before anything is asked."""
    collection, settings, folder = served.collection, served.settings, served.folder
    encoder, book = collection.encoder, collection.codebook
    written = [
        name
        for name, file in PAGES.items()
        if folder is not None and (folder / file).is_file()
    ]
    return {
        "name": served.service.live.name,
        "version": __version__,
        "snapshot": served.version,
        "collection_version": collection.version,
        "writable": settings.writable,
        "n_items": len(collection),
        "n_bits": encoder.n_bits,
        "bytes_per_code": -(-encoder.n_bits // 8),
        "encoder": {
            "kind": encoder.kind,
            "n_features": encoder.n_features,
            "fingerprint": encoder.fingerprint,
        },
        "backbone": collection.backbone,
        "kind": collection.kind,
        "feature_names": list(collection.facts.feature_names or ()),
        "item_column": collection.item_column,
        "label_column": collection.label_column,
        **_columns(served),
        "id_name": collection.id_name,
        "id_column": collection.facts.id_column,
        "id_type": "string" if collection.has_text_ids else "integer",
        "vectors": collection.vector_dtype is not None,
        "item_features": collection.knows_features,
        "n_classes": None if book is None else len(book),
        "novelty_radius": collection.facts.novelty_radius,
        "limits": settings.limits(),
        "pages": {name: f"v1/pages/{name}" for name in written},
        "summary": collection.summary(),
    }


def _columns(served: "Served") -> dict[str, Any]:
    """Return what columns hold, and those that damage keeps from being read."""
    collection = served.collection
    columns, unreadable = [], []
    for name in collection.columns:
        kind = str(collection.schema.field(name).type)
        fact = {
            "name": name,
            "type": kind,
            "is_class": name == collection.label_column,
        }
        try:
            fact |= _distinct(collection, name)
        except ArtefactError as error:
            served.service.live.set_damage(str(error))
            unreadable.append(name)
        columns.append(fact)
    return {"columns": columns, "unreadable": unreadable}


def _distinct(collection: "Collection", name: str) -> dict[str, Any]:
    """Return what a column holds; texts and whole numbers that repeat are classes."""
    import pyarrow as pa

    kind = collection.schema.field(name).type
    if not (is_text(kind) or pa.types.is_integer(kind)) or not len(collection):
        return {}
    n = min(len(collection), _SAMPLE)
    positions = np.linspace(0, len(collection) - 1, n).astype(np.int64)
    n_distinct = len(collection.take(positions, [name])[name].unique())
    most = _MOST_CLASSES if is_text(kind) else _MOST_NUMBERS
    repeats = n_distinct <= min(most, n / 2)
    own = name == collection.label_column
    is_class = own or (repeats and name != collection.item_column)
    # Of a sample: those of a large collection may be more.
    return {"is_class": is_class, "n_distinct": n_distinct}

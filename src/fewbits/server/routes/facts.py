"""Health, facts about the collection, metrics, and pages that lie in its folder."""

from typing import Annotated, Any

import numpy as np
from fastapi import APIRouter, Query, Response
from prometheus_client import CONTENT_TYPE_LATEST

from fewbits._arrow import is_text
from fewbits._version import __version__
from fewbits.collection import tools
from fewbits.errors import ArtefactError
from fewbits.server._errors import ApiError
from fewbits.server._replies import Json
from fewbits.server._routing import response_schema
from fewbits.server._service import Current

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


@router.get("/v1/health", responses=response_schema("Health"))
async def health(view: Current) -> Json:
    """Return whether the service is healthy, and its snapshot."""
    fault = view.service.fault
    content = {
        "status": "ok" if fault is None else "degraded",
        "version": __version__,
        "snapshot": view.version,
    }
    return Json(content if fault is None else {**content, "reason": fault})


@router.get("/v1/versions", responses=response_schema("Versions"))
async def versions(view: Current) -> Json:
    """Return the version that is served, those that are still there, and names."""

    def answer() -> dict[str, Any]:
        col = view.collection
        named = {"tags": col.tags(), "tag_times": col.tag_times()}
        return {"version": col.version, "versions": col.versions(), **named}

    return Json(await view.run(answer))


@router.get(
    "/metrics", response_class=Response, responses=response_schema("", "text/plain")
)
async def metrics(view: Current) -> Response:
    """Return counts and times in Prometheus' text format."""
    return Response(view.service.metrics.text(), media_type=CONTENT_TYPE_LATEST)


@router.get(
    "/v1/pages/{name}",
    response_class=Response,
    responses=response_schema("", "text/html"),
)
async def pages(name: str, view: Current) -> Response:
    """Return the page about attributes or taxonomy that was written beforehand."""
    folder = view.folder
    if folder is None or name not in PAGES:  # which is never a path
        raise ApiError("not_found", f"pages are {' and '.join(PAGES)}")
    path = folder / PAGES[name]

    def answer() -> Response:
        try:
            if path.stat().st_size > _MOST_BYTES:
                raise ApiError("not_found", f"{path.name} is too large to show")
            data = path.read_bytes()
        except OSError:
            raise ApiError(
                "not_found",
                f"write it first: fewbits inspect FOLDER --{name} FOLDER/{PAGES[name]}",
            ) from None
        return Response(data, media_type="text/html; charset=utf-8", headers=_HEADERS)

    return await view.run(answer)


@router.get("/v1/facts", responses=response_schema("Facts"))
async def facts(
    view: Current, at: Annotated[str | None, Query(max_length=1000)] = None
) -> Json:
    """Return facts about the collection, or a version of it, and limits of requests."""
    snapshot = view.version
    view = await view.at(int(at) if at and at.isdecimal() else at)

    def answer() -> Json:
        import pyarrow as pa

        collection, settings, folder = view.collection, view.settings, view.folder
        encoder, book = collection.encoder, collection.codebook
        columns, unreadable = [], []
        n = min(len(collection), _SAMPLE)
        positions = np.linspace(0, len(collection) - 1, n).astype(np.int64)
        for name in collection.columns:
            kind = collection.schema.field(name).type
            fact: dict[str, Any] = {"is_class": name == collection.label_column}
            fact |= {"name": name, "type": str(kind)}
            columns.append(fact)
            if not n or not (is_text(kind) or pa.types.is_integer(kind)):
                continue
            try:
                values = tools.take(collection, positions, [name])[name]
            except ArtefactError as error:  # others are still told
                view.service.set_damage(str(error))
                unreadable.append(name)
                continue
            # Of a sample: those of a large collection may be more.
            fact["n_distinct"] = n_distinct = len(values.unique())
            # Texts and whole numbers that repeat are classes.
            most = min(_MOST_CLASSES if is_text(kind) else _MOST_NUMBERS, n / 2)
            fact["is_class"] |= n_distinct <= most and name != collection.item_column
        texts = collection.kind == "texts" and collection.item_column is not None
        keeps = collection.kind != "codes" and collection.vector_dtype is not None
        facts = {
            "name": view.service.name,
            "version": __version__,
            "snapshot": snapshot,
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
            "columns": columns,
            "unreadable": unreadable,
            "id_name": collection.id_name,
            "id_column": collection.facts.id_column,
            "id_type": "string" if collection.has_text_ids else "integer",
            "vectors": collection.vector_dtype is not None,
            "item_features": texts or keeps,
            "n_classes": None if book is None else len(book),
            "novelty_radius": collection.facts.novelty_radius,
            "limits": settings.limits(),
            "pages": {
                name: f"v1/pages/{name}"
                for name, file in PAGES.items()
                if folder is not None and (folder / file).is_file()
            },
            "summary": collection.summary(),
        }
        return Json(facts)

    return await view.run(answer)

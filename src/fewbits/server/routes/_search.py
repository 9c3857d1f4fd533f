"""Search, and what else is asked of the collection itself."""

import io
from pathlib import Path
from typing import Annotated, Any

import numpy as np
from fastapi import APIRouter, Depends, Request, Response

from fewbits.classify.decoders import decoder_of
from fewbits.client.wire import ARROW, BYTES
from fewbits.collection import KINDS
from fewbits.errors import ArgumentError
from fewbits.server._bodies import (
    ClassifyBody,
    DuplicatesBody,
    EncodeBody,
    ItemsBody,
    LikeBody,
    Queries,
    RecallBody,
    SearchBody,
    body_of,
    reads,
)
from fewbits.server._errors import ApiError
from fewbits.server._queries import as_matrix, query_of
from fewbits.server._replies import (
    CSV,
    PARQUET,
    Json,
    accepts,
    also,
    answers,
    arrow_reply,
    checked_size,
    table_reply,
)
from fewbits.server._search import check_hits, explain, hits_reply, search_answer
from fewbits.server._service import Current, Served, served
from fewbits.server.explore._items import records_of

router = APIRouter()
_search_body = body_of(SearchBody, arrow=True, image=True)
_FEW = 1000  # items whose size is not looked at first


@router.post(
    "/v1/search",
    openapi_extra=reads(SearchBody, arrow=True, image=True),
    responses=answers("Found", ARROW),
)
async def search(request: Request) -> Response:
    """Find the nearest items of each query, see `fewbits.Collection.search`."""
    # Called past FastAPI's routing, see `Direct`.
    body = await _search_body(request)
    wants_arrow = accepts(request, ARROW)
    return await search_answer(await served(request), body, arrow=wants_arrow)


@router.post(
    "/v1/explain",
    openapi_extra=reads(SearchBody, image=True),
    responses=answers("Explained"),
)
async def explained(
    body: Annotated[Any, Depends(body_of(SearchBody, image=True))], served: Current
) -> Json:
    """Find the nearest items, with codes and histograms of distances."""
    return Json(await served.run(explain, served, body))


@router.post(
    "/v1/encode",
    openapi_extra=reads(EncodeBody, arrow=True, image=True),
    responses=answers("Codes", BYTES, ARROW),
)
async def encode(
    body: Annotated[Any, Depends(body_of(EncodeBody, arrow=True, image=True))],
    served: Current,
    request: Request,
) -> Response:
    """Return the codes of items: in hexadecimal, as packed bytes, or as Arrow."""

    def codes() -> Any:
        query = query_of(body, served.settings)
        arguments = query.arguments(served.collection, served.settings)
        return served.collection.encode(**arguments)

    made = await served.run(codes)
    n_bits = served.collection.encoder.n_bits
    if accepts(request, BYTES):
        return Response(made.tobytes(), media_type=BYTES)
    if not accepts(request, ARROW):
        return Json({"n_bits": n_bits, "codes": [c.tobytes().hex() for c in made]})
    import pyarrow as pa

    buffers = [None, pa.py_buffer(made.tobytes())]
    column = pa.Array.from_buffers(pa.binary(made.shape[1]), len(made), buffers)
    return arrow_reply(pa.table({"_code": column}), n_bits=n_bits)


@router.post(
    "/v1/classify",
    openapi_extra=reads(ClassifyBody, arrow=True, image=True),
    responses=answers("Classification"),
)
async def classify(
    body: Annotated[Any, Depends(body_of(ClassifyBody, arrow=True, image=True))],
    served: Current,
) -> Json:
    """Return the class of items, see `fewbits.Collection.classify`."""
    return Json(await served.run(_classified, served, body))


def _classified(served: Served, body: Any) -> dict[str, Any]:
    query = query_of(body, served.settings)
    fields = [name for name in type(body).model_fields if name not in KINDS]
    options = {name: vars(body)[name] for name in fields}
    if isinstance(body.decoder, dict):
        parameters = dict(body.decoder)
        options["decoder"] = decoder_of(parameters.pop("name", None), **parameters)
    arguments = query.arguments(served.collection, served.settings)
    return served.collection.classify(**arguments, **options).to_dict()


@router.post(
    "/v1/like", openapi_extra=reads(LikeBody), responses=answers("Found", ARROW)
)
async def like(
    body: Annotated[Any, Depends(body_of(LikeBody))], served: Current, request: Request
) -> Response:
    """Find items that are like some, and unlike others."""

    def alike() -> Response:
        check_hits(1, body.k, served.collection, served.settings)
        options = {name: vars(body)[name] for name in type(body).model_fields}
        for name in ("good", "bad"):
            options[name] = _items_of(options[name], served, ())
            options[f"{name}_ids"] = options[f"{name}_ids"] or ()
        hits = served.collection.like(**options)
        return hits_reply(hits, arrow=accepts(request, ARROW))

    return await served.run(alike)


def _items_of(body: Queries | None, served: Served, default: Any = None) -> Any:
    """Return items of the collection's own kind that are a part of a body."""
    if body is None:
        return default
    query = query_of(body, served.settings)
    return query.items(served.collection, served.settings)


@router.post(
    "/v1/duplicates",
    openapi_extra=reads(DuplicatesBody),
    responses=answers("Pairs", ARROW),
)
async def duplicates(
    body: Annotated[Any, Depends(body_of(DuplicatesBody))],
    served: Current,
    request: Request,
) -> Response:
    """Find pairs of items whose codes are near, see `fewbits.Collection.duplicates`."""

    def pairs() -> Response:
        found = served.collection.duplicates(
            body.radius,
            max_vector_distance=body.max_vector_distance,
            filter=body.filter,
            allowed=body.allowed,
        )
        blocks, most = [], served.settings.max_hits
        for block in found:
            blocks.append(block)
            if sum(map(len, blocks)) > most:
                raise ArgumentError(
                    f"more than {most:,} pairs: give a smaller radius, or a filter"
                )
        if accepts(request, ARROW):
            return arrow_reply(found.table_of(blocks))
        return Json({"pairs": [pair for block in blocks for pair in block.to_list()]})

    return await served.run_heavy(pairs)


@router.post(
    "/v1/recall", openapi_extra=reads(RecallBody), responses=answers("Recalls")
)
async def recall(
    body: Annotated[Any, Depends(body_of(RecallBody))], served: Current
) -> Json:
    """Estimate the recall of searches, see `fewbits.Collection.recall`."""

    def estimates() -> dict[str, Any]:
        options = {name: vars(body)[name] for name in type(body).model_fields}
        options["queries"] = _items_of(body.queries, served)
        if body.vectors is not None:
            options["vectors"] = as_matrix(body.vectors)
        found = served.collection.recall(**options)
        return {"estimates": [estimate.to_dict() for estimate in found]}

    return Json(await served.run_heavy(estimates))


@router.post(
    "/v1/items",
    openapi_extra=reads(ItemsBody),
    responses=answers("Items", CSV, ARROW, PARQUET),
)
async def items(
    body: Annotated[ItemsBody, Depends(body_of(ItemsBody))],
    served: Current,
    request: Request,
) -> Response:
    """Return items by ids or positions: as JSON, or exported as a table."""
    return await served.run(_items, served, body, request)


def _items(served: Served, body: ItemsBody, request: Request) -> Response:
    collection, most = served.collection, served.settings.max_hits
    if (body.ids is None) == (body.positions is None):
        raise ArgumentError("give exactly one of ids and positions")
    if (count := len(body.ids or body.positions or ())) > most:
        raise ArgumentError(f"at most {most:,} items, got {count}")
    positions = np.array(body.positions or (), np.int64)
    if body.ids is not None:
        positions = collection.positions_of(body.ids, missing_ok=body.missing_ok)
    elif len(positions) and positions.max() >= len(collection):
        raise ArgumentError(f"positions must be from 0 to {len(collection) - 1}")
    mask = collection.mask(body.filter)
    if mask is not None:
        positions = positions[mask[positions]]
    if len(np.unique(positions)) < len(positions):
        raise ArgumentError("ask for each item once")
    table = collection.take(positions, body.columns, codes=True)
    if any(accepts(request, kind) for kind in (CSV, PARQUET, ARROW)):
        return table_reply(table, request)
    if len(positions) > _FEW:
        checked_size(table)
    return Json({"items": records_of(table)})


PNG = "image/png"
_SIDE, _MOST_BYTES = 256, 64 << 20


@router.get("/v1/items/{id:path}/image", response_class=Response, responses=also(PNG))
async def image(id: str, served: Current) -> Response:
    """Return a small picture of an item of an image collection."""
    return await served.run(_thumbnail, served, id)


def _thumbnail(served: Served, id: str) -> Response:
    """Return a picture at most 256 pixels wide and high.

    Its path is what the collection says; nothing of the request names a file.
    """
    from fewbits._images import open_rgb
    from fewbits.errors import FeatureError
    from fewbits.server._queries import Upload

    collection, column = served.collection, served.collection.item_column
    if collection.kind != "images" or column is None:
        raise ApiError(404, "not_found", "the items of this collection are no images")
    try:
        record = collection.get([collection.typed_id(id)], [column])[0]
    except ArgumentError as error:
        raise ApiError(404, "not_found", str(error)) from None
    path = Path(str(record[column]))
    try:
        if path.stat().st_size > _MOST_BYTES:
            raise FeatureError(f"{path.name} is too large to be shown")
        data = path.read_bytes()
    except OSError:
        raise ApiError(404, "not_found", "the file of this image is gone") from None
    picture = open_rgb(Upload(data, path.name, served.settings.max_pixels))
    picture.thumbnail((_SIDE, _SIDE))
    sink = io.BytesIO()
    picture.save(sink, "PNG")
    headers = {"Cache-Control": "private, max-age=3600"}
    return Response(sink.getvalue(), media_type=PNG, headers=headers)

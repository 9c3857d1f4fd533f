"""Search, classification, encoding, and reading of items."""

import io
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from fastapi import APIRouter, Request, Response

from fewbits._json import to_json
from fewbits.classify.decoders import decoder_of
from fewbits.client.wire import ARROW, BYTES, JSON
from fewbits.codes import hamming_distances
from fewbits.collection import KINDS, Collection, Hits, tools
from fewbits.errors import ArgumentError, FeatureError
from fewbits.server import _bodies as bodies
from fewbits.server._bodies import Body
from fewbits.server._errors import ApiError
from fewbits.server._items import records_of
from fewbits.server._queries import SentItems, Upload, as_matrix, query_of
from fewbits.server._replies import (
    CSV,
    PARQUET,
    Json,
    accepts,
    arrow_reply,
    items_reply,
)
from fewbits.server._routing import post_route, response_schema
from fewbits.server._service import Current, Lane, View
from fewbits.store import CODE

router = APIRouter()
PNG = "image/png"
_SIDE, _MOST_BYTES = 256, 64 << 20  # of a picture, and of its file
_EXPLAINED = 16  # queries at most: each looks at every item
#: Hits, and bytes of the body, of a search that is answered with others; texts take
#: longer to encode than other items.
_BATCHED, _SHORT, _SHORT_TEXT = 100, 64 << 10, 4 << 10
#: Hits, and bytes of the body, of a request that shares its thread with its like.
_BULK_HITS, _BULK_BYTES = 20_000, 256 << 10
_CHEAP = {"k", "rerank", "shortlist", "columns"}  # options that keep a search short


# Search.


@post_route(
    router, "/v1/search", bodies.SearchBody, "Hits", ARROW, arrow=True, image=True
)
async def search(body: Any, view: View, request: Request) -> Response:
    """Find the nearest items of each query, see `fewbits.Collection.search`.

    A quick search for a single item is answered together with others that wait.
    """
    if body._table is None:
        query = query_of(body, view.settings)
    else:  # which takes longer than the event loop should
        query = await view.run(query_of, body, view.settings)
    k, options = 10 if body.k is None else body.k, body.options(*KINDS)
    check_hits(view, len(query), k)
    as_arrow = accepts(request, ARROW)
    is_one = len(query) == 1 and query.kind != "images" and not as_arrow
    fields = bodies.SearchBody.model_fields  # with the defaults of Collection.search
    costly = any(options[x] != fields[x].default for x in options.keys() - _CHEAP)
    short = _SHORT_TEXT if query.kind == "texts" else _SHORT
    # Others, which share one thread, should not wait for a search.
    if not is_one or costly or k > _BATCHED or body._size > short:
        lane = _lane(body, len(query) * min(k, len(view.collection)))
        return await view.run(
            lambda: _hits_reply(_hits(view, body, query), arrow=as_arrow), lane=lane
        )

    def answer_batch(questions: Sequence[Any]) -> Sequence[Any]:
        values = np.concatenate(questions) if query.kind == "vectors" else questions
        items = SentItems(query.kind, values).arguments(view)
        answer = view.collection.search(**items, **options).to_dict()
        lists = {name: x for name, x in answer.items() if isinstance(x, list)}
        return [
            to_json({**answer, **{name: [x[i]] for name, x in lists.items()}}).encode()
            for i in range(len(questions))
        ]

    question = as_matrix(query.values) if query.kind == "vectors" else query.values[0]
    if query.kind == "vectors":  # what must be equal for queries to be one array
        form: Any = question.shape, question.dtype
    else:
        form = type(question), len(question) if query.kind == "codes" else 0
    # What is answered together has all options in common, whatever they are.
    values = (tuple(x) if isinstance(x, list) else x for x in options.values())
    key = (view.version, query.kind, form, *values)
    batcher = view.service.batcher
    return Json(await batcher.ask(key, question, body._size, answer_batch))


def _hits(view: View, body: Any, query: SentItems) -> Hits:
    """Return the hits of a search in bounds."""
    options, most = body.options(*KINDS), view.settings.max_k
    unbounded = options["radius"] is not None and options["k"] is None
    if unbounded:
        most = min(most, view.settings.max_hits // max(1, len(query)))
        options["k"] = most + 1
    hits = view.collection.search(**query.arguments(view), **options)
    if unbounded and hits.ids.shape[1] > most:
        raise ArgumentError(
            f"a query has more than {most:,} items within {options['radius']} bits: "
            "give k, a smaller radius, or a filter"
        )
    return hits


def check_hits(view: View, n_queries: int, k: int) -> None:
    """Refuse more hits than the settings allow."""
    most_k, most = view.settings.max_k, view.settings.max_hits
    if k > most_k:
        raise ArgumentError(f"at most {most_k:,} hits per query, got {k}")
    if n_queries * min(k, len(view.collection)) > most:
        raise ArgumentError(
            f"{n_queries:,} queries with {k:,} hits each are more than {most:,} hits: "
            "send fewer queries at a time"
        )


def _hits_reply(hits: Hits, *, arrow: bool) -> Response:
    if not arrow:
        return Json(hits.to_dict())
    far = hits.out_of_distribution
    return arrow_reply(
        hits.to_arrow(),
        metric=hits.metric,
        rerank=hits.rerank,
        version=hits.version,
        n_queries=len(hits),
        k=hits.ids.shape[1],
        columns=hits.columns.column_names,
        out_of_distribution=None if far is None else far.tolist(),
    )


def _lane(body: Body, n_hits: int = 0) -> Lane:
    is_bulk = n_hits > _BULK_HITS or body._size > _BULK_BYTES
    return "bulk" if is_bulk else "short"


@post_route(router, "/v1/explain", bodies.SearchBody, "Explanation", image=True)
async def explain(body: Any, view: View, request: Request) -> Json:
    """Find the nearest items, with codes and histograms of distances."""
    collection = view.collection

    def answer() -> Json:
        query = query_of(body, view.settings)
        if len(query) > _EXPLAINED:
            raise ArgumentError(f"explain at most {_EXPLAINED} queries")
        check_hits(view, len(query), 10 if body.k is None else body.k)
        hits = _hits(view, body, query).to_dict()
        codes = collection.encode(**query.arguments(view))
        mask = tools.mask(collection, filter=body.filter, allowed=body.allowed)
        n_bits, histograms = collection.encoder.n_bits, []
        items = None
        if query.kind == "ids":
            items = tools.positions_of(collection, query.values)
        for i, code in enumerate(codes):
            all_distances = hamming_distances(code[None], collection.codes)[0]
            distances = all_distances if mask is None else all_distances[mask]
            counts = np.bincount(distances, minlength=n_bits + 1)
            if items is not None and (mask is None or mask[items[i]]):
                counts[0] -= 1  # the item itself, which is left out of its hits, too
            histograms.append(counts.tolist())
        for rows in filter(None, hits["hits"]):
            stored = collection.encode(ids=[hit["id"] for hit in rows])
            for hit, code in zip(rows, stored, strict=True):
                hit["code"] = code.tobytes().hex()
        texts = [code.tobytes().hex() for code in codes]
        return Json({**hits, "codes": texts, "histograms": histograms})

    return await view.run(answer, lane=_lane(body))


@post_route(router, "/v1/like", bodies.LikeBody, "Hits", ARROW)
async def like(body: Any, view: View, request: Request) -> Response:
    """Find items that are like some, and unlike others."""

    def answer() -> Response:
        check_hits(view, 1, body.k)
        options = body.options()
        for name in ("good", "bad"):
            items = _items_of(options[name], view)
            options[name] = () if items is None else items
            options[f"{name}_ids"] = options[f"{name}_ids"] or ()
        hits = view.collection.like(**options)
        return _hits_reply(hits, arrow=accepts(request, ARROW))

    return await view.run(answer, lane=_lane(body, body.k))


def _items_of(body: Body | None, view: View) -> Any:
    """Return items of the collection's own kind that are a part of a body."""
    return None if body is None else query_of(body, view.settings).items(view)


# Codes, classes, duplicates, recall.


@post_route(
    router,
    "/v1/encode",
    bodies.EncodeBody,
    "Codes",
    BYTES,
    ARROW,
    arrow=True,
    image=True,
)
async def encode(body: Any, view: View, request: Request) -> Response:
    """Return the codes of items: in hexadecimal, as packed bytes, or as Arrow."""

    def answer() -> Response:
        query = query_of(body, view.settings)
        codes = view.collection.encode(**query.arguments(view))
        n_bits = view.collection.encoder.n_bits
        if accepts(request, BYTES):
            return Response(codes.tobytes(), media_type=BYTES)
        if not accepts(request, ARROW):
            return Json({"n_bits": n_bits, "codes": [c.tobytes().hex() for c in codes]})
        import pyarrow as pa

        column = pa.array([code.tobytes() for code in codes], pa.binary(codes.shape[1]))
        return arrow_reply(pa.table({CODE: column}), n_bits=n_bits)

    return await view.run(answer, lane=_lane(body))


@post_route(
    router,
    "/v1/classify",
    bodies.ClassifyBody,
    "Classification",
    arrow=True,
    image=True,
)
async def classify(body: Any, view: View, request: Request) -> Json:
    """Return the class of items, see `fewbits.Collection.classify`."""

    def answer() -> Json:
        query, options = query_of(body, view.settings), body.options(*KINDS)
        if isinstance(body.decoder, dict):
            parameters = dict(body.decoder)
            options["decoder"] = decoder_of(parameters.pop("name", None), **parameters)
        classes = view.collection.classify(**query.arguments(view), **options)
        return Json(classes.to_dict())

    return await view.run(answer, lane=_lane(body))


@post_route(router, "/v1/duplicates", bodies.DuplicatesBody, "Pairs", ARROW)
async def duplicates(body: Any, view: View, request: Request) -> Response:
    """Find pairs of items whose codes are near, see `fewbits.Collection.duplicates`."""

    def answer() -> Response:
        pairs = view.collection.duplicates(**body.options())
        blocks, most = [], view.settings.max_hits
        for block in pairs:
            blocks.append(block)
            if sum(map(len, blocks)) > most:
                raise ArgumentError(
                    f"more than {most:,} pairs: give a smaller radius, or a filter"
                )
        if accepts(request, ARROW):
            return arrow_reply(pairs.table_of(blocks))
        return Json({"pairs": [pair for block in blocks for pair in block.to_list()]})

    return await view.run(answer, lane="heavy")


@post_route(router, "/v1/recall", bodies.RecallBody, "Recalls")
async def recall(body: Any, view: View, request: Request) -> Json:
    """Estimate the recall of searches, see `fewbits.Collection.recall`."""

    def answer() -> Json:
        options = body.options()
        options["queries"] = _items_of(body.queries, view)
        if body.vectors is not None:
            options["vectors"] = as_matrix(body.vectors)
        estimates = view.collection.recall(**options)
        return Json({"estimates": [estimate.to_dict() for estimate in estimates]})

    return await view.run(answer, lane="heavy")


# Items.


@post_route(router, "/v1/items", bodies.ItemsBody, "Items", CSV, ARROW, PARQUET)
async def items(body: Any, view: View, request: Request) -> Response:
    """Return items, by ids, positions or a filter: as JSON, CSV, Parquet or Arrow."""
    collection, most = view.collection, view.settings.max_hits
    count = len(body.ids or body.positions or ())
    is_all = body.ids is None and body.positions is None and body.filter is not None

    def answer() -> Response:
        if not is_all and (body.ids is None) == (body.positions is None):
            raise ArgumentError("give one of ids and positions, a filter, or both")
        if count > most:
            raise ArgumentError(f"at most {most:,} items, got {count}")
        positions = np.array(body.positions or (), np.int64)
        if body.ids is not None:
            positions = tools.positions_of(
                collection, body.ids, missing_ok=body.missing_ok
            )
        elif len(positions) and positions.max() >= len(collection):
            raise ArgumentError(f"positions must be from 0 to {len(collection) - 1}")
        mask = tools.mask(collection, body.filter)
        if mask is not None:
            positions = np.flatnonzero(mask) if is_all else positions[mask[positions]]
        if len(positions) > most:
            raise ArgumentError(
                f"at most {most:,} items, got {len(positions):,}: ask for some by "
                "positions and filter"
            )
        if len(np.unique(positions)) < len(positions):
            raise ArgumentError("ask for each item once")
        table = tools.take(collection, positions, body.columns, codes=True)
        return items_reply(table, request, JSON)

    return await view.run(answer, lane=_lane(body, most if is_all else count))


@router.get(
    "/v1/items/{id:path}/image",
    response_class=Response,
    responses=response_schema("", PNG),
)
async def image(id: str, view: Current) -> Response:
    """Return a small picture of an item of an image collection.

    It is at most 256 pixels wide and high. Its path is what the collection says;
    nothing of the request names a file.
    """
    from fewbits._images import open_rgb

    column = view.collection.item_column
    if view.collection.kind != "images" or column is None:
        raise ApiError("not_found", "the items of this collection are no images")

    def answer() -> Response:
        (record,) = records_of(_item(view.collection, id, [column]))
        path = Path(str(record["columns"][column]))
        try:
            if path.stat().st_size > _MOST_BYTES:
                raise FeatureError(f"{path.name} is too large to be shown")
            data = path.read_bytes()
        except OSError:
            raise ApiError("not_found", "the file of this image is gone") from None
        picture = open_rgb(Upload(data, path.name, view.settings.max_pixels))
        picture.thumbnail((_SIDE, _SIDE))
        sink = io.BytesIO()
        picture.save(sink, "PNG")
        headers = {"Cache-Control": "private, max-age=3600"}
        return Response(sink.getvalue(), media_type=PNG, headers=headers)

    return await view.run(answer)


@router.get("/v1/items/{id:path}", responses=response_schema("Item"))
async def item(id: str, view: Current) -> Json:
    """Return an item by its id."""
    (record,) = records_of(await view.run(_item, view.collection, id, None))
    return Json(record)


def _item(collection: Collection, id: str, columns: Any) -> Any:
    """Return the item of an id in an address as a table; it may not be there."""
    try:
        positions = tools.positions_of(collection, [tools.parse_id(collection, id)])
    except ArgumentError as error:
        raise ApiError("not_found", str(error)) from None
    return tools.take(collection, positions, columns, codes=True)

"""The collection as a map."""

from functools import partial
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np
from fastapi import APIRouter, Depends, Query, Request, Response

from fewbits.client.wire import ARROW, BYTES, JSON
from fewbits.collection import tools
from fewbits.errors import ArgumentError
from fewbits.server._bodies import MapExportBody
from fewbits.server._errors import RETRY, ApiError
from fewbits.server._replies import CSV, PARQUET, Json, accepts, items_reply
from fewbits.server._routing import post_route, response_schema
from fewbits.server._service import Current, View
from fewbits.server.routes.search import check_hits

if TYPE_CHECKING:
    from fewbits.server._maps import CollectionMap, Colours

router = APIRouter()
#: Points of one answer.
_MOST = 250_000

Start = Annotated[int, Query(ge=0, le=2**40)]
Count = Annotated[int, Query(ge=1, le=_MOST)]
#: The snapshot that a page knows the rows of.
Version = Annotated[str | None, Query(max_length=100)]


@router.get("/v1/map")
async def facts(view: Current) -> Json:
    """Describe the newest map; begin one of this snapshot where there is none."""
    newest, progress = view.service.maps.look(view)
    version = view.version if newest is None else newest.view.version
    map_facts = {} if newest is None else newest.facts()
    state = {"version": version, "current": version == view.version}
    return Json({**state, "ready": newest is not None, **progress, **map_facts})


@router.get(
    "/v1/map/points", response_class=Response, responses=response_schema("", BYTES)
)
async def points(
    view: Current, start: Start = 0, count: Count = 100_000, version: Version = None
) -> Response:
    """Return places of points as bytes, little-endian.

    The numbers x and y of each point, two bytes each from 0 to 65,535; then the
    positions of all of them in the collection, four bytes each. Points are in random
    order, so that the first ones are a sample.
    """
    map_ = _map(view, version)
    part = slice(start, start + count)
    places = map_.places[part].astype("<u2")
    positions = map_.positions[part].astype("<u4")
    return Response(places.tobytes() + positions.tobytes(), media_type=BYTES)


async def _colours(
    view: Current,
    by: Annotated[str, Query(max_length=1000)],
    id: Annotated[str | None, Query(max_length=1000)] = None,
    code: Annotated[str | None, Query(max_length=10_000)] = None,
    version: Version = None,
) -> "Colours":
    map_ = _map(view, version)
    work = partial(map_.colours, by, id=_id(map_.view, id), code=code)
    if by.startswith(("class:", "trust")):
        return await map_.view.cached(("map", by, id, code), work)
    return await map_.view.run(work)


Coloured = Annotated[Any, Depends(_colours)]


@router.get("/v1/map/legend")
async def legend(coloured: Coloured) -> Json:
    """Describe the bytes of `/v1/map/colours`, with counts."""
    _, described = coloured
    return Json(described)


@router.get(
    "/v1/map/colours", response_class=Response, responses=response_schema("", BYTES)
)
async def colours(coloured: Coloured) -> Response:
    """Return a byte for each point of the map, in its order.

    By `class:COLUMN`, `bit:NUMBER`, `distance` (from an `id` or a `code`) or `trust`.
    """
    values, _ = coloured
    return Response(values.tobytes(), media_type=BYTES)


@router.get("/v1/map/neighbours")
async def neighbours(
    view: Current,
    row: Annotated[int | None, Query(ge=0, le=2**40)] = None,
    id: Annotated[str | None, Query(max_length=1000)] = None,
    k: Annotated[int, Query(ge=1, le=100)] = 10,
    version: Version = None,
) -> Json:
    """List the items nearest to one of them, among all, on the map or not."""
    map_ = _map(view, version)
    return Json(await view.run(map_.neighbours, row, _id(map_.view, id), k))


@router.get("/v1/map/outliers")
async def outliers(
    view: Current,
    label: Annotated[str | None, Query(max_length=1000)] = None,
    version: Version = None,
) -> Json:
    """List items far from all others, and those among items of another class."""
    map_ = _map(view, version)
    key, work = ("map outliers", label), partial(map_.outliers, label)
    return Json(await map_.view.cached(key, work, lane="heavy"))


@post_route(router, "/v1/map/export", MapExportBody, "Items", CSV, PARQUET, ARROW)
async def export(body: Any, view: View, request: Request) -> Response:
    """Export items with their places, neighbours and columns, as CSV by default.

    JSON has the items alone, as `/v1/items` of the snapshot that the map is of.
    """
    map_ = _map(view, body.version)
    collection, positions = map_.view.collection, np.array(body.positions, np.int64)

    def answer() -> Response:
        if len(np.unique(positions)) < len(positions):
            raise ArgumentError("ask for each item once")
        if positions.max() >= len(collection):
            raise ArgumentError(f"positions are from 0 to {len(collection) - 1}")
        check_hits(map_.view, len(positions), body.neighbours + 1)
        if not accepts(request, JSON):
            return items_reply(map_.table(positions, body.neighbours), request, CSV)
        items = tools.take(collection, positions, codes=True)
        return items_reply(items, request, JSON)

    return await view.run(answer)


def _map(view: View, version: str | None) -> "CollectionMap":
    """Return the newest map, or that of an earlier snapshot."""
    maps = view.service.maps
    if version not in (None, view.version):
        if (earlier := maps.of_version(version)) is None:
            raise ApiError(
                "map_changed", "the collection has changed: load the map again"
            )
        return earlier
    newest, progress = maps.look(view)
    if newest is None or version not in (None, newest.view.version):
        wait = "the map is being made: ask /v1/map how far it is"
        raise ApiError("map_not_ready", progress["fault"] or wait, RETRY)
    return newest


def _id(view: View, id: str | None) -> Any:
    """Return an id as the collection has it."""
    try:
        return None if id is None else tools.parse_id(view.collection, id)
    except ArgumentError as error:
        raise ApiError("not_found", str(error)) from None

"""The collection as a map."""

from functools import partial
from typing import Annotated, Any

import numpy as np
from fastapi import APIRouter, Depends, Query, Request, Response

from fewbits.client.wire import ARROW, BYTES, JSON
from fewbits.engine import maps
from fewbits.server._body import body_of, reads
from fewbits.server._csv import CSV
from fewbits.server._errors import ApiError
from fewbits.server._exports import PARQUET, check_distinct, items_json, table_answer
from fewbits.server._models import MapExportBody
from fewbits.server._reply import Json, accepts, also, answers
from fewbits.server._searching import check_hits
from fewbits.server._served import Current, Served

router = APIRouter()
#: Points of one answer.
_MOST = 250_000

Start = Annotated[int, Query(ge=0, le=2**40)]
Count = Annotated[int, Query(ge=1, le=_MOST)]
#: The snapshot that a page knows the rows of.
Version = Annotated[str | None, Query(max_length=100)]


@router.get("/v1/map", responses=answers("MapFacts"))
async def facts(served: Current) -> Json:
    """Describe the newest map; begin one of this snapshot where there is none."""
    state = served.service.maps.state(served.snapshot)
    version = served.version if state.made is None else state.made.of.version
    told = {"version": version, "current": version == served.version}
    return Json({**told, **state.to_dict()})


@router.get("/v1/map/points", response_class=Response, responses=also(BYTES))
async def points(
    served: Current, start: Start = 0, count: Count = 100_000, version: Version = None
) -> Response:
    """Return places of points as bytes, little-endian.

    The numbers x and y of each point, two bytes each from 0 to 65,535; then the rows of
    all of them in the collection, four bytes each. Points are in random order, so that
    the first ones are a sample.
    """
    _, found = _mapped(served, version)
    chosen = slice(start, start + count)
    places = found.places[chosen].astype("<u2")
    rows = found.rows[chosen].astype("<u4")
    return Response(places.tobytes() + rows.tobytes(), media_type=BYTES)


class Coloured:
    """Parameters of colours."""

    def __init__(
        self,
        by: Annotated[str, Query(max_length=1000)],
        id: Annotated[str | None, Query(max_length=1000)] = None,
        code: Annotated[str | None, Query(max_length=10_000)] = None,
    ) -> None:
        self.by, self.id, self.code = by, id, code

    async def colours(self, served: Served, version: str | None) -> "maps.MapColours":
        served, found = _mapped(served, version)
        bundle, id = served.bundle, _id(served, self.id)
        work = partial(maps.map_colours, bundle, found, self.by, id=id, code=self.code)
        if self.by.startswith(("class:", "trust")):
            return await served.cached(("map", self.by), work)
        return await served.run(work)


@router.get("/v1/map/legend", responses=answers("Legend"))
async def legend(
    served: Current, asked: Annotated[Coloured, Depends()], version: Version = None
) -> Json:
    """Describe the bytes of `/v1/map/colours`, with counts."""
    return Json((await asked.colours(served, version)).to_dict())


@router.get("/v1/map/colours", response_class=Response, responses=also(BYTES))
async def colours(
    served: Current, asked: Annotated[Coloured, Depends()], version: Version = None
) -> Response:
    """Return a byte for each point of the map, in its order.

    By `class:COLUMN`, `bit:NUMBER`, `distance` (from an `id` or a `code`) or `trust`.
    """
    found = await asked.colours(served, version)
    return Response(found.values.tobytes(), media_type=BYTES)


@router.get("/v1/map/neighbours", responses=answers("MapNeighbours"))
async def neighbours(
    served: Current,
    row: Annotated[int | None, Query(ge=0, le=2**40)] = None,
    id: Annotated[str | None, Query(max_length=1000)] = None,
    k: Annotated[int, Query(ge=1, le=100)] = 10,
    version: Version = None,
) -> Json:
    """List the items nearest to one of them, among all, on the map or not."""
    served, found = _mapped(served, version)
    work = partial(
        maps.map_neighbours, served.bundle, found, row=row, id=_id(served, id), k=k
    )
    return Json((await served.run(work)).to_dict())


@router.get("/v1/map/outliers", responses=answers("MapOutliers"))
async def outliers(
    served: Current,
    labels: Annotated[str | None, Query(max_length=1000)] = None,
    version: Version = None,
) -> Json:
    """List items far from all others, and those among items of another class."""
    served, found = _mapped(served, version)
    work = partial(maps.map_outliers, served.bundle, found, labels=labels)
    key = "map outliers", labels
    return Json((await served.cached(key, work, heavy=True)).to_dict())


@router.post(
    "/v1/map/export",
    openapi_extra=reads(MapExportBody),
    responses=answers("Items", CSV, PARQUET, ARROW),
)
async def export(
    asked: Annotated[MapExportBody, Depends(body_of(MapExportBody))],
    served: Current,
    request: Request,
) -> Response:
    """Export items with their places, neighbours and columns, as CSV by default.

    JSON has the items alone, as `/v1/items` of the snapshot that the map is of.
    """
    served, found = _mapped(served, asked.version)
    return await served.run(_exported, served, found, asked, request)


def _exported(
    served: Served, found: "maps.CollectionMap", asked: MapExportBody, request: Request
) -> Response:
    rows = np.array(asked.rows, np.int64)
    check_distinct(rows)
    check_hits(len(rows), asked.neighbours + 1, served.bundle, served.settings)
    if accepts(request, JSON):
        return items_json(served, rows)
    table = maps.map_table(served.bundle, found, rows, n_neighbours=asked.neighbours)
    return table_answer(table, request)


def _mapped(served: Served, version: str | None) -> "tuple[Served, maps.CollectionMap]":
    """Return a map, and the snapshot that it is of: the newest, or one that is held."""
    updates = served.service.maps
    if version is None or version == served.version:
        state = updates.state(served.snapshot)
        made, fault = state.made, state.fault
        if made is not None and version in (None, made.of.version):
            return Served(served.service, made.of), made.found
        raise ApiError(
            409,
            "map_not_ready",
            fault or "the map is being made: ask /v1/map how far it is",
            {"Retry-After": "1"},
        )
    made = updates.held(version)
    if made is None:
        raise ApiError(
            409, "map_changed", "the collection has changed: load the map again"
        )
    return Served(served.service, made.of), made.found


def _id(served: Served, id: str | None) -> Any:
    """Return an id as the collection has it."""
    if id is None or served.bundle.collection.has_text_ids:
        return id
    digits = id.removeprefix("-")
    if not (digits.isascii() and digits.isdecimal() and len(digits) < 20):
        raise ApiError(404, "not_found", f"ids are whole numbers here, got {id!r}")
    return int(id)

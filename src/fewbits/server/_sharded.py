"""The application that answers from several servers."""

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from typing import Annotated, Any

from fastapi import APIRouter, Depends, FastAPI, Request, Response
from fastapi.routing import APIRoute

from fewbits._version import __version__
from fewbits.client.searching import HttpSearcher, Searcher
from fewbits.client.wire import ARROW
from fewbits.errors import ArgumentError
from fewbits.server._app import bare_app
from fewbits.server._body import body_of, reads
from fewbits.server._errors import error_response
from fewbits.server._metrics import Metrics
from fewbits.server._models import EncodeBody, ItemsBody, Queries, RangeBody, SearchBody
from fewbits.server._reply import Json, answers, arrow_reply, wants_arrow
from fewbits.server._run import check_public, serve_app
from fewbits.server._settings import Settings
from fewbits.server._shards import Shards

router = APIRouter()


async def _shards(request: Request) -> Shards:
    shards: Shards = request.app.state.shards
    return shards


All = Annotated[Shards, Depends(_shards)]


def create_sharded_app(
    searchers: Sequence[Searcher], settings: Settings | None = None
) -> FastAPI:
    """Return the ASGI application that answers from several shards.

    Parameters
    ----------
    searchers : sequence of Searcher
        In the order of the rows.
    settings : Settings, default=Settings()

    Returns
    -------
    fastapi.FastAPI
    """
    if not searchers:
        raise ArgumentError("give one shard or more")
    settings = settings or Settings()
    if settings.writable:
        raise ArgumentError("shards are written to where they are, not through this")
    shards, metrics = Shards(searchers), Metrics()

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        yield
        await shards.close()

    app = bare_app(settings, metrics, shards.version, [router])
    app.add_exception_handler(404, _not_here)
    app.router.lifespan_context = lifespan
    app.state.shards, app.state.metrics = shards, metrics
    app.state.settings = settings
    return app


async def _not_here(request: Request, error: Exception) -> Response:
    """Return what a front answers: the page and other routes are of single servers."""
    known = [route.path for route in router.routes if isinstance(route, APIRoute)]
    path = request.url.path
    message = f"this server has shards behind it: it answers {', '.join(known)}"
    message += "; the page is that of a shard" if path == "/" else ""
    if path.startswith("/v1/"):
        message += f"; ask a shard for {path}"
    return error_response(404, "not_found", message)


def run_shards(
    urls: Sequence[str],
    settings: Settings | None = None,
    *,
    host: str = "127.0.0.1",
    port: int = 8000,
) -> None:
    """Serve the collection whose rows several servers have.

    Parameters
    ----------
    urls : sequence of str
        Addresses of the servers, in the order of the rows.
    settings, host, port
        As of `run`. Shards get the token that this service asks for.

    Raises
    ------
    ArgumentError
        As `run`.
    """
    settings = settings or Settings()
    check_public(host, settings)
    limit = settings.time_limit
    searchers = [HttpSearcher(url, settings.token, limit) for url in urls]
    serve_app(create_sharded_app(searchers, settings), settings, host, port)


def _asked(asked: Queries, request: Request) -> tuple[dict[str, Any], Any]:
    """Return the fields of a request and its table; ids are always a field."""
    fields, table = asked.model_dump(exclude_none=True), asked.table
    ids = asked.ids
    if table is not None and "ids" in table.column_names:
        if len(table.column_names) > 1:
            raise ArgumentError("give either ids or one other kind of queries")
        ids, table = table["ids"], None
    if ids is not None:
        _check_ids(ids, request)
        fields["ids"] = ids if isinstance(ids, list) else ids.to_pylist()
    return fields, table


def _check_ids(ids: Any, request: Request) -> None:
    settings: Settings = request.app.state.settings
    if not 1 <= len(ids) <= settings.max_queries:
        raise ArgumentError(f"give 1 to {settings.max_queries:,} ids, got {len(ids):,}")


@router.get("/v1/health", responses=answers("Health"))
async def health(shards: All) -> Response:
    """Return the health of the service, and which shards are missing."""
    answers, missing = await shards.health()
    fault = await shards.fault()
    well = not (missing or fault) and all(each["status"] == "ok" for each in answers)
    content = {
        "status": "ok" if well else "degraded",
        "version": __version__,
        "snapshot": "/".join(each["snapshot"] for each in answers),
    }
    if fault:
        content["reason"] = fault
    return Json({**content, "missing_shards": missing} if missing else content)


@router.get("/v1/facts", responses=answers("Facts"))
async def facts(shards: All, request: Request) -> Response:
    """Return facts about all shards together."""
    answers, missing = await shards.facts()
    settings: Settings = request.app.state.settings
    limits = [settings.limits(), *(each["limits"] for each in answers)]
    n_items = sum(each["n_items"] for each in answers)
    content = {
        **answers[0],
        "name": "shards",
        "writable": False,
        "snapshot": "/".join(each["snapshot"] for each in answers),
        "n_items": n_items,
        "limits": {name: min(each[name] for each in limits) for name in limits[0]},
        "summary": {**answers[0]["summary"], "n_items": n_items},
        "pages": {},
        "item_features": False,  # which only the shard of an item would know
        "shards": len(answers) + len(missing),
    }
    return Json({**content, "missing_shards": missing} if missing else content)


@router.post(
    "/v1/search",
    openapi_extra=reads(SearchBody, arrow=True),
    responses=answers("Found", ARROW),
)
async def search(
    asked: Annotated[SearchBody, Depends(body_of(SearchBody, arrow=True))],
    shards: All,
    request: Request,
) -> Response:
    """Find the items that are nearest to each query, in all shards."""
    fields, table = _asked(asked, request)
    if wants_arrow(request):
        found, told = await shards.search_table(fields, table)
        return arrow_reply(found, **told)
    return Json(await shards.search(fields, table))


@router.post(
    "/v1/range-search",
    openapi_extra=reads(RangeBody, arrow=True),
    responses=answers("RangeFound", ARROW),
)
async def range_search(
    asked: Annotated[RangeBody, Depends(body_of(RangeBody, arrow=True))],
    shards: All,
    request: Request,
) -> Response:
    """Find all items within a distance of each query, in all shards."""
    fields, table = _asked(asked, request)
    if wants_arrow(request):
        found, told = await shards.range_table(fields, table)
        return arrow_reply(found, **told)
    return Json(await shards.range_search(fields, table))


@router.post(
    "/v1/encode",
    openapi_extra=reads(EncodeBody, arrow=True),
    responses=answers("Codes", ARROW),
)
async def encode(
    asked: Annotated[EncodeBody, Depends(body_of(EncodeBody, arrow=True))],
    shards: All,
    request: Request,
) -> Response:
    """Return the codes of raw items."""
    fields, arrow = asked.model_dump(exclude_none=True), wants_arrow(request)
    found = await shards.encode(fields, asked.table, arrow=arrow)
    if not arrow:
        return Json(found)
    codes, told = found
    return arrow_reply(codes, **told)


@router.post("/v1/items", openapi_extra=reads(ItemsBody), responses=answers("Items"))
async def items(
    asked: Annotated[ItemsBody, Depends(body_of(ItemsBody))],
    shards: All,
    request: Request,
) -> Response:
    """Return items by their ids."""
    if asked.ids is None or asked.skip_unknown:
        raise ArgumentError("give ids alone: positions are of a single collection")
    _check_ids(asked.ids, request)
    if len({*asked.ids}) < len(asked.ids):
        raise ArgumentError("ask for each item once")
    return Json(await shards.items(asked.ids))


@router.get("/metrics", response_class=Response)
async def metrics(request: Request) -> Response:
    """Return counts and times in Prometheus' text format."""
    found: Metrics = request.app.state.metrics
    return Response(found.text(), media_type="text/plain; version=0.0.4")

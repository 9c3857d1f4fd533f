"""The application that answers from several servers."""

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from typing import Annotated, Any

from fastapi import APIRouter, Depends, FastAPI, Request, Response

from fewbits._version import __version__
from fewbits.client.searching import HttpSearcher, Searcher
from fewbits.errors import ArgumentError
from fewbits.server._app import bare_app
from fewbits.server._body import Body, body_of, reads
from fewbits.server._metrics import Metrics
from fewbits.server._models import (
    Codes,
    EncodeBody,
    Found,
    Health,
    Items,
    ItemsBody,
    RangeBody,
    RangeFound,
    SearchBody,
)
from fewbits.server._reply import Json
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

    app = bare_app(settings, metrics, lambda: "shards", [router])
    app.router.lifespan_context = lifespan
    app.state.shards, app.state.metrics = shards, metrics
    app.state.settings = settings
    return app


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


def _plain(body: Body) -> dict[str, Any]:
    return body.model_dump(exclude_none=True)


@router.get("/v1/health", response_model=Health)
async def health(shards: All) -> Response:
    """Return the health of the service, and which shards are missing."""
    answers, missing = await shards.health()
    well = not missing and all(each["status"] == "ok" for each in answers)
    content = {
        "status": "ok" if well else "degraded",
        "version": __version__,
        "snapshot": "/".join(each["snapshot"] for each in answers),
    }
    return Json({**content, "missing_shards": missing} if missing else content)


@router.get("/v1/facts", response_model=dict[str, Any])
async def facts(shards: All, request: Request) -> Response:
    """Return facts about all shards together."""
    answers, missing = await shards.facts()
    settings: Settings = request.app.state.settings
    content = {
        **answers[0],
        "name": "shards",
        "writable": False,
        "snapshot": "/".join(each["snapshot"] for each in answers),
        "n_items": sum(each["n_items"] for each in answers),
        "limits": settings.limits(),
        "shards": len(answers) + len(missing),
    }
    return Json({**content, "missing_shards": missing} if missing else content)


@router.post("/v1/search", response_model=Found, openapi_extra=reads(SearchBody))
async def search(
    asked: Annotated[SearchBody, Depends(body_of(SearchBody))], shards: All
) -> Response:
    """Find the items that are nearest to each query, in all shards."""
    return Json(await shards.search(_plain(asked)))


@router.post(
    "/v1/range-search", response_model=RangeFound, openapi_extra=reads(RangeBody)
)
async def range_search(
    asked: Annotated[RangeBody, Depends(body_of(RangeBody))], shards: All
) -> Response:
    """Find all items within a distance of each query, in all shards."""
    return Json(await shards.range_search(_plain(asked)))


@router.post("/v1/encode", response_model=Codes, openapi_extra=reads(EncodeBody))
async def encode(
    asked: Annotated[EncodeBody, Depends(body_of(EncodeBody))], shards: All
) -> Response:
    """Return the codes of raw items."""
    return Json(await shards.encode(_plain(asked)))


@router.post("/v1/items", response_model=Items, openapi_extra=reads(ItemsBody))
async def items(
    asked: Annotated[ItemsBody, Depends(body_of(ItemsBody))], shards: All
) -> Response:
    """Return items by their ids."""
    if asked.ids is None:
        raise ArgumentError("give ids: positions are of a single collection")
    return Json(await shards.items(asked.ids))


@router.get("/metrics", response_class=Response)
async def metrics(request: Request) -> Response:
    """Return counts and times in Prometheus' text format."""
    found: Metrics = request.app.state.metrics
    return Response(found.text(), media_type="text/plain; version=0.0.4")

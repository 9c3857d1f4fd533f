"""The application: routes, the page, and the description of both."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path

from fastapi import FastAPI
from starlette.routing import Match, Mount, Route
from starlette.staticfiles import StaticFiles
from starlette.types import Scope

from fewbits._version import __version__
from fewbits.collection import Collection
from fewbits.server._errors import add_handlers
from fewbits.server._guard import Guard
from fewbits.server._routing import describe
from fewbits.server._service import Service
from fewbits.server._settings import Settings
from fewbits.server.routes import ROUTERS
from fewbits.server.routes.search import search

FOLDER = Path(__file__).parent / "explorer"
#: What is never a file of the page: a wrong method there is told by the route.
_ROUTES = ("/v1/", "/metrics", "/openapi.json")


def create_app(
    source: Collection | str | Path, settings: Settings | None = None
) -> FastAPI:
    """Return the ASGI application that serves a collection.

    Parameters
    ----------
    source : Collection, str or Path
        A folder, whose changes go live by themselves, or a collection in memory.
    settings : Settings, default=Settings()

    Returns
    -------
    fastapi.FastAPI

    Raises
    ------
    ArtefactError
        When the folder is no collection, or is damaged.

    Examples
    --------
    >>> import fewbits
    >>> import numpy as np
    >>> from fastapi.testclient import TestClient
    >>> col = fewbits.Collection.create(None, codes=np.array([[1], [7]], np.uint8))
    >>> client = TestClient(create_app(col), base_url="http://localhost")
    >>> client.post("/v1/search", json={"codes": ["07"], "k": 1}).json()["hits"]
    [[{'rank': 1, 'id': 1, 'distance': 0, 'columns': {}}]]
    """
    settings = settings or Settings()
    service = Service(source, settings)

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        async with service.running():
            yield

    app = FastAPI(
        title="fewbits",
        version=__version__,
        lifespan=lifespan,
        docs_url=None,  # its page loads scripts from elsewhere
        redoc_url=None,
        # FastAPI's telemetry is off: our own metrics and logs are bounded.
        telemetry={"tracing": False, "metrics": False, "logs": False},
    )
    app.state.settings, app.state.service = settings, service
    add_handlers(app, ROUTERS)
    # Solving the dependencies of a route takes FastAPI longer than a search of a
    # hundred thousand codes.
    app.router.routes.insert(0, Route("/v1/search", search, methods=["POST"]))
    for router in ROUTERS:
        app.include_router(router)
    app.openapi = partial(describe, app)  # type: ignore[method-assign]
    app.add_middleware(
        Guard,
        settings=settings,
        metrics=service.metrics,
        version=lambda: service.newest.version,
    )
    app.router.routes.append(_Page())
    return app


class _Page(Mount):
    """The explorer's files at the root, beside the routes."""

    def __init__(self) -> None:
        super().__init__("/", StaticFiles(directory=FOLDER, html=True), name="explorer")

    def matches(self, scope: Scope) -> tuple[Match, Scope]:
        """Leave the paths of routes to these."""
        if str(scope.get("path", "")).startswith(_ROUTES):
            return Match.NONE, {}
        return super().matches(scope)

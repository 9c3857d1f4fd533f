"""The application."""

from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

from fastapi import APIRouter, FastAPI

from fewbits._version import __version__
from fewbits.bundle import Bundle
from fewbits.server._direct import Direct
from fewbits.server._errors import add_handlers
from fewbits.server._guard import Guard
from fewbits.server._live import Live
from fewbits.server._metrics import Metrics
from fewbits.server._openapi import add_openapi
from fewbits.server._page import Page
from fewbits.server._service import Service
from fewbits.server._settings import Settings
from fewbits.server.routes import ROUTERS


def create_app(
    source: Bundle | str | Path, settings: Settings | None = None
) -> FastAPI:
    """Return the ASGI application that serves a bundle.

    Parameters
    ----------
    source : Bundle, str or Path
        A folder, whose changes go live by themselves, or a bundle in memory.
    settings : Settings, default=Settings()

    Returns
    -------
    fastapi.FastAPI

    Raises
    ------
    ArtefactError
        When the folder is no bundle, or is damaged.

    Examples
    --------
    >>> import numpy as np
    >>> from fastapi.testclient import TestClient
    >>> from fewbits.bundle import Bundle
    >>> from fewbits.encoders import LinearEncoder
    >>> bundle = Bundle(LinearEncoder(np.eye(2), np.zeros(2))).with_items(np.eye(2))
    >>> client = TestClient(create_app(bundle), base_url="http://localhost")
    >>> client.post("/v1/search", json={"vectors": [[1, 0]], "k": 1}).json()["results"]
    [{'query': 'query 0', 'hits': [{'id': 0, 'distance': 0, 'columns': {}}]}]
    """
    service = Service(Live(source), settings or Settings())

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        async with service.running():
            yield

    metrics, version = service.metrics, service.version
    app = bare_app(service.settings, metrics, version, ROUTERS, ["/v1/search"])
    app.router.lifespan_context = lifespan
    app.state.service = service
    app.router.routes.append(Page())
    return app


def bare_app(
    settings: Settings,
    metrics: Metrics,
    version: Callable[[], str],
    routers: Sequence[APIRouter],
    direct: Sequence[str] = (),
) -> FastAPI:
    """Return an application with what every service has around its routes.

    Paths that are `direct` are those that `Direct` takes.
    """
    app = FastAPI(
        title="fewbits",
        version=__version__,
        docs_url=None,  # its page loads scripts from elsewhere
        redoc_url=None,
        # FastAPI's telemetry is off: our own metrics and logs are bounded.
        telemetry={"tracing": False, "metrics": False, "logs": False},
    )
    app.state.settings = settings
    add_handlers(app, routers)
    for router in routers:
        app.include_router(router)
    add_openapi(app)
    app.add_middleware(Direct, routers=routers, paths=direct)
    app.add_middleware(Guard, settings=settings, metrics=metrics, version=version)
    return app

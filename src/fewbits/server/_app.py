"""The application, with the page and the description of both, and its process."""

import contextlib
import errno
import socket
import sys
from collections.abc import AsyncIterator
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fastapi import FastAPI
from starlette.routing import Match, Mount, Route
from starlette.staticfiles import StaticFiles
from starlette.types import Scope

from fewbits._version import __version__
from fewbits.collection import Collection
from fewbits.errors import ArgumentError
from fewbits.server._errors import add_handlers
from fewbits.server._guard import Guard
from fewbits.server._routing import describe
from fewbits.server._service import Service
from fewbits.server._settings import Settings
from fewbits.server._telemetry import set_up_logs
from fewbits.server.routes import ROUTERS
from fewbits.server.routes.search import search

if TYPE_CHECKING:
    from uvicorn import Config

_FOLDER = Path(__file__).parent / "explorer"
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

    @contextlib.asynccontextmanager
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
        super().__init__(
            "/", StaticFiles(directory=_FOLDER, html=True), name="explorer"
        )

    def matches(self, scope: Scope) -> tuple[Match, Scope]:
        """Leave the paths of routes to these."""
        if str(scope.get("path", "")).startswith(_ROUTES):
            return Match.NONE, {}
        return super().matches(scope)


# The process.

#: Addresses that only this machine can reach.
_LOOPBACK = ("127.0.0.1", "::1", "localhost")


def run(
    source: Collection | str | Path,
    settings: Settings | None = None,
    *,
    host: str = "127.0.0.1",
    port: int = 8000,
) -> None:
    """Serve a collection until the process is told to stop; what has begun is finished.

    A line with the address goes to standard output, logs to standard error.

    Parameters
    ----------
    source : Collection, str or Path
    settings : Settings, default=Settings()
    host : str, default="127.0.0.1"
        Address to listen at. Others than those of this machine need a token.
    port : int, default=8000
        0 takes one that is free.

    Raises
    ------
    ArgumentError
        When others could reach the service without a token, or the port is in use.
    """
    import uvicorn

    settings = settings or Settings()
    if host not in _LOOPBACK and settings.token is None:
        raise ArgumentError(
            f"others can reach {host}: set a token (FEWBITS_SERVE_TOKEN or "
            "--token-file), or listen at 127.0.0.1"
        )
    app = create_app(source, settings)
    try:
        addresses = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
        family, _, _, _, at = min(addresses)  # IPv4, where a name has both
        listening = socket.create_server(at, family=family, backlog=2048)
    except OSError as error:
        message = f"cannot listen at {host}: {error}"
        if error.errno == errno.EADDRINUSE:
            message = f"port {port} is in use: choose another by --port"
        if error.errno == errno.EACCES:
            message = f"port {port} needs rights that you do not have: choose another"
        raise ArgumentError(message) from None
    set_up_logs()
    name_of_host = "localhost" if host in ("0.0.0.0", "::") else host
    address = f"[{name_of_host}]" if ":" in name_of_host else name_of_host
    token = "" if settings.token is None else "/?token=TOKEN"
    name = app.state.service.name
    sys.stdout.write(
        f"{name} is served at http://{address}:{listening.getsockname()[1]}{token} "
        "until Ctrl-C\n"
    )
    sys.stdout.flush()
    config = uvicorn_config(app, settings)
    with contextlib.suppress(KeyboardInterrupt):  # which uvicorn raises once more
        uvicorn.Server(config).run([listening])


def uvicorn_config(app: Any, settings: Settings, **options: Any) -> "Config":
    """Return the configuration by which uvicorn keeps the bounds of the settings.

    For a server of your own: ``uvicorn.Server(uvicorn_config(app, settings)).run()``.

    Parameters
    ----------
    app : ASGI application
        Of `create_app`.
    settings : Settings
    **options
        Of ``uvicorn.Config``, such as ``port``.

    Returns
    -------
    uvicorn.Config
    """
    import uvicorn

    from fewbits.server._protocol import bounded

    defaults = {
        "http": bounded(settings),
        "ws": "none",
        "log_config": None,
        "access_log": False,
        "server_header": False,
        "proxy_headers": False,
        # Longer than clients keep idle connections, which must not meet our closing.
        "timeout_keep_alive": 30,
        "timeout_graceful_shutdown": int(settings.time_limit) + 1,
    }
    return uvicorn.Config(app, **{**defaults, **options})

"""The application: routes, the page, and the description of both."""

import json
import re
from collections.abc import AsyncIterator, Awaitable, Callable, MutableMapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from fastapi import FastAPI, Request, Response
from fastapi.routing import APIRoute
from pydantic.json_schema import models_json_schema
from starlette.routing import Match, Mount
from starlette.staticfiles import StaticFiles
from starlette.types import Scope

from fewbits._version import __version__
from fewbits.client.wire import JSON
from fewbits.collection import Collection
from fewbits.server._bodies import PLACE, Body
from fewbits.server._errors import EXPECTED, add_handlers, answer_to
from fewbits.server._guard import Guard
from fewbits.server._service import Live, Service
from fewbits.server._settings import Settings
from fewbits.server.routes import ROUTERS

FOLDER = Path(__file__).parent / "explorer"
#: What is never a file of the page: a wrong method there is told by the route.
_ROUTES = ("/v1/", "/metrics", "/openapi.json")
_REFUSED = 400, 401, 403, 404, 405, 408, 409, 413, 415, 421, 422, 429
_STATUSES = *_REFUSED, 500, 501, 503, 507


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
    service = Service(Live(source), settings)

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
    for router in ROUTERS:
        app.include_router(router)
    describe = app.openapi

    def openapi() -> dict[str, Any]:
        if app.openapi_schema is None:
            _complete(describe())
        assert app.openapi_schema is not None
        return app.openapi_schema

    app.openapi = openapi  # type: ignore[method-assign]
    app.add_middleware(_Direct, path="/v1/search")
    app.add_middleware(
        Guard,
        settings=settings,
        metrics=service.metrics,
        version=lambda: service.live.snapshot.version,
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


class _Direct:
    """ASGI middleware that calls one endpoint without routing and dependencies.

    Finding a route and solving its dependencies takes FastAPI longer than a search of a
    hundred thousand codes. The endpoint takes the request alone, by POST.
    """

    def __init__(self, app: Any, path: str) -> None:
        self._app, self._path = app, path
        routes = [route for router in ROUTERS for route in router.routes]
        (self._route,) = (
            x for x in routes if isinstance(x, APIRoute) and x.path == path
        )

    async def __call__(
        self, scope: MutableMapping[str, Any], receive: Any, send: Any
    ) -> None:
        is_http = scope["type"] == "http" and scope["method"] == "POST"
        if not is_http or scope["path"] != self._path:
            await self._app(scope, receive, send)
            return
        scope["route"] = self._route
        endpoint: Callable[[Request], Awaitable[Response]] = self._route.endpoint
        request = Request(scope, receive)
        try:
            response = await endpoint(request)
        except EXPECTED as error:  # others are logged
            response = answer_to(error, request)
        await response(scope, receive, send)


def _complete(schema: dict[str, Any]) -> None:
    """Add to a description the models that routes name, and the errors of all routes.

    FastAPI would make a model and a validator of each at the start.
    """
    from fewbits.server import _answer_models, _bodies

    content = {JSON: {"schema": {"$ref": f"{PLACE}Error"}}}
    error = {"description": "Error", "content": content}
    for operations in schema["paths"].values():
        for operation in operations.values():
            for status in _STATUSES:
                operation["responses"].setdefault(str(status), error)
    models = {**vars(_bodies), **vars(_answer_models)}
    components = schema.setdefault("components", {}).setdefault("schemas", {})
    names = {*re.findall(f'"{PLACE}(\\w+)"', json.dumps(schema["paths"]))}
    lacking = [models[name] for name in sorted(names - components.keys())]
    _, made = models_json_schema(
        [
            (model, "validation" if issubclass(model, Body) else "serialization")
            for model in lacking
        ],
        ref_template=f"{PLACE}{{model}}",
    )
    components.update(made["$defs"])

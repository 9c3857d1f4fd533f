"""The way to the route that is asked most, past the machinery of all others."""

from collections.abc import Awaitable, Callable, MutableMapping, Sequence
from typing import Any

from fastapi import APIRouter, Request, Response
from fastapi.routing import APIRoute

from fewbits.server._errors import EXPECTED, answer_to

#: Takes a request alone, and reads its body itself.
Endpoint = Callable[[Request], Awaitable[Response]]
Message = MutableMapping[str, Any]


class Direct:
    """ASGI middleware that calls some endpoints without routing and dependencies.

    FastAPI describes them as it does others. Finding a route and solving its
    dependencies takes it longer than a search of a hundred thousand codes.

    Parameters
    ----------
    app : callable
    routers : sequence of APIRouter
    paths : sequence of str
        Of routes whose endpoint takes the request alone, by POST.
    """

    def __init__(
        self, app: Any, routers: Sequence[APIRouter], paths: Sequence[str]
    ) -> None:
        self._app = app
        known = [route for router in routers for route in router.routes]
        self._routes = {
            route.path: route
            for route in known
            if isinstance(route, APIRoute) and route.path in paths
        }

    async def __call__(self, scope: Message, receive: Any, send: Any) -> None:
        route = None
        if scope["type"] == "http" and scope["method"] == "POST":
            route = self._routes.get(scope["path"])
        if route is None:
            await self._app(scope, receive, send)
            return
        scope["route"] = route
        endpoint: Endpoint = route.endpoint
        request = Request(scope, receive)
        try:
            response = await endpoint(request)
        except EXPECTED as error:  # others are logged
            response = answer_to(error, request)
        await response(scope, receive, send)

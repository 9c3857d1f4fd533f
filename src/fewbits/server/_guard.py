"""The outermost layer: safety, limits, headers, counts and logs of every request."""

import asyncio
import time
from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any
from urllib.parse import parse_qsl, urlencode

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import RedirectResponse, Response

from fewbits.server._errors import ApiError, as_api_error
from fewbits.server._logs import log, log_failure
from fewbits.server._metrics import Metrics
from fewbits.server._receiving import Incoming, Receiving
from fewbits.server._security import Gate
from fewbits.server._settings import Settings
from fewbits.server._token_page import token_page

Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
App = Callable[[Message, Receive, Send], Awaitable[None]]

#: Unless a route says otherwise. Everything comes from here, and no page frames it.
_HEADERS = {
    "Content-Security-Policy": "default-src 'self'; img-src 'self' data: blob:; "
    "object-src 'none'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=()",
    "Cache-Control": "no-cache",
}
_RAW = [(name.lower().encode(), value.encode()) for name, value in _HEADERS.items()]
#: Bytes of an answer whose reading the connection bounds, see `BoundedProtocol`.
_SOON_READ = 64 << 10
_METHODS = "GET, POST, PUT"
_ASKED = "Authorization, Content-Type, Accept"


class Guard:
    """ASGI middleware around the whole application.

    Parameters
    ----------
    app : callable
    settings : Settings
    metrics : Metrics
    version : callable
        Returns the version of the newest snapshot.
    """

    def __init__(
        self,
        app: App,
        settings: Settings,
        metrics: Metrics,
        version: Callable[[], str],
    ) -> None:
        self._app, self._metrics, self._version = app, metrics, version
        self._time_limit = settings.time_limit
        self._gate, self._receiving = Gate(settings), Receiving(settings)

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
        elif scope["type"] == "websocket":
            await send({"type": "websocket.close", "code": 1008})
        else:
            await self._http(scope, receive, send)

    async def _http(self, scope: Message, receive: Receive, send: Send) -> None:
        began, status, began_to_answer = time.perf_counter(), 500, False
        scope.setdefault("state", {})
        self._metrics.begin()
        headers, origin = Headers(scope=scope), None
        incoming = Incoming(headers, receive)

        async def answer(message: Message) -> None:
            nonlocal status, began_to_answer
            if message["type"] == "http.response.start":
                status, began_to_answer = message["status"], True
                self._add_headers(scope, message, origin)
                if incoming.is_pending:
                    await incoming.discard()
                if incoming.is_pending:
                    MutableHeaders(scope=message)["Connection"] = "close"
            if len(message.get("body", b"")) <= _SOON_READ:
                await send(message)
                return
            # Who does not read the answer does not hold it for ever.
            async with asyncio.timeout(self._time_limit):
                await send(message)

        try:
            self._gate.check_host(headers)
            origin = self._gate.check_origin(headers)
            early = self._early(scope, headers, origin)
            if early is not None:
                await early(scope, receive, answer)
                return
            self._gate.check_token(headers)
            if "cookie" in headers:  # which a framework takes minutes to parse
                raw = scope["headers"]
                scope["headers"] = [pair for pair in raw if pair[0] != b"cookie"]
            with self._receiving.body(headers, incoming.receive) as read:
                await self._app(scope, read, answer)
        except ApiError as error:
            refusal = token_page(scope, headers) if error.status == 401 else None
            await (refusal or error.response())(scope, receive, answer)
        except Exception as error:
            log_failure("failed", error, path=scope["path"])
            if began_to_answer:
                raise  # which closes the connection
            await as_api_error(error).response()(scope, receive, answer)
        finally:
            self._count(scope, status, time.perf_counter() - began)

    def _early(
        self, scope: Message, headers: Headers, origin: str | None
    ) -> Response | None:
        """Answer what browsers ask before a request, and the address with a token."""
        method = scope["method"]
        if (
            origin
            and method == "OPTIONS"
            and "access-control-request-method" in headers
        ):
            allowed = {
                "Access-Control-Allow-Methods": _METHODS,
                "Access-Control-Allow-Headers": _ASKED,
            }
            return Response(status_code=204, headers=allowed)
        if method != "GET" or scope["path"] != "/":
            return None
        query = parse_qsl(scope["query_string"].decode("latin-1"))
        token = dict(query).get("token", "")
        if not self._gate.is_token(token):
            return None
        rest = urlencode([pair for pair in query if pair[0] != "token"])
        moved = RedirectResponse(f"/?{rest}" if rest else "/", 303)
        moved.set_cookie(
            self._gate.cookie_name,
            self._gate.cookie_value,
            httponly=True,
            samesite="strict",
            secure=scope["scheme"] == "https",
        )
        return moved

    def _add_headers(
        self, scope: Message, message: Message, origin: str | None
    ) -> None:
        raw = message["headers"]
        given = {name for name, _ in raw}
        raw.extend(pair for pair in _RAW if pair[0] not in given)
        version = scope["state"].get("snapshot") or self._version()
        raw.append((b"fewbits-snapshot", version.encode()))
        if origin is not None:
            headers = MutableHeaders(scope=message)
            headers["Access-Control-Allow-Origin"] = origin
            headers["Access-Control-Expose-Headers"] = "Fewbits-Snapshot"
            headers.add_vary_header("Origin")

    def _count(self, scope: Message, status: int, seconds: float) -> None:
        route = getattr(scope.get("route"), "path", "") or "other"
        method = scope["method"] if scope["method"] in _METHODS else "other"
        self._metrics.request(route, method, status, seconds)
        log(
            "request",
            method=method,
            route=route,
            status=status,
            ms=round(seconds * 1000, 2),
            snapshot=scope["state"].get("snapshot"),
            client=(scope.get("client") or ("",))[0],
        )

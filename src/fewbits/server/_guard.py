"""The outermost layer: access, bounds, headers, counts and logs of every request."""

import asyncio
import contextlib
import hashlib
import hmac
import ipaddress
import logging
import time
from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any
from urllib.parse import parse_qsl, urlencode, urlsplit

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import HTMLResponse, RedirectResponse, Response

from fewbits.server._errors import RETRY, ApiError, as_api_error
from fewbits.server._replies import in_bytes
from fewbits.server._settings import Settings
from fewbits.server._telemetry import Metrics, log

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
_METHODS = "GET, POST, PUT"
_PREFLIGHT = {
    "Access-Control-Allow-Methods": _METHODS,
    "Access-Control-Allow-Headers": "Authorization, Content-Type, Accept",
}
_ASKS = "This service asks for a token"
_TOKEN_PAGE = """<!doctype html>
<html lang="en">
<meta charset="utf-8">
<title>fewbits</title>
<h1>{title}</h1>
<p>Open <code>/?token=TOKEN</code> once, with the token that the service was started
with. This browser then keeps it as a cookie.</p>
</html>
"""


class Guard:
    """ASGI middleware around the whole application."""

    def __init__(
        self, app: App, settings: Settings, metrics: Metrics, version: Callable[[], str]
    ) -> None:
        self._app, self._metrics, self._version = app, metrics, version
        self._settings = settings
        self._held_bytes = 0  # of the bodies of all requests
        self._hosts = {"localhost", *(x.lower() for x in settings.allowed_hosts)}
        self._origins = {x.rstrip("/").lower() for x in settings.allowed_origins}
        self._last_host: str | None = None
        self._token = settings.token
        if settings.token is not None:
            token = settings.token.encode()
            digest = hashlib.sha256(token).hexdigest()[:12]
            # Cookies are shared by all ports of a host, so each service has its own.
            self._cookie_name = f"fewbits_{digest}"
            self._cookie_value = hmac.new(token, b"page", hashlib.sha256).hexdigest()

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
            return
        if scope["type"] == "websocket":
            await send({"type": "websocket.close", "code": 1008})
            return
        began, status, began_to_answer = time.perf_counter(), 500, False
        scope.setdefault("state", {})
        self._metrics.active.inc()
        headers, origin = Headers(scope=scope), None

        async def answer(message: Message) -> None:
            nonlocal status, began_to_answer
            if message["type"] == "http.response.start":
                status, began_to_answer = message["status"], True
                self._add_headers(scope, message, origin)
                if status >= 400 and "expect" in headers:  # its body may never come
                    MutableHeaders(scope=message)["Connection"] = "close"
            await send(message)

        try:
            self._check_host(headers)
            origin = self._check_origin(headers)
            early = self._early(scope, headers, origin)
            if early is not None:
                await early(scope, receive, answer)
                return
            self._check_token(headers)
            if "cookie" in headers:  # which a framework takes minutes to parse
                raw = scope["headers"]
                scope["headers"] = [pair for pair in raw if pair[0] != b"cookie"]
            await self._within_bounds(scope, headers, receive, answer)
        except ApiError as error:
            refusal = error.response()
            kinds = headers.get("accept", "").split(",")
            by_person = "text/html" in (x.split(";")[0].strip() for x in kinds)
            if error.status == 401 and by_person and scope["method"] == "GET":
                wrong = scope["path"] == "/" and b"token=" in scope["query_string"]
                title = "That is not the token" if wrong else _ASKS
                page = _TOKEN_PAGE.format(title=title)
                refusal = HTMLResponse(page, 401, {"WWW-Authenticate": "Bearer"})
            await refusal(scope, receive, answer)
        except Exception as error:
            log("failed", level=logging.ERROR, cause=error, path=scope["path"])
            if began_to_answer:
                raise  # which closes the connection
            await as_api_error(error).response()(scope, receive, answer)
        finally:
            seconds = time.perf_counter() - began
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

    def _early(
        self, scope: Message, headers: Headers, origin: str | None
    ) -> Response | None:
        """Answer what browsers ask before a request, and the address with a token."""
        method = scope["method"]
        preflight = "access-control-request-method" in headers
        if origin and method == "OPTIONS" and preflight:
            return Response(status_code=204, headers=_PREFLIGHT)
        if method != "GET" or scope["path"] != "/":
            return None
        query = parse_qsl(scope["query_string"].decode("latin-1"))
        if not self._is_token(dict(query).get("token", "")):
            return None
        rest = urlencode([pair for pair in query if pair[0] != "token"])
        redirect = RedirectResponse(f"/?{rest}" if rest else "/", 303)
        redirect.set_cookie(
            self._cookie_name,
            self._cookie_value,
            httponly=True,
            samesite="strict",
            secure=scope["scheme"] == "https",
        )
        return redirect

    def _add_headers(
        self, scope: Message, message: Message, origin: str | None
    ) -> None:
        raw = message["headers"]
        names = {name for name, _ in raw}
        raw.extend(pair for pair in _RAW if pair[0] not in names)
        version = scope["state"].get("snapshot") or self._version()
        raw.append((b"fewbits-snapshot", version.encode()))
        if origin is not None:
            headers = MutableHeaders(scope=message)
            headers["Access-Control-Allow-Origin"] = origin
            headers["Access-Control-Expose-Headers"] = "Fewbits-Snapshot"
            headers.add_vary_header("Origin")

    async def _within_bounds(
        self, scope: Message, headers: Headers, receive: Receive, answer: Send
    ) -> None:
        """Call the application with a body in bounds: of bytes, time, and all memory.

        Bodies that are compressed, or too large by their headers, are refused at once.
        `BoundedProtocol` reads the rest of a refused body and drops it.
        """
        if headers.get("content-encoding", "identity").lower() != "identity":
            raise ApiError("unsupported_encoding", "send bodies uncompressed")
        length = headers.get("content-length", "0")
        if length.isdecimal():
            self._check_size(int(length))
        size, complete, loop = 0, False, asyncio.get_running_loop()
        end = loop.time() + self._settings.body_time_limit

        async def read() -> Message:
            nonlocal size, complete
            if complete:  # what comes now is that the client has gone
                return await receive()
            try:
                async with asyncio.timeout_at(end):
                    message = await receive()
            except TimeoutError:
                late = "the body came too slowly"
                close = {"Connection": "close"}
                raise ApiError("body_too_slow", late, close) from None
            more = len(message.get("body", b""))
            size += more
            self._held_bytes += more
            self._check_size(size)
            complete = not message.get("more_body", False)
            return message

        try:
            await self._app(scope, read, answer)
        finally:
            self._held_bytes -= size

    def _check_size(self, size: int) -> None:
        if size > (most := self._settings.max_body_bytes):
            raise ApiError("body_too_large", f"a body has at most {in_bytes(most)}")
        if self._held_bytes > self._settings.max_held_bytes:
            message = "requests hold as much memory as they may: try again later"
            raise ApiError("overloaded", message, RETRY)

    # Host, origin and token.

    def _check_host(self, headers: Headers) -> None:
        """Refuse names that are not ours: a page elsewhere may have made one up.

        Addresses pass: no page can make up one of these (DNS rebinding needs a name).
        """
        hosts = headers.getlist("host")
        if len(hosts) == 1 and hosts[0] == self._last_host:  # as most requests have
            return
        is_ours = False
        with contextlib.suppress(ValueError):  # neither name:port nor [address]:port
            (host,) = hosts
            parts = urlsplit(f"//{host}")
            _ = parts.port
            if parts.netloc == host and "@" not in host and parts.hostname:
                name = parts.hostname.rstrip(".")
                is_ours = name in self._hosts or bool(ipaddress.ip_address(name))
        if not is_ours:
            raise ApiError(
                "unknown_host",
                "this service is not known by that name: start it with --allow-host",
            )
        self._last_host = hosts[0]

    def _check_origin(self, headers: Headers) -> str | None:
        """Return the origin of another page that may ask; None for our own."""
        origin = headers.get("origin")
        if origin is None:
            return None
        if origin.rstrip("/").lower() in self._origins:
            return origin
        with contextlib.suppress(ValueError):  # it is no address
            if urlsplit(origin).netloc.lower() == headers.get("host", "").lower():
                return None
        raise ApiError("foreign_origin", "pages of other origins may not ask")

    def _check_token(self, headers: Headers) -> None:
        """Refuse requests that bring neither the token nor the cookie for it."""
        if self._token is None:
            return
        kind, _, token = headers.get("authorization", "").partition(" ")
        is_bearer, token = kind.lower() == "bearer", token.strip()
        if is_bearer and self._is_token(token):
            return
        # Python's parser of cookies takes minutes for one of 60 KB; ours has no quotes.
        for pair in headers.get("cookie", "").split(";"):
            name, _, value = pair.strip().partition("=")
            if name == self._cookie_name:
                if _same(value, self._cookie_value):
                    return
                break
        message = "send the token: Authorization: Bearer TOKEN"
        if is_bearer and token:
            message = "that is not the token of this service"
        raise ApiError("unauthorized", message, {"WWW-Authenticate": "Bearer"})

    def _is_token(self, text: str) -> bool:
        """Return whether a text is the token, in constant time."""
        return self._token is not None and _same(text, self._token)


def _same(text: str, secret: str) -> bool:
    return hmac.compare_digest(text.encode("utf-8", "replace"), secret.encode())

"""Bodies come in bounds: of bytes, of time, and of the memory of all of them."""

import asyncio
import contextlib
from collections.abc import Awaitable, Callable, Iterator, MutableMapping
from typing import Any

from starlette.datastructures import Headers

from fewbits.server._errors import RETRY_SECONDS, ApiError, in_bytes
from fewbits.server._settings import Settings

Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
#: Read of the body of a refused request: clients that are cut off see no answer.
_DISCARDED_BYTES, _DISCARDED_SECONDS = 1 << 20, 1.0
_CLOSE = {"Connection": "close"}  # the rest of the body is not waited for


class Incoming:
    """The body of a request, as far as it has come.

    Parameters
    ----------
    headers : Headers
    receive : callable
    """

    def __init__(self, headers: Headers, receive: Receive) -> None:
        length = headers.get("content-length", "0")
        #: Whether something of it has not been read.
        self.is_pending = length != "0" or "transfer-encoding" in headers
        # A client that expects 100 Continue has not sent the body.
        self._is_sent = "expect" not in headers
        self._receive = receive

    async def receive(self) -> Message:
        """Return the next message."""
        message = await self._receive()
        if message["type"] != "http.request" or not message.get("more_body", False):
            self.is_pending = False
        return message

    async def discard(self) -> None:
        """Read a small rest, so that the connection can be used again."""
        left = _DISCARDED_BYTES if self._is_sent else 0
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(_DISCARDED_SECONDS):
                while self.is_pending and left > 0:
                    left -= len((await self.receive()).get("body", b""))


class Receiving:
    """Counts what all requests hold in memory.

    Parameters
    ----------
    settings : Settings
    """

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._held = 0

    @contextlib.contextmanager
    def body(self, headers: Headers, receive: Receive) -> Iterator[Receive]:
        """Give a function that receives a body in bounds, and forget it afterwards.

        Raises
        ------
        ApiError
            When the headers tell already that it is too large, or compressed.
        """
        self._check(headers)
        size, loop = 0, asyncio.get_running_loop()
        end = loop.time() + self._settings.body_time_limit
        complete = False

        async def read() -> Message:
            nonlocal size, complete
            if complete:  # what comes now is that the client has gone
                return await receive()
            try:
                async with asyncio.timeout_at(end):
                    message = await receive()
            except TimeoutError:
                raise ApiError(
                    408, "body_too_slow", "the body came too slowly", _CLOSE
                ) from None
            more = len(message.get("body", b""))
            size += more
            self._held += more
            self._check_size(size)
            complete = not message.get("more_body", False)
            return message

        try:
            yield read
        finally:
            self._held -= size

    def _check(self, headers: Headers) -> None:
        encoding = headers.get("content-encoding", "identity").lower()
        if encoding != "identity":
            raise ApiError(
                415, "unsupported_encoding", "send bodies uncompressed", _CLOSE
            )
        length = headers.get("content-length", "0")
        if length.isdecimal():
            self._check_size(int(length))

    def _check_size(self, size: int) -> None:
        if size > self._settings.max_body_bytes:
            raise ApiError(
                413,
                "body_too_large",
                f"a body has at most {in_bytes(self._settings.max_body_bytes)}",
                _CLOSE,
            )
        if self._held > self._settings.max_held_bytes:
            raise ApiError(
                429,
                "overloaded",
                "requests hold as much memory as they may: try again later",
                {"Retry-After": str(RETRY_SECONDS), **_CLOSE},
            )

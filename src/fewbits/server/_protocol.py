"""HTTP connections in bounds that uvicorn leaves open.

uvicorn waits for the head of a request as long as the client likes, and holds headers
of any length.
"""

import asyncio
import json
from functools import partial
from typing import Any

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from fewbits.server._settings import Settings

_MOST_BYTES = 64 << 10  # of a head


class BoundedProtocol(HttpToolsProtocol):
    """Ends connections whose head comes slowly or is long, and those that are too many.

    Parameters
    ----------
    settings : Settings
    *args, **kwargs
        Of uvicorn.
    """

    def __init__(self, settings: Settings, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._settings = settings
        self._head_bytes = 0
        self._timer: asyncio.TimerHandle | None = None

    def connection_made(self, transport: Any) -> None:
        super().connection_made(transport)
        if len(self.connections) > self._settings.max_connections:
            transport.abort()
            return
        self._await_head()

    def connection_lost(self, exc: Exception | None) -> None:
        self._stop()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        if self._timer is not None:
            self._head_bytes += len(data)
        super().data_received(data)
        if self._timer is not None and self._head_bytes > _MOST_BYTES:
            self._stop()
            self.send_400_response("The head of the request is too long.")

    def on_message_begin(self) -> None:
        super().on_message_begin()
        if self._timer is None:
            self._await_head()

    def on_headers_complete(self) -> None:
        self._stop()
        super().on_headers_complete()

    def send_400_response(self, msg: str) -> None:
        """Refuse what is no HTTP in the shape of every error, and close."""
        error = {"code": "bad_request", "message": msg.rstrip(".")}
        body = json.dumps({"error": error}).encode()
        head = (
            "HTTP/1.1 400 Bad Request\r\nContent-Type: application/json\r\n"
            "X-Content-Type-Options: nosniff\r\nConnection: close\r\n"
            f"Content-Length: {len(body)}\r\n\r\n"
        )
        self.transport.write(head.encode() + body)
        self.transport.close()

    def _await_head(self) -> None:
        self._head_bytes = 0
        seconds = self._settings.head_time_limit
        self._timer = self.loop.call_later(seconds, self._too_slow)

    def _stop(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _too_slow(self) -> None:
        self._timer = None
        self.transport.close()


def bounded(settings: Settings) -> Any:
    """Return what uvicorn makes a connection with."""
    return partial(BoundedProtocol, settings)

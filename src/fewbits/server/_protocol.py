"""HTTP connections in bounds that uvicorn leaves open.

uvicorn waits for the head of a request as long as the client likes, holds headers and
trailers of any length, waits for ever after an answer where a byte comes, and holds
what a client does not read.
"""

import asyncio
import json
from functools import partial
from typing import Any

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from fewbits.server._settings import Settings

_MOST_BYTES = 64 << 10  # of a head, or of trailers
_MOST_REST = 1 << 20  # of a body that was refused: who is cut off sees no answer
_LEAST_READ = 64 << 10  # in the time limit, of an answer


class BoundedProtocol(HttpToolsProtocol):
    """Ends connections that are slow, have long heads, are idle or too many."""

    def __init__(self, settings: Settings, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._settings = settings
        self._other_bytes = 0  # since a part of a body, or a head, was complete
        self._rest = 0  # bytes of a body that came after the answer
        self._timer: asyncio.TimerHandle | None = None
        self._reading: asyncio.TimerHandle | None = None

    def connection_made(self, transport: Any) -> None:
        super().connection_made(transport)
        if len(self.connections) > self._settings.max_connections:
            transport.abort()
            return
        self._close_after(self._settings.head_time_limit)

    def connection_lost(self, exc: Exception | None) -> None:
        self._stop()
        self._stop_reading()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        self._other_bytes += len(data)
        super().data_received(data)
        if self._other_bytes > _MOST_BYTES and not self.transport.is_closing():
            self._stop()
            self.send_400_response("The head of the request is too long.")

    def on_message_begin(self) -> None:
        super().on_message_begin()
        self._close_after(self._settings.head_time_limit)

    def on_headers_complete(self) -> None:
        self._stop()
        self._other_bytes = self._rest = 0
        super().on_headers_complete()

    def on_body(self, body: bytes) -> None:
        self._other_bytes = 0
        if self.cycle.response_complete:
            self._rest += len(body)
            if self._rest > _MOST_REST:
                self.transport.close()
        super().on_body(body)

    def on_message_complete(self) -> None:
        self._other_bytes = 0
        super().on_message_complete()

    def on_response_complete(self) -> None:
        super().on_response_complete()
        # uvicorn forgets its own timer when anything comes: the rest of a body that
        # is not read, or an empty line.
        if self._timer is None and self.cycle.response_complete:
            self._close_after(self.timeout_keep_alive)

    def pause_writing(self) -> None:
        super().pause_writing()
        self._watch_reading()

    def resume_writing(self) -> None:
        self._stop_reading()
        super().resume_writing()

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

    def _close_after(self, seconds: float) -> None:
        self._stop()
        self._timer = self.loop.call_later(seconds, self.transport.close)

    def _stop(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _watch_reading(self) -> None:
        self._stop_reading()
        self._reading = self.loop.call_later(
            self._settings.time_limit,
            self._check_reading,
            self.transport.get_write_buffer_size(),
        )

    def _check_reading(self, before: int) -> None:
        """End a connection whose client reads too little; closing would wait for it."""
        if before - self.transport.get_write_buffer_size() < _LEAST_READ:
            self.transport.abort()
        else:
            self._watch_reading()

    def _stop_reading(self) -> None:
        if self._reading is not None:
            self._reading.cancel()
            self._reading = None


def bounded(settings: Settings) -> Any:
    """Return what uvicorn makes a connection with."""
    return partial(BoundedProtocol, settings)

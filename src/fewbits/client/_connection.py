"""One server over HTTP: requests, and its errors as ours."""

import contextlib
import json
import time
from typing import Any

import numpy as np

from fewbits._extras import missing_extra
from fewbits.client.wire import ARROW, JSON, read_stream, write_stream
from fewbits.errors import OUTCOMES, ArgumentError, ServiceError, one_line

#: Idle connections are not used for longer: a server may be about to close them.
IDLE_SECONDS = 3.0
_ATTEMPTS = 5  # while the server is overloaded
_LONGEST_PAUSE = 5.0


class Connection:
    """Sends requests; those that an overloaded server refuses are sent again."""

    def __init__(self, url: str, token: str | None, timeout: float) -> None:
        try:
            import httpx
        except ImportError:
            raise missing_extra("connecting needs httpx", "serve") from None
        headers = {} if token is None else {"Authorization": f"Bearer {token}"}
        self._errors = httpx.HTTPError, httpx.InvalidURL
        try:
            self._client = httpx.Client(
                base_url=url,
                headers=headers,
                timeout=timeout,
                limits=httpx.Limits(keepalive_expiry=IDLE_SECONDS),
            )
        except (*self._errors, ValueError, TypeError) as error:
            raise ServiceError(f"{url!r} is no address: {error}") from None
        self.url = url
        #: Of the last answer.
        self.snapshot: str | None = None

    def get(self, path: str, **options: Any) -> dict[str, Any]:
        """Return a JSON answer; options stand in the address."""
        answer: dict[str, Any] = self._sent("GET", path, params=options).json()
        return answer

    def post(self, path: str, table: Any = None, **fields: Any) -> dict[str, Any]:
        """Return the JSON answer to a JSON or Arrow request; None is left out."""
        answer: dict[str, Any] = self._posted(path, table, fields, JSON).json()
        return answer

    def table(
        self, path: str, table: Any = None, **fields: Any
    ) -> tuple[Any, dict[str, Any]]:
        """Return the Arrow answer to such a request, and its other fields."""
        result, others = read_stream(self._posted(path, table, fields, ARROW).content)
        return result, json.loads(others)

    def close(self) -> None:
        self._client.close()

    def _posted(
        self, path: str, table: Any, fields: dict[str, Any], accept: str
    ) -> Any:
        fields = {name: value for name, value in fields.items() if value is not None}
        content: Any = json.dumps(fields, allow_nan=False, default=_plain)
        if table is not None:
            content = write_stream(table, content)
        kind = JSON if table is None else ARROW
        headers = {"Content-Type": kind, "Accept": accept}
        return self._sent("POST", path, content=content, headers=headers)

    def _sent(self, method: str, path: str, **options: Any) -> Any:
        for attempt in range(_ATTEMPTS):
            try:
                answer = self._client.request(method, path, **options)
            except self._errors as error:
                raise ServiceError(
                    f"{self.url} does not answer: {one_line(error)}"
                ) from error
            if answer.status_code != 429 or attempt == _ATTEMPTS - 1:
                break
            try:
                pause = float(answer.headers["Retry-After"])
            except (LookupError, ValueError):
                pause = 1.0
            time.sleep(min(pause, _LONGEST_PAUSE))
        if (status := answer.status_code) >= 400:
            code, message = "unknown", f"{self.url} answered with status {status}"
            with contextlib.suppress(ValueError, LookupError, TypeError):
                fault = json.loads(answer.content)["error"]
                code, message = str(fault["code"]), str(fault["message"])
            for outcome in OUTCOMES:
                is_same = (outcome.code, outcome.status) == (code, status)
                if is_same and outcome.is_raised:
                    raise outcome.kind(message)
            raise ServiceError(message, status, code)
        self.snapshot = answer.headers.get("Fewbits-Snapshot")
        return answer


def _plain(value: Any) -> Any:
    """Return a NumPy scalar as a Python one."""
    if isinstance(value, np.generic):
        return value.item()
    raise ArgumentError(f"a server takes plain values, got {type(value).__name__}")

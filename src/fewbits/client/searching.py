"""Searchers: the shards of a collection, wherever they are."""

import json
from typing import Any, Protocol

from fewbits.client._connection import IDLE_SECONDS, error_of
from fewbits.client.wire import ARROW, JSON, read_stream, write_stream
from fewbits.errors import ArgumentError, ServiceError, one_line

__all__ = ["Busy", "HttpSearcher", "Searcher"]

_NOT_US = (401, 403, 421)  # what a shard has against who asks, not against a request


class Busy(ServiceError):
    """A shard is overloaded.

    Parameters
    ----------
    message : str
    retry_after : str
        Seconds until it should be asked again, as its answer says.
    """

    def __init__(self, message: str, retry_after: str) -> None:
        super().__init__(message, 429, "overloaded")
        self.retry_after = retry_after


class Searcher(Protocol):
    """Answers requests of the service, as plain values in and out.

    Attributes
    ----------
    name : str
        What a shard is called where it is missing.
    snapshot : str
        Version of its collection as of its last answer; empty before that.
    """

    name: str
    snapshot: str

    async def ask(
        self,
        path: str,
        body: dict[str, Any] | None = None,
        *,
        table: Any = None,
        arrow: bool = False,
    ) -> Any:
        """Return the answer to a POST of a body, or to a GET without one.

        Parameters
        ----------
        path : str
        body : dict, default=None
        table : pyarrow.Table, default=None
            Goes with the body.
        arrow : bool, default=False
            Return a table and the other fields of the answer.

        Raises
        ------
        ServiceError
            When there is no answer; its status is None.
        FewbitsError
            When the request is refused.
        """

    async def close(self) -> None:
        """Give back what is held."""


class HttpSearcher:
    """A collection that another server has.

    Parameters
    ----------
    url : str
    token : str, default=None
    timeout : float, default=30

    Raises
    ------
    ArgumentError
        When the address does not begin with ``http://`` or ``https://``.
    """

    def __init__(
        self, url: str, token: str | None = None, timeout: float = 30.0
    ) -> None:
        import httpx

        if not url.startswith(("http://", "https://")):
            raise ArgumentError(f"{url!r} has no scheme: write http://{url}")
        self.name, self.snapshot = url, ""
        headers = {} if token is None else {"Authorization": f"Bearer {token}"}
        self._errors = httpx.HTTPError, httpx.InvalidURL
        self._client = httpx.AsyncClient(
            base_url=url,
            headers=headers,
            timeout=timeout,
            limits=httpx.Limits(keepalive_expiry=IDLE_SECONDS),
            trust_env=False,
        )

    async def ask(
        self,
        path: str,
        body: dict[str, Any] | None = None,
        *,
        table: Any = None,
        arrow: bool = False,
    ) -> Any:
        """Return an answer, see `Searcher`."""
        method, options = "GET", {}
        if body is not None:
            method, options = "POST", _content(body, table, arrow=arrow)
        try:
            answer = await self._client.request(method, path, **options)
        except self._errors as error:
            raise ServiceError(f"{self.name}: {one_line(error)}") from None
        if answer.status_code >= 500:
            raise ServiceError(f"{self.name} answered {answer.status_code}")
        if answer.status_code >= 400:
            raise self._refusal(answer)
        self.snapshot = answer.headers.get("Fewbits-Snapshot", "")
        if not arrow:
            return answer.json()
        found, told = read_stream(answer.content)
        return found, json.loads(told)

    def _refusal(self, answer: Any) -> Exception:
        status = answer.status_code
        error = error_of(status, answer.content, self.name)
        if status == 429:
            again = answer.headers.get("Retry-After", "1")
            return Busy(f"{self.name}: {error}", again)
        if status in _NOT_US:
            told = f"{self.name} refuses this server: {error}"
            if status == 401:
                told = (
                    f"{self.name} asks for a token that this server does not have: "
                    "give all the same"
                )
            return ServiceError(told, 502, "shard_refuses")
        return error

    async def close(self) -> None:
        """Close the connections."""
        await self._client.aclose()


def _content(body: dict[str, Any], table: Any, *, arrow: bool) -> dict[str, Any]:
    """Return the content and the headers of a request."""
    told = json.dumps(body)
    content = told.encode() if table is None else write_stream(table, told)
    headers = {"Content-Type": JSON if table is None else ARROW}
    if arrow:
        headers["Accept"] = ARROW
    return {"content": content, "headers": headers}

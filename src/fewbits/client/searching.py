"""Searchers: the shards of a collection, wherever they are."""

import json
from typing import Any, Protocol

from fewbits.client._connection import IDLE_SECONDS, error_of
from fewbits.client.wire import JSON
from fewbits.errors import ServiceError, one_line

__all__ = ["HttpSearcher", "Searcher"]


class Searcher(Protocol):
    """Answers requests of the service, as plain values in and out.

    Attributes
    ----------
    name : str
        What a shard is called where it is missing.
    """

    name: str

    async def ask(self, path: str, body: dict[str, Any] | None = None) -> Any:
        """Return the answer to a POST of a body, or to a GET without one.

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
    """

    def __init__(
        self, url: str, token: str | None = None, timeout: float = 30.0
    ) -> None:
        import httpx

        self.name = url
        headers = {} if token is None else {"Authorization": f"Bearer {token}"}
        self._errors = httpx.HTTPError, httpx.InvalidURL
        self._client = httpx.AsyncClient(
            base_url=url,
            headers=headers,
            timeout=timeout,
            limits=httpx.Limits(keepalive_expiry=IDLE_SECONDS),
            trust_env=False,
        )

    async def ask(self, path: str, body: dict[str, Any] | None = None) -> Any:
        """Return an answer, see `Searcher`."""
        try:
            if body is None:
                answer = await self._client.get(path)
            else:
                content = json.dumps(body).encode()
                headers = {"Content-Type": JSON}
                answer = await self._client.post(path, content=content, headers=headers)
        except self._errors as error:
            raise ServiceError(f"{self.name}: {one_line(error)}") from None
        if answer.status_code >= 500:
            raise ServiceError(f"{self.name} answered {answer.status_code}")
        if answer.status_code >= 400:
            raise error_of(answer.status_code, answer.content, self.name)
        return answer.json()

    async def close(self) -> None:
        """Close the connections."""
        await self._client.aclose()

"""Base of a remote bundle: its connection, and its facts."""

from collections.abc import Iterator
from typing import Any

from fewbits.client._connection import Connection
from fewbits.client._payload import item_column, parts, plain_ids
from fewbits.errors import ArgumentError


class RemoteBase:
    """A connection, and what is known about the bundle behind it."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._fresh_facts()

    @property
    def facts(self) -> dict[str, Any]:
        """The answer to ``GET /v1/facts``, of the newest snapshot."""
        if self._facts["snapshot"] != self._connection.snapshot:
            self._fresh_facts()
        return self._facts

    @property
    def _has_text_ids(self) -> bool:
        return bool(self.facts["id_type"] == "string")

    def _fresh_facts(self) -> dict[str, Any]:
        self._facts: dict[str, Any] = self._connection.get("/v1/facts")
        return self._facts

    def _answers(
        self, path: str, items: Any, *, hits: int, **fields: Any
    ) -> Iterator[tuple[Any, dict[str, Any]]]:
        """Yield tables and other fields of the answers to some items, part by part."""
        import pyarrow as pa

        kind, column = item_column(items, self.facts)
        limits = self.facts["limits"]
        per_query = max(1, min(hits, self.facts["n_items"]))
        most = min(limits["max_queries"], max(1, limits["max_hits"] // per_query))
        for part in parts(column, most, limits["max_body_bytes"]):
            yield self._connection.table(path, pa.table({kind: part}), **fields)


def chosen(filter: Any, allowed: Any) -> dict[str, Any]:
    """Return which items may be found, as requests say it."""
    return {
        "filter": checked_filter(filter),
        "allowed": None if allowed is None else allowed_ids(allowed),
    }


def checked_filter(filter: Any) -> str | None:
    """Refuse conditions that only this machine understands."""
    if filter is None or isinstance(filter, str):
        return filter
    raise ArgumentError('a server takes conditions as texts, such as "year > 2020"')


def allowed_ids(allowed: Any) -> list[Any]:
    """Return the ids that may be found."""
    ids = plain_ids(allowed)
    if ids and isinstance(ids[0], bool):
        raise ArgumentError("a server takes ids that are allowed, not a mask")
    return ids

"""Changes of the collection of a server."""

from typing import Any, Self

from fewbits.client._base import RemoteBase, checked_filter
from fewbits.client._payload import parts, plain_ids, rows_table
from fewbits.errors import ArgumentError

_OPTIONS = ("vectors", "texts", "id", "keep", "skip_blank", "ids", "columns")


class Changing(RemoteBase):
    """Changes the collection; the server must be writable."""

    def add(self, items: Any, *, timeout: float | None = None, **options: Any) -> Self:
        """Add items, see `Bundle.add`.

        More rows than fit in one request are added in several steps.

        Returns
        -------
        Remote
            This one, which then has the rows.
        """
        return self._sent_rows("/v1/add", items, timeout, options)

    def upsert(
        self, items: Any, *, timeout: float | None = None, **options: Any
    ) -> Self:
        """Add items, which replace those of the same id, see `Bundle.upsert`.

        Returns
        -------
        Remote
            This one.
        """
        return self._sent_rows("/v1/upsert", items, timeout, options)

    def delete(
        self, ids: Any = None, *, filter: Any = None, timeout: float | None = None
    ) -> Self:
        """Delete some items, see `Bundle.delete`.

        Returns
        -------
        Remote
            This one.
        """
        return self.delete_and_count(ids, filter=filter, timeout=timeout)[0]

    def delete_and_count(
        self,
        ids: Any = None,
        *,
        filter: Any = None,
        timeout: float | None = None,
        missing_ok: bool = False,
    ) -> tuple[Self, int]:
        """Delete some items and count them, see `Bundle.delete_and_count`.

        Returns
        -------
        Remote
            This one.
        int
        """
        if ids is None and filter is None:
            raise ArgumentError("delete needs ids or a filter")
        answer = self._connection.post(
            "/v1/delete",
            ids=None if ids is None else plain_ids(ids),
            filter=checked_filter(filter),
            timeout=timeout,
            missing_ok=missing_ok or None,
        )
        return self._after(answer), answer["n_deleted"]

    def compact(self, *, timeout: float | None = None) -> Self:
        """Make the folder as small as it can be, see `Bundle.compact`.

        Files that the server still reads go with a later change.

        Returns
        -------
        Remote
            This one.
        """
        return self._after(self._connection.post("/v1/compact", timeout=timeout))

    def _sent_rows(
        self, path: str, items: Any, timeout: float | None, options: dict[str, Any]
    ) -> Self:
        if unknown := sorted({*options} - {*_OPTIONS}):
            raise TypeError(f"new rows take no option {unknown[0]!r}")
        if isinstance(options.get("keep"), tuple):
            options["keep"] = list(options["keep"])
        table, fields = rows_table(items, self.facts, dict(options))
        limit = self.facts["limits"]["max_body_bytes"]
        for part in parts(table, len(table) or 1, limit):
            self._after(
                self._connection.post_table(path, part, timeout=timeout, **fields)
            )
        return self

    def _after(self, answer: dict[str, Any]) -> Self:
        """Return this one, which asks for facts anew: those it has are older."""
        self._connection.snapshot = answer["snapshot"]
        return self

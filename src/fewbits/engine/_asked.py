"""Queries of a request: raw items, items of the collection, or codes."""

from typing import Any, Protocol

from fewbits._typing import CodeArray
from fewbits.bundle import Bundle
from fewbits.engine._labels import item_labels
from fewbits.errors import ArgumentError


class Asking(Protocol):
    """A request that says by one of three fields what it asks about."""

    @property
    def queries(self) -> Any: ...
    @property
    def ids(self) -> Any: ...
    @property
    def codes(self) -> Any: ...


def check_one(request: Asking) -> None:
    """Refuse a request about several things, or about none."""
    given = [x is not None for x in (request.queries, request.ids, request.codes)]
    if sum(given) != 1:
        raise ArgumentError("give exactly one of queries, ids and codes")


def asked_codes(bundle: Bundle, request: Asking) -> CodeArray | None:
    """Return the codes that are asked about; None where raw items are."""
    if request.queries is not None:
        return None
    if request.ids is None:
        found: CodeArray = request.codes
        return found
    items = bundle.collection
    return items.codes_at(items.rows(request.ids))


def asked_labels(bundle: Bundle, request: Asking, codes: Any, n: int) -> list[str]:
    """Return what each query is called in the answer."""
    if codes is None:
        return item_labels(bundle, request.queries, n, "query")
    if request.ids is not None:
        return [str(each) for each in request.ids]
    return [bytes(code).hex() for code in codes]

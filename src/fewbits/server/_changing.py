"""Changes of the collection, which go live when they are answered."""

from collections.abc import Callable
from typing import Any

from fewbits._arrow import as_array
from fewbits.bundle import Bundle
from fewbits.errors import ArgumentError
from fewbits.server._models import DeleteBody, RowsBody
from fewbits.server._queries import as_matrix
from fewbits.server._served import Served

#: Reserved columns that hold the raw items themselves.
_ITEMS = {"_vector": "vectors", "_text": "texts"}
_OPTIONS = ("id", "vectors", "texts", "skip_blank")


def added(served: Served, body: RowsBody) -> dict[str, Any]:
    """Add rows."""
    items, options = _rows(served, body)
    return _changed(served, lambda bundle: bundle.add(items, **options))


def upserted(served: Served, body: RowsBody) -> dict[str, Any]:
    """Add or replace rows."""
    items, options = _rows(served, body)
    return _changed(served, lambda bundle: bundle.upsert(items, **options))


def deleted(served: Served, body: DeleteBody) -> dict[str, Any]:
    """Delete rows."""
    if body.ids is None and body.filter is None:
        raise ArgumentError("give ids, a filter, or both")
    timeout = _timeout(served)
    return _changed(
        served,
        lambda bundle: bundle.delete(body.ids, filter=body.filter, timeout=timeout),
    )


def _timeout(served: Served) -> float:
    """Return how long to wait while another process writes."""
    return served.settings.time_limit / 2


def _changed(served: Served, change: Callable[[Bundle], Bundle]) -> dict[str, Any]:
    snapshot = served.service.live.change(change)
    return {
        "n_items": len(snapshot.bundle.collection),
        "snapshot": snapshot.version,
    }


def _rows(served: Served, body: RowsBody) -> tuple[Any, dict[str, Any]]:
    """Return new rows, and options, as `Bundle.add` takes them."""
    bundle, waiting = served.bundle, {"timeout": _timeout(served)}
    if bundle.item_kind == "images":
        raise ArgumentError("images are added where they are: 'fewbits add'")
    table = _table(body)
    given = {name: getattr(body, name) for name in _OPTIONS}
    options = {name: value for name, value in given.items() if value}
    raw = [name for name in _ITEMS if name in table.column_names]
    if not raw:
        return table, {**options, **waiting}
    if len(raw) > 1 or options:
        raise ArgumentError(f"rows with {raw[0]} take no other column of items")
    items, parts = _parts(bundle, table, raw[0])
    return items, {**parts, **waiting}


def _table(body: RowsBody) -> Any:
    import pyarrow as pa

    if (body.rows is None) == (body.table is None):
        raise ArgumentError("give rows, as JSON or as an Arrow table")
    if body.rows is None:
        return body.table
    if not body.rows:
        raise ArgumentError("give one row or more")
    names = body.rows[0].keys()
    for i, row in enumerate(body.rows):
        if row.keys() != names:
            raise ArgumentError(f"row {i} has other columns than row 0")
    try:
        return pa.Table.from_pylist(body.rows)
    except (pa.ArrowException, OverflowError, ValueError) as error:
        raise ArgumentError(
            f"values of one column are of several types: {error}"
        ) from None


def _parts(bundle: Bundle, table: Any, name: str) -> tuple[Any, dict[str, Any]]:
    """Return raw items, ids and columns that are given side by side."""
    if name == "_text":
        items = table[name].to_pylist()
    else:
        items = as_array(table[name], "vectors")
        items = as_matrix(items, packed=bundle.item_kind == "codes")
    own = {name, "_id"}
    columns = {x: table[x] for x in table.column_names if x not in own}
    ids = table["_id"] if "_id" in table.column_names else None
    return items, {"ids": ids, "columns": columns}

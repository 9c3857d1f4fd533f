"""Changes of the collection, which go live when they are answered."""

from collections.abc import Callable
from typing import Any

from fewbits._arrow import as_array, is_list, known_names
from fewbits.bundle import Bundle
from fewbits.errors import ArgumentError
from fewbits.server._models import CompactBody, DeleteBody, RowsBody, TimeoutBody
from fewbits.server._queries import as_matrix
from fewbits.server._served import Served

#: Reserved columns that hold the raw items themselves.
_ITEMS = {"_vector": "vectors", "_text": "texts"}
_MOST_COLUMNS = 10_000
_OPTIONS = ("id", "vectors", "texts", "keep", "skip_blank")


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
    timeout, n_deleted = _timeout(served, body), 0

    def without(bundle: Bundle) -> Bundle:
        nonlocal n_deleted
        changed, n_deleted = bundle.delete_and_count(
            body.ids, filter=body.filter, timeout=timeout, missing_ok=body.missing_ok
        )
        return changed

    return {**_changed(served, without), "n_deleted": n_deleted}


def compacted(served: Served, body: CompactBody) -> dict[str, Any]:
    """Rewrite the files without deleted rows."""
    timeout = _timeout(served, body)
    return _changed(served, lambda bundle: bundle.compact(timeout=timeout))


def _timeout(served: Served, body: RowsBody | TimeoutBody) -> float:
    """Return how long to wait while another process writes."""
    longest = served.settings.time_limit / 2
    return longest if body.timeout is None else min(body.timeout, longest)


def _changed(served: Served, change: Callable[[Bundle], Bundle]) -> dict[str, Any]:
    snapshot = served.service.live.change(change)
    return {
        "n_items": len(snapshot.bundle.collection),
        "snapshot": snapshot.version,
    }


def _rows(served: Served, body: RowsBody) -> tuple[Any, dict[str, Any]]:
    """Return new rows, and options, as `Bundle.add` takes them."""
    bundle, waiting = served.bundle, {"timeout": _timeout(served, body)}
    if bundle.item_kind == "images":
        raise ArgumentError("images are added where they are: 'fewbits add'")
    table = _table(body)
    given = {name: getattr(body, name) for name in _OPTIONS}
    options = {name: value for name, value in given.items() if value}
    raw = [name for name in _ITEMS if name in table.column_names]
    _check_known(bundle, table, body)
    if not raw:
        return table, {**options, **waiting}
    if len(raw) > 1 or options:
        raise ArgumentError(f"rows with {raw[0]} take no other column of items")
    items, parts = _parts(bundle, table, raw[0])
    return items, {**parts, **waiting}


def _check_known(bundle: Bundle, table: Any, body: RowsBody) -> None:
    """Refuse unknown and missing columns.

    Clients do not see the warnings of `Bundle.add`.
    """
    known, named = bundle.metadata, body.vectors or body.texts or ()
    taken: set[str | None] = {
        "_id",
        *_ITEMS,
        *bundle.collection.columns,
        *(known.feature_names or ()),
    }
    taken |= {named} if isinstance(named, str) else {*named}
    taken |= {body.id, known.id_column, bundle.raw_column}
    lists = [each.name for each in table.schema if is_list(each.type)]
    if not named and bundle.item_kind == "vectors" and len(lists) == 1:
        taken |= {*lists}
    brought = table.column_names if body.keep is None else body.keep
    if more := [name for name in brought if name not in taken]:
        raise ArgumentError(
            f"the collection has no column {more[0]!r}; it has "
            f"{known_names(bundle.collection.columns) or 'none'}"
        )
    given = {*brought, bundle.raw_column}
    if lacking := [name for name in bundle.collection.columns if name not in given]:
        raise ArgumentError(
            f"the new rows have no column {lacking[0]!r}, which the collection has"
        )


def _table(body: RowsBody) -> Any:
    import pyarrow as pa

    if (body.rows is None) == (body.table is None):
        raise ArgumentError("give rows, as JSON or as an Arrow table")
    if body.rows is None:
        _check_width(body.table.num_columns)
        return body.table
    if not body.rows:
        raise ArgumentError("give one row or more")
    names = body.rows[0].keys()
    _check_width(len(names))
    for i, row in enumerate(body.rows):
        if row.keys() != names:
            raise ArgumentError(f"row {i} has other columns than row 0")
    try:
        return pa.Table.from_pylist(body.rows)
    except (pa.ArrowException, OverflowError, ValueError) as error:
        raise ArgumentError(
            f"values of one column are of several types: {error}"
        ) from None


def _check_width(n_columns: int) -> None:
    """Refuse rows of which Arrow would make a table for minutes."""
    if n_columns > _MOST_COLUMNS:
        raise ArgumentError(
            f"rows have at most {_MOST_COLUMNS:,} columns, got {n_columns:,}: give "
            "long vectors as lists"
        )


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

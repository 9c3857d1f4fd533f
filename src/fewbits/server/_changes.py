"""Changes of the collection, which go live when they are answered."""

from collections.abc import Callable
from typing import Any

from fewbits._arrow import as_array, as_frame, is_list, known_names
from fewbits.collection import Collection
from fewbits.errors import ArgumentError
from fewbits.server._bodies import Body
from fewbits.server._queries import as_codes, as_matrix
from fewbits.server._service import Served

#: Reserved columns that hold the items themselves.
_ITEMS = ("_vector", "_text", "_code")
_MOST_COLUMNS = 10_000


def added(served: Served, body: Any) -> dict[str, Any]:
    """Add rows."""
    items, options = _rows(served, body)
    return _changed(served, lambda collection: collection.add(items, **options))


def upserted(served: Served, body: Any) -> dict[str, Any]:
    """Add or replace rows."""
    items, options = _rows(served, body)
    return _changed(served, lambda collection: collection.upsert(items, **options))


def updated(served: Served, body: Any) -> dict[str, Any]:
    """Change columns of rows."""
    table, waiting = _table(body), _timeout(served, body)

    def change(collection: Collection) -> int:
        return collection.update(
            table, id=body.id, columns=body.columns, timeout=waiting
        )

    return _changed(served, change)


def deleted(served: Served, body: Any) -> dict[str, Any]:
    """Delete rows."""

    def change(collection: Collection) -> int:
        return collection.delete(
            body.ids,
            filter=body.filter,
            missing_ok=body.missing_ok,
            timeout=_timeout(served, body),
        )

    return _changed(served, change)


def compacted(served: Served, body: Any) -> dict[str, Any]:
    """Rewrite the files without deleted rows."""

    def change(collection: Collection) -> int:
        collection.compact(timeout=_timeout(served, body))
        return 0

    return _changed(served, change)


def _timeout(served: Served, body: Any) -> float:
    """Return how long to wait while another process writes."""
    longest = served.settings.time_limit / 2
    return longest if body.timeout is None else min(body.timeout, longest)


def _changed(served: Served, change: Callable[[Collection], int]) -> dict[str, Any]:
    snapshot, n_changed = served.service.live.change(change)
    return {
        "n_changed": n_changed,
        "n_items": len(snapshot.collection),
        "snapshot": snapshot.version,
    }


def _rows(served: Served, body: Any) -> tuple[Any, dict[str, Any]]:
    """Return new rows, and options, as `Collection.add` takes them."""
    collection = served.collection
    waiting: dict[str, Any] = {"timeout": _timeout(served, body)}
    if collection.kind == "images":
        raise ArgumentError("images are added where they are: 'fewbits add'")
    table = _table(body)
    names = ("column", "codes", "id", "label", "columns", "skip_blank")
    options = {name: vars(body)[name] for name in names if vars(body)[name]}
    own = [name for name in _ITEMS if name in table.column_names]
    _check_columns(collection, table, body)
    if not own:
        if "_id" in table.column_names:
            options.setdefault("id", "_id")
        return table, {**options, **waiting}
    if len(own) > 1 or options:
        raise ArgumentError(f"rows with {own[0]} take no other column of items")
    if own[0] == "_text":
        items = table["_text"].to_pylist()
    elif own[0] == "_code":
        items = None
        n_bits = collection.encoder.n_bits
        waiting["codes"] = as_codes(table["_code"].to_pylist(), n_bits)
    else:
        vectors = as_array(table["_vector"], "vectors")
        items = as_matrix(vectors, packed=collection.kind == "codes")
    beside = [name for name in table.column_names if name not in (own[0], "_id")]
    columns = {name: table[name] for name in beside}
    ids = table["_id"] if "_id" in table.column_names else None
    return items, {"ids": ids, "columns": columns, **waiting}


def _check_columns(collection: Collection, table: Any, body: Any) -> None:
    """Refuse unknown and missing columns.

    Clients do not see the warnings of `Collection.add`.
    """
    facts, named = collection.facts, body.column or ()
    known: set[str | None] = {"_id", *_ITEMS, *collection.columns}
    known |= {*(facts.feature_names or ()), body.id, facts.id_column, facts.item_column}
    known |= {named} if isinstance(named, str) else {*named}
    known |= {body.codes, body.label}
    lists = [field.name for field in table.schema if is_list(field.type)]
    if not named and collection.kind == "vectors" and len(lists) == 1:
        known |= {*lists}
    brought = table.column_names if body.columns is None else body.columns
    if more := [name for name in brought if name not in known]:
        raise ArgumentError(
            f"the collection has no column {more[0]!r}; it has "
            f"{known_names(collection.columns) or 'none'}"
        )
    there = {*brought, collection.item_column}
    if lacking := [name for name in collection.columns if name not in there]:
        raise ArgumentError(
            f"the new rows have no column {lacking[0]!r}, which the collection has"
        )


def _table(body: Body) -> Any:
    rows: list[dict[str, Any]] | None = vars(body)["rows"]
    if (rows is None) == (body.table is None):
        raise ArgumentError("give rows, as JSON or as an Arrow table")
    if rows is None:
        _check_width(body.table.num_columns)
        return body.table
    if not rows:
        raise ArgumentError("give one row or more")
    names = rows[0].keys()
    _check_width(len(names))
    for i, row in enumerate(rows):
        if row.keys() != names:
            raise ArgumentError(f"row {i} has other columns than row 0")
    return as_frame(rows)


def _check_width(n_columns: int) -> None:
    """Refuse rows of which Arrow would make a table for minutes."""
    if n_columns > _MOST_COLUMNS:
        raise ArgumentError(
            f"rows have at most {_MOST_COLUMNS:,} columns, got {n_columns:,}: give "
            "long vectors as lists"
        )

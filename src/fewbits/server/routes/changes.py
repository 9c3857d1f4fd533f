"""Changes of the collection, if it is writable; they are live when answered."""

import base64
from collections.abc import Callable, Sized
from typing import Any

from fastapi import APIRouter, Depends, Request

from fewbits._arrow import as_array, as_frame
from fewbits._warnings import collected_warnings
from fewbits.client.wire import NO_IMAGES
from fewbits.collection import Collection
from fewbits.errors import ArgumentError
from fewbits.server import _bodies as bodies
from fewbits.server._bodies import Body
from fewbits.server._queries import as_codes, as_matrix
from fewbits.server._reading import request_stream
from fewbits.server._replies import Json
from fewbits.server._routing import post_route
from fewbits.server._service import Current, View
from fewbits.store import CODE, ID, VECTOR


async def _writable(view: Current) -> None:
    view.check_writable()


#: A read-only service refuses before it looks at the body.
router = APIRouter(dependencies=[Depends(_writable)])
_MOST_COLUMNS = 10_000
_MOST_CELLS = 1 << 22  # of rows that have other columns than each other


@post_route(router, "/v1/add", bodies.RowsBody, "Change", arrow=True)
async def add(body: Any, view: View, request: Request) -> Json:
    """Add rows whose ids are new."""
    return await _change(view, lambda col: col.add(**_rows(view, body)))


@post_route(router, "/v1/upsert", bodies.RowsBody, "Change", arrow=True)
async def upsert(body: Any, view: View, request: Request) -> Json:
    """Add rows, which replace those of the same ids."""
    return await _change(view, lambda col: col.upsert(**_rows(view, body)))


@post_route(router, "/v1/update", bodies.UpdateBody, "Change", arrow=True)
async def update(body: Any, view: View, request: Request) -> Json:
    """Change columns of rows by their ids; codes and order stay."""
    return await _change(view, lambda col: col.update(**_columns(view, body)))


@post_route(router, "/v1/delete", bodies.DeleteBody, "Change")
async def delete(body: Any, view: View, request: Request) -> Json:
    """Delete rows by their ids, by a condition, or by both."""
    return await _change(view, lambda col: col.delete(**_options(view, body)))


@post_route(router, "/v1/drop-columns", bodies.DropColumnsBody, "Change")
async def drop_columns(body: Any, view: View, request: Request) -> Json:
    """Drop columns; codes and order stay."""
    return await _change(view, lambda col: col.drop_columns(**_options(view, body)))


@post_route(router, "/v1/compact", bodies.CompactBody, "Change")
async def compact(body: Any, view: View, request: Request) -> Json:
    """Rewrite without deleted rows and superseded values, however long it takes."""
    return await _change(view, lambda col: col.compact(**_options(view, body)))


@post_route(router, "/v1/tag", bodies.TagBody, "Change")
async def tag(body: Any, view: View, request: Request) -> Json:
    """Name a version, which then stays, see `/v1/versions`."""

    def change(col: Collection) -> None:
        col.tag(**body.options())

    return await _change(view, change)


@post_route(router, "/v1/untag", bodies.UntagBody, "Change")
async def untag(body: Any, view: View, request: Request) -> Json:
    """Take a name from its version."""
    return await _change(view, lambda col: col.untag(**body.options()))


@post_route(router, "/v1/restore", bodies.RestoreBody, "Change")
async def restore(body: Any, view: View, request: Request) -> Json:
    """Return to an earlier version: its rows and columns become the newest."""

    def change(col: Collection) -> None:
        col.restore(**_options(view, body))

    return await _change(view, change)


@post_route(router, "/v1/changes", bodies.ChangesBody, "Change")
async def changes(body: Any, view: View, request: Request) -> Json:
    """Make several changes, each of which sees those before it, one commit."""

    def apply(col: Collection) -> int:
        pairs, n_changed = [], 0
        for change in body.changes:
            options = change.options("table")
            filled = [(name, x) for name, x in options.items() if x is not None]
            if len(filled) != 1:
                raise ArgumentError(
                    f"a change has one of the fields {', '.join(options)}"
                )
            ((name, inner),) = filled
            if change.table is not None:
                try:
                    data = base64.b64decode(change.table, validate=True)
                except ValueError:
                    raise ArgumentError("table is no base64") from None
                inner._table, _ = request_stream(data)
            inner.check_patterns()
            pairs.append((name, inner))
        with col.transaction(timeout=_options(view, body)["timeout"]):
            for name, inner in pairs:
                if name == "add":
                    n_changed += col.add(**_rows(view, inner))
                elif name == "upsert":
                    n_changed += col.upsert(**_rows(view, inner))
                elif name == "update":
                    n_changed += col.update(**_columns(view, inner))
                elif name == "delete":
                    n_changed += col.delete(**_options(view, inner))
                else:
                    col.drop_columns(**_options(view, inner))
        return n_changed

    return await _change(view, apply)


async def _change(view: View, change: Callable[[Collection], int | None]) -> Json:
    """Change the collection, and serve what it is then."""

    def answer() -> Json:
        with collected_warnings() as warnings:
            newest, n_changed = view.service.change(change)
        answer = {
            "n_changed": n_changed or 0,
            "n_items": len(newest.collection),
            "snapshot": newest.version,
        }
        return Json({**answer, "warnings": warnings} if warnings else answer)

    return await view.run(answer, lane="changes")


def _options(view: View, body: Body) -> dict[str, Any]:
    """Return the options of a change, which waits for other processes in bounds."""
    options, longest = body.options("rows"), view.settings.time_limit / 2
    timeout = options["timeout"]
    options["timeout"] = longest if timeout is None else min(timeout, longest)
    return options


def _columns(view: View, body: Body) -> dict[str, Any]:
    """Return the arguments of `Collection.update`, of rows that may have other keys."""
    rows: list[dict[str, Any]] | None = vars(body)["rows"]
    names = {name for row in rows or () for name in row}
    if body._table is None and rows and all(rows):
        if len(names) * len(rows) > _MOST_CELLS and any(
            len(row) < len(names) for row in rows
        ):
            raise ArgumentError(
                f"{len(rows):,} rows of {len(names):,} columns that differ are too "
                "many: send them in parts"
            )
        _check_width(names)
        return {"data": rows, **_options(view, body)}
    return {"data": _table(body), **_options(view, body)}


def _rows(view: View, body: Body) -> dict[str, Any]:
    """Return new rows, and options, as the arguments of `Collection.add`.

    A table brings its columns by name. Its items may also come as VECTOR, which are
    texts where the collection takes these, or as codes, CODE; its ids as ID.
    """
    collection = view.collection
    if collection.kind == "images":
        raise ArgumentError(NO_IMAGES)
    table, options = _table(body), _options(view, body)
    timeout = options.pop("timeout")
    options = {name: value for name, value in options.items() if value}
    reserved = [name for name in (VECTOR, CODE) if name in table.column_names]
    if not reserved:
        if ID in table.column_names:
            options.setdefault("id", ID)
        return {"data": table, "timeout": timeout, **options}
    if len(reserved) > 1 or options:
        raise ArgumentError(f"rows with {reserved[0]} take no other column of items")
    beside = [x for x in table.column_names if x not in (ID, *reserved)]
    arguments = {
        "ids": table[ID] if ID in table.column_names else None,
        "columns": {name: table[name] for name in beside},
        "timeout": timeout,
    }
    items = table[reserved[0]]
    if reserved == [CODE]:
        codes = as_codes(items.to_pylist(), collection.encoder.n_bits)
        return {"codes": codes, **arguments}
    if collection.kind == "texts":
        return {"data": items.to_pylist(), **arguments}
    vectors = as_array(items, "vectors")
    return {"data": as_matrix(vectors, packed=collection.kind == "codes"), **arguments}


def _table(body: Body) -> Any:
    rows: list[dict[str, Any]] | None = vars(body)["rows"]
    if (rows is None) == (body._table is None):
        raise ArgumentError("give rows, as JSON or as an Arrow table")
    _check_width(body._table.column_names if rows is None else rows[0] if rows else ())
    if rows is None:
        return body._table
    if not rows:
        raise ArgumentError("give one row or more")
    for i, row in enumerate(rows):
        if row.keys() != rows[0].keys():
            raise ArgumentError(f"row {i} has other columns than row 0")
    return as_frame(rows)


def _check_width(names: Sized) -> None:
    if len(names) > _MOST_COLUMNS:  # of which Arrow would make a table for minutes
        raise ArgumentError(
            f"rows have at most {_MOST_COLUMNS:,} columns, got {len(names):,}: give "
            "long vectors as lists"
        )

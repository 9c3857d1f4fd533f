"""Changes of the collection, if it is writable; they are live when answered."""

from collections.abc import Callable
from typing import Annotated, Any

from fastapi import APIRouter, Depends

from fewbits._arrow import as_array, as_frame
from fewbits._warnings import collected_warnings
from fewbits.collection import Collection
from fewbits.errors import ArgumentError
from fewbits.server._bodies import (
    Body,
    ChangeBody,
    ChangesBody,
    CompactBody,
    DeleteBody,
    RowsBody,
    TagBody,
    UntagBody,
    UpdateBody,
    body_of,
    reads,
)
from fewbits.server._queries import as_codes, as_matrix
from fewbits.server._replies import Json, answers
from fewbits.server._service import Current, Served
from fewbits.store import CODE, ID, VECTOR


async def _writable(served: Current) -> None:
    served.check_writable()


#: A read-only service refuses before it looks at the body.
router = APIRouter(dependencies=[Depends(_writable)])
_ROWS = reads(RowsBody, arrow=True)
Rows = Annotated[Any, Depends(body_of(RowsBody, arrow=True))]
_MOST_COLUMNS = 10_000


@router.post("/v1/add", openapi_extra=_ROWS, responses=answers("Changed"))
async def add(rows: Rows, served: Current) -> Json:
    """Add rows whose ids are new."""
    return await _changed(served, Collection.add, lambda: _new_rows(served, rows))


@router.post("/v1/upsert", openapi_extra=_ROWS, responses=answers("Changed"))
async def upsert(rows: Rows, served: Current) -> Json:
    """Add rows, which replace those of the same ids."""
    return await _changed(served, Collection.upsert, lambda: _new_rows(served, rows))


@router.post(
    "/v1/update",
    openapi_extra=reads(UpdateBody, arrow=True),
    responses=answers("Changed"),
)
async def update(
    body: Annotated[Any, Depends(body_of(UpdateBody, arrow=True))], served: Current
) -> Json:
    """Change columns of rows by their ids; codes and order stay."""

    def arguments() -> dict[str, Any]:
        return {"data": _table(body), **_options(served, body)}

    return await _changed(served, Collection.update, arguments)


@router.post(
    "/v1/delete", openapi_extra=reads(DeleteBody), responses=answers("Changed")
)
async def delete(
    body: Annotated[Any, Depends(body_of(DeleteBody))], served: Current
) -> Json:
    """Delete rows by their ids, by a condition, or by both."""
    return await _changed(served, Collection.delete, lambda: _options(served, body))


@router.post(
    "/v1/compact", openapi_extra=reads(CompactBody), responses=answers("Changed")
)
async def compact(
    body: Annotated[Any, Depends(body_of(CompactBody))], served: Current
) -> Json:
    """Rewrite the collection without deleted rows, however long it takes."""
    return await _changed(served, Collection.compact, lambda: _options(served, body))


@router.post(
    "/v1/changes", openapi_extra=reads(ChangesBody), responses=answers("Changed")
)
async def changes(
    body: Annotated[Any, Depends(body_of(ChangesBody))], served: Current
) -> Json:
    """Make several changes, each of which sees those before it, one commit."""

    def arguments() -> dict[str, Any]:
        made = []
        for name, change in map(ChangeBody.one, body.changes):
            if name in ("add", "upsert"):
                options = _new_rows(served, change)
            else:
                options = _options(served, change)
            if name == "update":
                options["data"] = _table(change)
            made.append((name, options))
        return {"changes": made, "timeout": _options(served, body)["timeout"]}

    return await _changed(served, _all_changed, arguments)


def _all_changed(collection: Collection, changes: Any, timeout: float) -> int:
    with collection.transaction(timeout=timeout):
        made = [getattr(collection, name)(**options) for name, options in changes]
    return sum(made)


@router.post("/v1/tag", openapi_extra=reads(TagBody), responses=answers("Changed"))
async def tag(body: Annotated[Any, Depends(body_of(TagBody))], served: Current) -> Json:
    """Name a version, which then stays, see `/v1/versions`."""
    return await _changed(served, _tagged, lambda: {"tag": body.options()})


@router.post("/v1/untag", openapi_extra=reads(UntagBody), responses=answers("Changed"))
async def untag(
    body: Annotated[Any, Depends(body_of(UntagBody))], served: Current
) -> Json:
    """Take a name from its version."""
    return await _changed(served, Collection.untag, body.options)


def _tagged(collection: Collection, tag: dict[str, Any]) -> None:
    collection.tag(**tag)


async def _changed(
    served: Served,
    method: Callable[..., int | None],
    arguments: Callable[[], dict[str, Any]],
) -> Json:
    """Call a method of the collection, and serve what it is then."""

    def changed() -> Json:
        options = arguments()
        with collected_warnings() as warnings:
            snapshot, n_changed = served.service.live.change(
                lambda collection: method(collection, **options)
            )
        answer = {
            "n_changed": n_changed or 0,
            "n_items": len(snapshot.collection),
            "snapshot": snapshot.version,
        }
        return Json({**answer, "warnings": warnings} if warnings else answer)

    return await served.run_change(changed)


def _options(served: Served, body: Body) -> dict[str, Any]:
    """Return the options of a change, which waits for other processes in bounds."""
    options, longest = body.options("rows"), served.settings.time_limit / 2
    timeout = options["timeout"]
    options["timeout"] = longest if timeout is None else min(timeout, longest)
    return options


def _new_rows(served: Served, body: Any) -> dict[str, Any]:
    """Return new rows, and options, as the arguments of `Collection.add`.

    A table brings its columns by name. Its items may also come as VECTOR, which are
    texts where the collection takes these, or as codes, CODE; its ids as ID.
    """
    collection = served.collection
    if collection.kind == "images":
        raise ArgumentError("images are added where they are: 'fewbits add'")
    table, options = _table(body), _options(served, body)
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
        n_bits = collection.encoder.n_bits
        return {"codes": as_codes(items.to_pylist(), n_bits), **arguments}
    if collection.kind == "texts":
        return {"data": items.to_pylist(), **arguments}
    vectors = as_array(items, "vectors")
    return {"data": as_matrix(vectors, packed=collection.kind == "codes"), **arguments}


def _table(body: Body) -> Any:
    rows: list[dict[str, Any]] | None = vars(body)["rows"]
    if (rows is None) == (body._table is None):
        raise ArgumentError("give rows, as JSON or as an Arrow table")
    names = body._table.column_names if rows is None else [*rows[0]] if rows else []
    if len(names) > _MOST_COLUMNS:  # of which Arrow would make a table for minutes
        raise ArgumentError(
            f"rows have at most {_MOST_COLUMNS:,} columns, got {len(names):,}: give "
            "long vectors as lists"
        )
    if rows is None:
        return body._table
    if not rows:
        raise ArgumentError("give one row or more")
    for i, row in enumerate(rows):
        if row.keys() != rows[0].keys():
            raise ArgumentError(f"row {i} has other columns than row 0")
    return as_frame(rows)

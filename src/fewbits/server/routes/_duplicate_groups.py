"""Groups of near duplicates: counted, shown, or all of them."""

from collections.abc import AsyncIterator, Iterator
from typing import Any

import numpy as np
from fastapi import APIRouter, Request, Response
from fastapi.responses import StreamingResponse

from fewbits.client.wire import ARROW
from fewbits.collection import DuplicateGroups
from fewbits.errors import ArgumentError
from fewbits.server._bodies import DuplicateGroupsBody
from fewbits.server._replies import CSV, Json, accepts, arrow_reply, csv_of
from fewbits.server._routing import post_route
from fewbits.server._service import View
from fewbits.server.explore.duplicate_groups import duplicate_list, largest_groups
from fewbits.store import ID

router = APIRouter()

_SHOWN = 100  # items of a group, in JSON
#: Pairs of which groups are made: of different codes, about a minute's work; and of
#: all that vectors confirm.
_MOST_PAIRS, _MOST_CONFIRMED = 1_000_000_000, 10_000_000


@post_route(
    router, "/v1/duplicate-groups", DuplicateGroupsBody, "DuplicateGroups", CSV, ARROW
)
async def duplicate_groups(body: Any, view: View, request: Request) -> Response:
    """Count groups of near duplicates, and show the largest; or list all, as a table.

    CSV says which items to keep; Arrow has the number, the position and the id of each
    item that is in a group.
    """
    collection = view.collection

    def groups() -> DuplicateGroups:
        confirmed = body.max_vector_distance is not None
        most = _MOST_CONFIRMED if confirmed else _MOST_PAIRS
        options = body.options("max_pairs", "max_groups", "keep")
        pairs = collection.duplicates(**options)
        return pairs.groups(max_pairs=min(body.max_pairs or most, most))

    def listed() -> Iterator[Any]:
        return duplicate_list(collection, groups(), body.keep or ())

    def largest() -> dict[str, Any]:
        most = body.max_groups
        return largest_groups(collection, groups(), max_groups=most, max_items=_SHOWN)

    kind = next((kind for kind in (CSV, ARROW) if accepts(request, kind)), None)
    if kind is not None and "max_groups" in body.model_fields_set:
        raise ArgumentError(f"max_groups is for answers in JSON: {kind} has all groups")
    if kind != CSV and body.keep is not None:
        raise ArgumentError("keep is for answers in CSV")
    if kind == CSV:
        tables = await view.run(listed, lane="heavy")
        return StreamingResponse(_lines(view, tables), media_type=CSV)
    if kind == ARROW:
        return await view.run(lambda: _table(view, groups()), lane="heavy")
    if body.model_fields_set <= {"radius", "max_groups"} and not body.max_groups:
        # Three numbers, which the page asks for again and again.
        key = "duplicates", body.radius
        return Json(await view.cached(key, largest, lane="heavy"))
    return Json(await view.run(largest, lane="heavy"))


def _table(view: View, groups: DuplicateGroups) -> Response:
    import pyarrow as pa

    collection, most = view.collection, view.settings.max_hits
    if len(groups.ids) > most:
        raise ArgumentError(
            f"{len(groups.ids):,} items are in groups, {most:,} are answered at "
            "most: give a smaller radius, a filter, or ask for CSV"
        )
    numbers = np.repeat(np.arange(len(groups)), np.diff(groups.offsets))
    ids = pa.array(groups.ids, collection.schema.field(collection.id_name).type)
    table = {"_group": numbers, "_position": groups.positions, ID: ids}
    return arrow_reply(pa.table(table), n_groups=len(groups), n_pairs=groups.n_pairs)


async def _lines(view: View, tables: Iterator[Any]) -> AsyncIterator[bytes]:
    """Write tables as they are made: there may be as many lines as items."""

    def written(header: bool) -> bytes | None:
        table = next(tables, None)
        return None if table is None else csv_of(table, header=header)

    header = True
    while (part := await view.run(written, header)) is not None:
        header = False
        yield part

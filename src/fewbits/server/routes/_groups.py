"""Groups of near duplicates: counted, shown, or all of them."""

from collections.abc import AsyncIterator, Iterator
from functools import partial
from typing import Annotated, Any

import numpy as np
from fastapi import APIRouter, Depends, Request, Response
from fastapi.responses import StreamingResponse

from fewbits.bundle import MAX_PAIRS
from fewbits.client.wire import ARROW
from fewbits.engine import explore
from fewbits.errors import ArgumentError
from fewbits.server._body import body_of, reads
from fewbits.server._csv import CSV, csv_of
from fewbits.server._models import GroupsBody
from fewbits.server._reply import Json, accepts, answers, arrow_reply, wants_arrow
from fewbits.server._served import Current, Served

router = APIRouter()

_SHOWN = 100  # items of a group, in JSON
#: Pairs of different codes of which groups are made: about a minute's work.
_MOST_PAIRS = 1_000_000_000


@router.post(
    "/v1/duplicate-groups",
    openapi_extra=reads(GroupsBody),
    responses=answers("DuplicateGroups", CSV, ARROW),
)
async def duplicate_groups(
    asked: Annotated[GroupsBody, Depends(body_of(GroupsBody))],
    served: Current,
    request: Request,
) -> Response:
    """Count groups of near duplicates, and show the largest; or list all, as a table.

    CSV says which items to keep; Arrow has the groups of `Bundle.duplicate_groups`.
    """
    of, bundle = _request(asked), served.bundle
    if accepts(request, CSV):
        _refuse(asked, "max_groups", "is for answers in JSON: CSV has all groups")
        tables = await served.run_heavy(
            explore.duplicate_list, bundle, of, asked.keep or ()
        )
        return StreamingResponse(_lines(served, tables), media_type=CSV)
    _refuse(asked, "keep", "is for answers in CSV")
    if wants_arrow(request):
        _refuse(asked, "max_groups", "is for answers in JSON: Arrow has all groups")
        return await served.run_heavy(_table, served, of)
    work = partial(explore.duplicate_groups, bundle, of)
    if asked.model_fields_set <= {"radius", "max_groups"} and not asked.max_groups:
        # Three numbers, which the page asks for again and again.
        key = "duplicates", asked.radius
        found = await served.cached(key, work, heavy=True)
    else:
        found = await served.run_heavy(work)
    return Json(found.to_dict())


def _request(asked: GroupsBody) -> explore.DuplicateGroupsRequest:
    most = _MOST_PAIRS if asked.max_vector_distance is None else MAX_PAIRS
    return explore.DuplicateGroupsRequest(
        asked.radius,
        filter=asked.filter,
        allowed=asked.allowed,
        max_vector_distance=asked.max_vector_distance,
        max_groups=asked.max_groups,
        max_items=_SHOWN,
        max_pairs=min(asked.max_pairs or most, most),
    )


def _refuse(asked: GroupsBody, name: str, why: str) -> None:
    if name in asked.model_fields_set and getattr(asked, name) is not None:
        raise ArgumentError(f"{name} {why}")


def _table(served: Served, of: explore.DuplicateGroupsRequest) -> Response:
    """Answer the number, the row and the id of each item that is in a group."""
    import pyarrow as pa

    items, most = served.bundle.collection, served.settings.max_hits
    found = of.groups(served.bundle)
    if len(found.members) > most:
        raise ArgumentError(
            f"{len(found.members):,} items are in groups, {most:,} are answered at "
            "most: give a smaller radius, a filter, or ask for CSV"
        )
    numbers = np.repeat(np.arange(len(found)), np.diff(found.offsets))
    ids = pa.array(items.ids_at(found.members).tolist(), items.id_type)
    table = {"_group": numbers, "_row": found.members, "_id": ids}
    return arrow_reply(pa.table(table), n_groups=len(found), n_pairs=found.n_pairs)


async def _lines(served: Served, tables: Iterator[Any]) -> AsyncIterator[bytes]:
    """Write tables as they are made: there may be as many lines as items."""

    def written(header: bool) -> bytes | None:
        table = next(tables, None)
        return None if table is None else csv_of(table, header=header)

    header = True
    while (part := await served.run(written, header)) is not None:
        header = False
        yield part

"""Quality of the collection: health, novelty and duplicates."""

import time
from collections.abc import AsyncIterator, Iterator
from functools import partial
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Query, Request, Response
from fastapi.responses import StreamingResponse

from fewbits.engine import explore
from fewbits.errors import ArgumentError
from fewbits.server._body import body_of, reads
from fewbits.server._csv import CSV, csv_of
from fewbits.server._errors import ApiError
from fewbits.server._explorer_models import (
    DuplicateGroups,
    GroupsBody,
    Novelty,
    Quality,
    Recall,
    Verified,
)
from fewbits.server._reply import Json, accepts, also
from fewbits.server._served import Current, Served

router = APIRouter()

_SHOWN = 100  # items of a group, in JSON
#: Pairs of different codes of which groups are made: about a minute's work.
_MOST_PAIRS = 1_000_000_000


@router.get("/v1/quality", response_model=Quality)
async def quality(request: Request, served: Current) -> Json:
    """Return the use of bits, bytes and files, and the last verification."""
    work = partial(explore.quality, served.bundle, served.folder)
    found = await served.cached("quality", work)
    last = getattr(request.app.state, "last_verify", None)
    return Json({**found.to_dict(), "last_verify": last})


@router.get("/v1/quality/recall", response_model=Recall)
async def recall(served: Current, k: Annotated[int, Query(ge=1, le=100)] = 10) -> Json:
    """Estimate the recall of each way to search; takes seconds when first asked."""
    work = partial(explore.recall_of_bundle, served.bundle, k)
    found = await served.cached(("recall", k), work, heavy=True)
    return Json(found.to_dict())


@router.get("/v1/novelty", response_model=Novelty)
async def novelty(served: Current, labels: str | None = None) -> Json:
    """Return the shares of known and unknown items that each threshold accepts."""
    asked = explore.NoveltyRequest(labels)
    work = partial(explore.novelty, served.bundle, asked)
    found = await served.cached(("novelty", labels), work, heavy=True)
    return Json(found.to_dict())


@router.post(
    "/v1/duplicate-groups",
    response_model=DuplicateGroups,
    openapi_extra=reads(GroupsBody),
    responses=also(CSV),
)
async def duplicate_groups(
    asked: Annotated[GroupsBody, Depends(body_of(GroupsBody))],
    served: Current,
    request: Request,
) -> Response:
    """Count groups of near duplicates, and show the largest; or list all, as CSV."""
    bundle = served.bundle
    of = explore.DuplicateGroupsRequest(
        asked.radius, asked.filter, asked.max_groups, _SHOWN, _MOST_PAIRS
    )
    if accepts(request, CSV):
        if "max_groups" in asked.model_fields_set:
            raise ArgumentError("max_groups is for answers in JSON: CSV has all groups")
        tables = await served.run_heavy(
            explore.duplicate_list, bundle, of, asked.keep or ()
        )
        return StreamingResponse(_lines(served, tables), media_type=CSV)
    if asked.keep is not None:
        raise ArgumentError("keep is for answers in CSV")
    work = partial(explore.duplicate_groups, bundle, of)
    if asked.max_groups or asked.filter:
        found = await served.run_heavy(work)
    else:  # three numbers, which the page asks for again and again
        key = "duplicates", asked.radius
        found = await served.cached(key, work, heavy=True)
    return Json(found.to_dict())


async def _lines(served: Served, tables: Iterator[Any]) -> AsyncIterator[bytes]:
    """Write tables as they are made: there may be as many lines as items."""

    def written(header: bool) -> bytes | None:
        table = next(tables, None)
        return None if table is None else csv_of(table, header=header)

    header = True
    while (part := await served.run(written, header)) is not None:
        header = False
        yield part


@router.post("/v1/verify", response_model=Verified)
async def verify(request: Request, served: Current) -> Json:
    """Compare every byte of the bundle on the disk with its checksum."""
    if served.folder is None:
        raise ApiError(409, "in_memory", "a bundle in memory has no files to verify")
    # One at a time: it reads all of the disk.
    start = time.time()
    found = await served.run_heavy(explore.verified, served.folder)
    last = {**found, "at": start, "seconds": time.time() - start}
    request.app.state.last_verify = last
    return Json(last)

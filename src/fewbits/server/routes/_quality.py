"""Quality of the collection: health, novelty and duplicates."""

import time
from functools import partial
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Query, Request
from pydantic import Field

from fewbits.engine import explore
from fewbits.server._body import Body, body_of, reads
from fewbits.server._errors import ApiError
from fewbits.server._reply import Json
from fewbits.server._served import Current

router = APIRouter()


@router.get("/v1/quality", response_model=dict[str, Any])
async def quality(request: Request, served: Current) -> Json:
    """Return the use of bits, bytes and files, and the last verification."""
    work = partial(explore.quality, served.bundle, served.folder)
    found = await served.cached("quality", work)
    last = getattr(request.app.state, "last_verify", None)
    return Json({**found.to_dict(), "last_verify": last})


@router.get("/v1/quality/recall", response_model=dict[str, Any])
async def recall(served: Current, k: Annotated[int, Query(ge=1, le=100)] = 10) -> Json:
    """Estimate the recall of each way to search; takes seconds when first asked."""
    work = partial(explore.recall_of_bundle, served.bundle, k)
    found = await served.cached(("recall", k), work, heavy=True)
    return Json(found.to_dict())


@router.get("/v1/novelty", response_model=dict[str, Any])
async def novelty(served: Current, labels: str | None = None) -> Json:
    """Return the shares of known and unknown items that each threshold accepts."""
    asked = explore.NoveltyRequest(labels)
    work = partial(explore.novelty, served.bundle, asked)
    found = await served.cached(("novelty", labels), work, heavy=True)
    return Json(found.to_dict())


class GroupsBody(Body):
    """See `fewbits.engine.explore.DuplicateGroupsRequest`."""

    radius: Annotated[int, Field(ge=0)]
    filter: Annotated[str, Field(max_length=10_000)] | None = None
    max_groups: Annotated[int, Field(ge=0, le=100_000)] = 50


@router.post(
    "/v1/duplicate-groups",
    response_model=dict[str, Any],
    openapi_extra=reads(GroupsBody),
)
async def duplicate_groups(
    asked: Annotated[GroupsBody, Depends(body_of(GroupsBody))], served: Current
) -> Json:
    """Count groups of near duplicates, and show the largest."""
    request = explore.DuplicateGroupsRequest(
        asked.radius, asked.filter, asked.max_groups
    )
    work = partial(explore.duplicate_groups, served.bundle, request)
    if asked.max_groups or asked.filter:
        found = await served.run_heavy(work)
    else:  # three numbers, which the page asks for again and again
        key = "duplicates", asked.radius
        found = await served.cached(key, work, heavy=True)
    return Json(found.to_dict())


@router.post("/v1/verify", response_model=dict[str, Any])
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

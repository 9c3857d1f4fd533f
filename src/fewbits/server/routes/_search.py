"""The nearest items, and all items within a distance."""

from typing import Annotated

from fastapi import APIRouter, Depends, Request, Response

from fewbits.client.wire import ARROW
from fewbits.server._body import body_of, reads
from fewbits.server._models import RangeBody, SearchBody
from fewbits.server._reply import answers, wants_arrow
from fewbits.server._searching import range_answer, range_table, search_answer
from fewbits.server._served import Current, served

router = APIRouter()
_asked = body_of(SearchBody, arrow=True, image=True)


@router.post(
    "/v1/search",
    openapi_extra=reads(SearchBody, arrow=True, image=True),
    responses=answers("Found", ARROW),
)
async def search(request: Request) -> Response:
    """Find the items that are nearest to each query."""
    # It is called directly: dependencies would take longer than most searches.
    now, asked = await served(request), await _asked(request)
    return await search_answer(now, asked, arrow=wants_arrow(request))


@router.post(
    "/v1/range-search",
    openapi_extra=reads(RangeBody, arrow=True, image=True),
    responses=answers("RangeFound", ARROW),
)
async def range_search(
    asked: Annotated[RangeBody, Depends(body_of(RangeBody, arrow=True, image=True))],
    served: Current,
    request: Request,
) -> Response:
    """Find all items within a distance of each query."""
    make = range_table if wants_arrow(request) else range_answer
    return await served.run(make, served, asked)

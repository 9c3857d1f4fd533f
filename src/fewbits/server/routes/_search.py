"""The nearest items."""

from typing import Annotated

from fastapi import APIRouter, Depends

from fewbits import engine
from fewbits.server._body import body_of, reads
from fewbits.server._models import Found, SearchBody
from fewbits.server._reply import Json
from fewbits.server._served import Current

router = APIRouter()


@router.post("/v1/search", response_model=Found, openapi_extra=reads(SearchBody))
async def search(
    asked: Annotated[SearchBody, Depends(body_of(SearchBody))],
    served: Current,
) -> Json:
    """Find the items that are nearest to each query."""
    request = engine.SearchRequest(
        asked.vectors or asked.texts,
        asked.k,
        rerank=asked.rerank,
        filter=asked.filter,
        allowed=asked.allowed,
        group_by=asked.group_by,
    )
    found = await served.run(engine.search, served.bundle, request)
    return Json(found.to_dict())

"""Items of the collection, and their pictures."""

from typing import Annotated

from fastapi import APIRouter, Depends, Request, Response

from fewbits.client.wire import ARROW
from fewbits.server._body import body_of, reads
from fewbits.server._csv import CSV
from fewbits.server._exports import PARQUET, items_answer
from fewbits.server._models import ItemsBody
from fewbits.server._reply import also, answers
from fewbits.server._served import Current
from fewbits.server._thumbnails import PNG, thumbnail

router = APIRouter()


@router.post(
    "/v1/items",
    openapi_extra=reads(ItemsBody),
    responses=answers("Items", CSV, ARROW, PARQUET),
)
async def items(
    asked: Annotated[ItemsBody, Depends(body_of(ItemsBody))],
    served: Current,
    request: Request,
) -> Response:
    """Return items by ids or positions: as JSON, or exported as a table."""
    return await served.run(items_answer, served, asked, request)


@router.get("/v1/items/{id:path}/image", response_class=Response, responses=also(PNG))
async def image(id: str, served: Current) -> Response:
    """Return a small picture of an item of an image collection."""
    return await served.run(thumbnail, served, id)

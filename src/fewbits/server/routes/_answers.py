"""Classification, search by example, and duplicates."""

from typing import Annotated

from fastapi import APIRouter, Depends, Request, Response

from fewbits.client.wire import ARROW
from fewbits.server._answering import (
    classified,
    decoded_table,
    duplicate_pairs,
    duplicates_found,
    members,
)
from fewbits.server._body import body_of, reads
from fewbits.server._models import ClassifyBody, DuplicatesBody, LikeBody
from fewbits.server._reply import Json, answers, wants_arrow
from fewbits.server._served import Current

router = APIRouter()


@router.post(
    "/v1/classify",
    openapi_extra=reads(ClassifyBody, arrow=True, image=True),
    responses=answers("Classified", ARROW),
)
async def classify(
    asked: Annotated[
        ClassifyBody, Depends(body_of(ClassifyBody, arrow=True, image=True))
    ],
    served: Current,
    request: Request,
) -> Response:
    """Classify items: the nearest class code, its distance, and if it is accepted."""
    make = decoded_table if wants_arrow(request) else classified
    return await served.run(make, served, asked)


@router.post("/v1/like", openapi_extra=reads(LikeBody), responses=answers("Members"))
async def like(
    asked: Annotated[LikeBody, Depends(body_of(LikeBody))], served: Current
) -> Json:
    """Find items that are like some, and unlike others."""
    return Json(await served.run(members, served, asked))


@router.post(
    "/v1/duplicates",
    openapi_extra=reads(DuplicatesBody),
    responses=answers("DuplicatesFound", ARROW),
)
async def duplicates(
    asked: Annotated[DuplicatesBody, Depends(body_of(DuplicatesBody))],
    served: Current,
    request: Request,
) -> Response:
    """Find items that are in the collection twice, or nearly so."""
    make = duplicate_pairs if wants_arrow(request) else duplicates_found
    return await served.run_heavy(make, served, asked)

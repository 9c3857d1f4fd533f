"""Adding, replacing, changing and deleting rows, if the service is writable."""

from typing import Annotated, Any

from fastapi import APIRouter, Depends

from fewbits.server import _changes
from fewbits.server._bodies import (
    CompactBody,
    DeleteBody,
    RowsBody,
    UpdateBody,
    body_of,
    reads,
)
from fewbits.server._replies import Json, answers
from fewbits.server._service import Current


async def _writable(served: Current) -> None:
    served.check_writable()


#: A read-only service refuses before it looks at the body.
router = APIRouter(dependencies=[Depends(_writable)])
_ROWS = reads(RowsBody, arrow=True)
Rows = Annotated[Any, Depends(body_of(RowsBody, arrow=True))]


@router.post("/v1/add", openapi_extra=_ROWS, responses=answers("Changed"))
async def add(rows: Rows, served: Current) -> Json:
    """Add rows whose ids are new."""
    return Json(await served.run_change(_changes.added, served, rows))


@router.post("/v1/upsert", openapi_extra=_ROWS, responses=answers("Changed"))
async def upsert(rows: Rows, served: Current) -> Json:
    """Add rows, which replace those of the same ids."""
    return Json(await served.run_change(_changes.upserted, served, rows))


@router.post(
    "/v1/update",
    openapi_extra=reads(UpdateBody, arrow=True),
    responses=answers("Changed"),
)
async def update(
    rows: Annotated[Any, Depends(body_of(UpdateBody, arrow=True))], served: Current
) -> Json:
    """Change columns of rows by their ids; codes and order stay."""
    return Json(await served.run_change(_changes.updated, served, rows))


@router.post(
    "/v1/delete", openapi_extra=reads(DeleteBody), responses=answers("Changed")
)
async def delete(
    body: Annotated[Any, Depends(body_of(DeleteBody))], served: Current
) -> Json:
    """Delete rows by their ids, by a condition, or by both."""
    return Json(await served.run_change(_changes.deleted, served, body))


@router.post(
    "/v1/compact", openapi_extra=reads(CompactBody), responses=answers("Changed")
)
async def compact(
    body: Annotated[Any, Depends(body_of(CompactBody))], served: Current
) -> Json:
    """Rewrite the collection without deleted rows, however long it takes."""
    return Json(await served.run_change(_changes.compacted, served, body))

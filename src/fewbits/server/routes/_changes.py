"""Adding, replacing and deleting rows, if the service is writable."""

from typing import Annotated

from fastapi import APIRouter, Depends

from fewbits.server._body import body_of, reads
from fewbits.server._changing import added, compacted, deleted, upserted
from fewbits.server._models import CompactBody, DeleteBody, RowsBody
from fewbits.server._reply import Json, answers
from fewbits.server._served import Current


async def _writable(served: Current) -> None:
    served.check_writable()


#: A read-only service refuses before it looks at the body.
router = APIRouter(dependencies=[Depends(_writable)])
Rows = Annotated[RowsBody, Depends(body_of(RowsBody, arrow=True))]
_ROWS = reads(RowsBody, arrow=True)


@router.post("/v1/add", openapi_extra=_ROWS, responses=answers("Changed"))
async def add(rows: Rows, served: Current) -> Json:
    """Add rows whose ids are new."""
    return Json(await served.run_change(added, served, rows))


@router.post("/v1/upsert", openapi_extra=_ROWS, responses=answers("Changed"))
async def upsert(rows: Rows, served: Current) -> Json:
    """Add rows, which replace those of the same ids."""
    return Json(await served.run_change(upserted, served, rows))


@router.post(
    "/v1/delete", openapi_extra=reads(DeleteBody), responses=answers("Changed")
)
async def delete(
    asked: Annotated[DeleteBody, Depends(body_of(DeleteBody))], served: Current
) -> Json:
    """Delete rows by their ids, by a condition, or by both."""
    return Json(await served.run_change(deleted, served, asked))


@router.post(
    "/v1/compact", openapi_extra=reads(CompactBody), responses=answers("Changed")
)
async def compact(
    asked: Annotated[CompactBody, Depends(body_of(CompactBody))], served: Current
) -> Json:
    """Rewrite the collection without deleted rows, however long it takes."""
    return Json(await served.run_change(compacted, served, asked))

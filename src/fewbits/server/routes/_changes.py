"""Adding, replacing and deleting rows, if the service is writable."""

from typing import Annotated

from fastapi import APIRouter, Depends

from fewbits.server._answer_models import Changed
from fewbits.server._body import body_of, reads
from fewbits.server._changing import added, compacted, deleted, upserted
from fewbits.server._models import CompactBody, DeleteBody, RowsBody
from fewbits.server._reply import Json
from fewbits.server._served import Current


async def _writable(served: Current) -> None:
    served.check_writable()


#: A read-only service refuses before it looks at the body.
router = APIRouter(dependencies=[Depends(_writable)])
Rows = Annotated[RowsBody, Depends(body_of(RowsBody, arrow=True))]
_ROWS = reads(RowsBody, arrow=True)


@router.post("/v1/add", response_model=Changed, openapi_extra=_ROWS)
async def add(rows: Rows, served: Current) -> Json:
    """Add rows whose ids are new."""
    return Json(await served.run_change(added, served, rows))


@router.post("/v1/upsert", response_model=Changed, openapi_extra=_ROWS)
async def upsert(rows: Rows, served: Current) -> Json:
    """Add rows, which replace those of the same ids."""
    return Json(await served.run_change(upserted, served, rows))


@router.post("/v1/delete", response_model=Changed, openapi_extra=reads(DeleteBody))
async def delete(
    asked: Annotated[DeleteBody, Depends(body_of(DeleteBody))], served: Current
) -> Json:
    """Delete rows by their ids, by a condition, or by both."""
    return Json(await served.run_change(deleted, served, asked))


@router.post("/v1/compact", response_model=Changed, openapi_extra=reads(CompactBody))
async def compact(
    asked: Annotated[CompactBody, Depends(body_of(CompactBody))], served: Current
) -> Json:
    """Rewrite the collection without deleted rows, however long it takes."""
    return Json(await served.run_change(compacted, served, asked))

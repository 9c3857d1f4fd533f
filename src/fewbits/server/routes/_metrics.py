"""Numbers for Prometheus."""

from fastapi import APIRouter, Response
from prometheus_client import CONTENT_TYPE_LATEST

from fewbits.server._reply import also
from fewbits.server._served import Current

router = APIRouter()


@router.get("/metrics", response_class=Response, responses=also("text/plain"))
async def metrics(served: Current) -> Response:
    """Return counts and times in Prometheus' text format."""
    return Response(served.service.metrics.text(), media_type=CONTENT_TYPE_LATEST)

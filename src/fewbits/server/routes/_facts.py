"""Health, and facts about the bundle."""

from fastapi import APIRouter

from fewbits._version import __version__
from fewbits.server._facts import facts_of
from fewbits.server._reply import Json, answers
from fewbits.server._served import Current

router = APIRouter()


@router.get("/v1/health", responses=answers("Health"))
async def health(served: Current) -> Json:
    """Return whether the service is healthy, and its snapshot."""
    fault = served.service.live.fault
    content = {
        "status": "ok" if fault is None else "degraded",
        "version": __version__,
        "snapshot": served.version,
    }
    return Json(content if fault is None else {**content, "reason": fault})


@router.get("/v1/facts", responses=answers("Facts"))
async def facts(served: Current) -> Json:
    """Return facts about the bundle, and the limits of requests."""
    return Json(await served.run(facts_of, served))

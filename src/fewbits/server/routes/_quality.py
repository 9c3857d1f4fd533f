"""Quality of the collection: health, recall, novelty and the state of its files."""

from functools import partial
from typing import Annotated, Any

from fastapi import APIRouter, Query

from fewbits.bundle.serving import Verification, last_verified, verified
from fewbits.engine import explore
from fewbits.server._errors import ApiError
from fewbits.server._reply import Json, answers
from fewbits.server._served import Current, Served

router = APIRouter()


@router.get("/v1/quality", responses=answers("Quality"))
async def quality(served: Current) -> Json:
    """Return the use of bits, bytes and files, and the last verification."""
    work = partial(explore.quality, served.bundle, served.folder)
    found = await served.cached("quality", work)
    live = served.service.live
    last = await served.run(_last_verified, served)
    if found.n_dead_bits is None:  # of damaged codes, which may be repaired meanwhile
        served.snapshot.results.pop("quality", None)
        live.set_damage(found.warnings[0])
    told = {"warnings": [live.public(each) for each in found.warnings]}
    return Json({**found.to_dict(), **told, "last_verify": last})


@router.get("/v1/quality/recall", responses=answers("Recall"))
async def recall(served: Current, k: Annotated[int, Query(ge=1, le=100)] = 10) -> Json:
    """Estimate the recall of each way to search; takes seconds when first asked."""
    work = partial(explore.recall_of_bundle, served.bundle, k)
    found = await served.cached(("recall", k), work, heavy=True)
    live, told = served.service.live, found.to_dict()
    if found.reason is not None and live.names_file(found.reason):
        served.snapshot.results.pop(("recall", k), None)
        live.set_damage(found.reason)
        told["reason"] = live.public(found.reason)
    return Json(told)


@router.get("/v1/novelty", responses=answers("Novelty"))
async def novelty(served: Current, labels: str | None = None) -> Json:
    """Return the shares of known and unknown items that each threshold accepts."""
    asked = explore.NoveltyRequest(labels)
    work = partial(explore.novelty, served.bundle, asked)
    found = await served.cached(("novelty", labels), work, heavy=True)
    return Json(found.to_dict())


@router.post("/v1/verify", responses=answers("Verified"))
async def verify(served: Current) -> Json:
    """Compare every byte of the bundle on the disk with its checksum."""
    if served.folder is None:
        raise ApiError(409, "in_memory", "a bundle in memory has no files to verify")
    # One at a time: it reads all of the disk.
    read = partial(verified, served.folder, note=served.settings.writable)
    found = await served.run_heavy(read)
    served.service.verified = found  # where the folder has no note of it
    damages = found.report.damages
    served.service.live.set_damage(str(damages[0]) if damages else None)
    return Json(_told(served, found))


def _last_verified(served: Served) -> dict[str, Any] | None:
    """Return the newest of what the folder notes, and what this process knows."""
    noted = None if served.folder is None else last_verified(served.folder)
    known = [x for x in (noted, served.service.verified) if x is not None]
    return _told(served, max(known, key=lambda each: each.at)) if known else None


def _told(served: Served, found: Verification) -> dict[str, Any]:
    """Return plain values, without the path of the folder."""
    told = found.to_dict()
    for damage in told["damages"]:
        for name in ("file", "text"):
            damage[name] = served.service.live.public(damage[name])
    return told

"""Quality of the collection: health, recall, novelty and the state of its files."""

import time
from functools import partial
from typing import Annotated, Any

from fastapi import APIRouter, Query

from fewbits.collection import Collection, Verification
from fewbits.server._errors import ApiError
from fewbits.server._replies import Json
from fewbits.server._routing import answers
from fewbits.server._service import Current, Served

router = APIRouter()


@router.get("/v1/quality")
async def quality(served: Current) -> Json:
    """Return the use of bits, bytes and files, and the last verification."""
    from fewbits.server.explore.quality import quality

    answer = await served.cached("quality", partial(quality, served.collection))
    live, warnings = served.service.live, answer["warnings"]
    if answer["n_dead_bits"] is None:  # damaged codes may be repaired meanwhile
        served.snapshot.results.pop("quality", None)
        live.set_damage(warnings[0])
    noted = await served.run(served.collection.last_verified)
    both = [x for x in (noted, served.service.verified) if x is not None]
    last = max(both, key=lambda verified: verified.at, default=None)
    public = [live.public(warning) for warning in warnings]
    shown = None if last is None else _public(served, last)
    return Json({**answer, "warnings": public, "last_verify": shown})


@router.get("/v1/quality/recall")
async def recall(served: Current, k: Annotated[int, Query(ge=1, le=100)] = 10) -> Json:
    """Estimate the recall of each way to search; takes seconds when first asked."""
    from fewbits.server.explore.quality import recall

    work = partial(recall, served.collection, k)
    answer = await served.cached(("recall", k), work, heavy=True)
    live, reason = served.service.live, answer["reason"]
    if reason is not None and live.names_file(reason):
        served.snapshot.results.pop(("recall", k), None)
        live.set_damage(reason)
        answer = {**answer, "reason": live.public(reason)}
    return Json(answer)


@router.get("/v1/novelty")
async def novelty(served: Current, label: str | None = None) -> Json:
    """Return the shares of known and unknown items that each threshold accepts."""
    from fewbits.server.explore.novelty import novelty

    work = partial(novelty, served.collection, label)
    return Json(await served.cached(("novelty", label), work, heavy=True))


@router.post("/v1/verify", responses=answers("Verified"))
async def verify(served: Current) -> Json:
    """Compare every byte of the collection on the disk with its checksum."""
    if served.folder is None:
        raise ApiError("in_memory", "a collection in memory has no files to verify")
    at, began = time.time(), time.perf_counter()
    # One at a time: it reads all of the disk.
    read = partial(
        Collection.verify_folder, served.folder, record=served.settings.writable
    )
    report = await served.run_heavy(read)
    verified = Verification(report, at, time.perf_counter() - began)
    noted = await served.run(served.collection.last_verified)
    if noted is not None and noted.at >= at:
        verified = noted
    served.service.verified = verified  # where the folder has no note of it
    problems = report.problems
    served.service.live.set_damage(problems[0] if problems else None)
    return Json(_public(served, verified))


def _public(served: Served, verified: Verification) -> dict[str, Any]:
    """Return plain values, without the path of the folder."""
    facts, public = verified.to_dict(), served.service.live.public
    for damage in facts["damages"]:
        damage |= {name: public(damage[name]) for name in ("file", "text")}
    for name in ("unreadable", "to_rebuild"):
        facts[name] = [public(text) for text in facts[name]]
    return facts

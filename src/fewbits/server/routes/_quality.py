"""Quality of the collection: health, recall, novelty and the state of its files."""

import time
from functools import partial
from typing import Annotated, Any

from fastapi import APIRouter, Query

from fewbits.collection import Collection, Verification
from fewbits.server._errors import ApiError
from fewbits.server._replies import Json
from fewbits.server._routing import response_schema
from fewbits.server._service import Current, View

router = APIRouter()


@router.get("/v1/quality")
async def quality(view: Current) -> Json:
    """Return the use of bits, bytes and files, and the last verification."""
    from fewbits.server.explore.quality import quality

    answer = await view.cached("quality", partial(quality, view.collection))
    live, warnings = view.service.live, answer["warnings"]
    if answer["n_dead_bits"] is None:  # damaged codes may be repaired meanwhile
        view.snapshot.results.pop("quality", None)
        live.set_damage(warnings[0])
    recorded = await view.run(view.collection.last_verified)
    both = [x for x in (recorded, view.service.verified) if x is not None]
    last = max(both, key=lambda verified: verified.at, default=None)
    public = [live.public(warning) for warning in warnings]
    verify = None if last is None else _public(view, last)
    return Json({**answer, "warnings": public, "last_verify": verify})


@router.get("/v1/quality/recall")
async def recall(view: Current, k: Annotated[int, Query(ge=1, le=100)] = 10) -> Json:
    """Estimate the recall of each way to search; takes seconds when first asked."""
    from fewbits.server.explore.quality import recall

    work = partial(recall, view.collection, k)
    answer = await view.cached(("recall", k), work, lane="heavy")
    live, reason = view.service.live, answer["reason"]
    if reason is not None and live.names_file(reason):
        view.snapshot.results.pop(("recall", k), None)
        live.set_damage(reason)
        answer = {**answer, "reason": live.public(reason)}
    return Json(answer)


@router.get("/v1/novelty")
async def novelty(view: Current, label: str | None = None) -> Json:
    """Return the shares of known and unknown items that each threshold accepts."""
    from fewbits.server.explore.novelty import novelty

    work = partial(novelty, view.collection, label)
    return Json(await view.cached(("novelty", label), work, lane="heavy"))


@router.post("/v1/verify", responses=response_schema("Verification"))
async def verify(view: Current) -> Json:
    """Compare every byte of the collection on the disk with its checksum."""
    if view.folder is None:
        raise ApiError("in_memory", "a collection in memory has no files to verify")
    at, began = time.time(), time.perf_counter()
    # One at a time: it reads all of the disk.
    read = partial(Collection.verify_folder, view.folder, record=view.settings.writable)
    report = await view.run(read, lane="heavy")
    verified = Verification(report, at, time.perf_counter() - began)
    recorded = await view.run(view.collection.last_verified)
    if recorded is not None and recorded.at >= at:
        verified = recorded
    view.service.verified = verified  # where the folder has no note of it
    problems = report.problems
    view.service.live.set_damage(problems[0] if problems else None)
    return Json(_public(view, verified))


def _public(view: View, verified: Verification) -> dict[str, Any]:
    """Return plain values, without the path of the folder."""
    facts, public = verified.to_dict(), view.service.live.public
    for damage in facts["damages"]:
        damage |= {name: public(damage[name]) for name in ("file", "text")}
    for name in ("unreadable", "to_rebuild"):
        facts[name] = [public(text) for text in facts[name]]
    return facts

"""Bits of the collection: their use, their meaning, their names."""

from functools import partial
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Query

from fewbits.engine import explore
from fewbits.server._body import body_of, reads
from fewbits.server._errors import ApiError
from fewbits.server._models import NamesBody
from fewbits.server._reply import Json, answers
from fewbits.server._served import Current, Served

router = APIRouter()


@router.get("/v1/bits", responses=answers("Bits"))
async def bits(served: Current, proposals: bool = True) -> Json:
    """List the bits with their use and their names."""
    found = await _all_bits(served, proposals)
    names = await served.run(explore.bit_names, served.folder, served.bundle)
    return Json(found.named(names).to_dict())


@router.get("/v1/bits/{bit}", responses=answers("BitMeaning"))
async def bit(
    bit: int,
    served: Current,
    k: Annotated[int, Query(ge=1, le=100)] = 8,
    labels: str | None = None,
) -> Json:
    """Show what one bit means: extreme items of both sides, words, and classes."""
    bundle = served.bundle
    explore.check_bit(bundle, bit)
    work = partial(_examples, bundle)
    examples = await served.cached("examples of bits", work, heavy=True)
    asked = explore.BitRequest(bit, k, labels)
    found = await served.run_heavy(explore.bit, bundle, asked, examples)
    summary = (await _all_bits(served, True)).bits[bit]
    names = await served.run(explore.bit_names, served.folder, bundle)
    return Json({**summary.evidence(names.get(bit)), **found.to_dict()})


@router.put(
    "/v1/bits/{bit}", openapi_extra=reads(NamesBody), responses=answers("BitNamed")
)
async def name_bit(
    bit: int,
    given: Annotated[NamesBody, Depends(body_of(NamesBody))],
    served: Current,
) -> Json:
    """Name the values 0 and 1 of a bit, in a file beside the bundle."""
    served.check_writable()
    if served.folder is None:
        raise ApiError(409, "in_memory", "a bundle in memory keeps no names")
    names = await served.run_change(
        explore.name_bit, served.folder, served.bundle, bit, given.zeros, given.ones
    )
    return Json({"bit": bit, "names": list(names)})


async def _all_bits(served: Served, proposals: bool) -> "explore.BitsResponse":
    asked = explore.BitsRequest(proposals=proposals)
    work = partial(explore.bits, served.bundle, asked)
    return await served.cached(("bits", proposals), work, heavy=True)


def _examples(bundle: Any) -> "explore.BitExamples":
    return explore.bit_examples(bundle)

"""Bits of the collection: their use, their meaning, their names."""

from functools import partial
from typing import Annotated, Any

from fastapi import APIRouter, Query, Request

from fewbits._checks import check_bit
from fewbits.server._bodies import NamesBody
from fewbits.server._errors import ApiError
from fewbits.server._replies import Json
from fewbits.server._routing import body_schema, read_body
from fewbits.server._service import Current, View

router = APIRouter()


@router.get("/v1/bits")
async def bits(view: Current, proposals: bool = True) -> Json:
    """List the bits with their use and their names."""
    from fewbits.server.explore.bits import with_names

    use = await _use_of_bits(view, proposals)
    return Json(with_names(use, await _names(view)))


@router.get("/v1/bits/{bit}")
async def bit(
    bit: int,
    view: Current,
    k: Annotated[int, Query(ge=1, le=100)] = 8,
    label: str | None = None,
) -> Json:
    """Show what one bit means: extreme items of both sides, words, and classes."""
    from fewbits.server.explore.bits import bit_examples, meaning_of_bit

    collection = view.collection
    check_bit(bit, collection.encoder.n_bits)
    look = partial(bit_examples, collection)
    examples = await view.cached("examples of bits", look, lane="heavy")
    work = partial(meaning_of_bit, collection, bit, examples, k=k, label=label)
    meaning = await view.run(work, lane="heavy")
    use = (await _use_of_bits(view, True))["bits"][bit]
    names = list((await _names(view)).get(bit, (None, None)))
    return Json({**use, "names": names, **meaning})


@router.put("/v1/bits/{bit}", openapi_extra=body_schema(NamesBody))
async def name_bit(bit: int, view: Current, request: Request) -> Json:
    """Name the values 0 and 1 of a bit, in a file in the folder of the collection."""
    from fewbits.server.explore.bits import name_bit

    body = await read_body(request, NamesBody)
    view.check_writable()
    if view.folder is None:
        raise ApiError("in_memory", "a collection in memory keeps no names")
    arguments = view.folder, view.collection, bit, body.zeros, body.ones
    names = await view.run(name_bit, *arguments, lane="changes")
    return Json({"bit": bit, "names": list(names)})


async def _use_of_bits(view: View, proposals: bool) -> dict[str, Any]:
    from fewbits.server.explore.bits import use_of_bits

    work = partial(use_of_bits, view.collection, proposals=proposals)
    return await view.cached(("bits", proposals), work, lane="heavy")


async def _names(view: View) -> dict[int, Any]:
    from fewbits.server.explore.bits import names_of_bits

    return await view.run(names_of_bits, view.folder, view.collection)

"""Codes of raw items."""

from typing import Annotated

from fastapi import APIRouter, Depends, Request, Response

from fewbits import engine
from fewbits.client.wire import ARROW, BYTES
from fewbits.errors import ArgumentError
from fewbits.server._body import body_of, reads
from fewbits.server._models import EncodeBody
from fewbits.server._queries import KINDS, asked_by
from fewbits.server._reply import Json, accepts, answers, arrow_reply, wants_arrow
from fewbits.server._served import Current, Served

router = APIRouter()


@router.post(
    "/v1/encode",
    openapi_extra=reads(EncodeBody, arrow=True, image=True),
    responses=answers("Codes", BYTES, ARROW),
)
async def encode(
    asked: Annotated[EncodeBody, Depends(body_of(EncodeBody, arrow=True, image=True))],
    served: Current,
    request: Request,
) -> Response:
    """Return the codes of raw items: in hexadecimal, as packed bytes, or as Arrow."""
    found = await served.run(_encoded, served, asked)
    if accepts(request, BYTES):
        return Response(found.codes.tobytes(), media_type=BYTES)
    if not wants_arrow(request):
        return Json(found.to_dict())
    import pyarrow as pa

    size = found.codes.shape[1]
    codes = pa.Array.from_buffers(
        pa.binary(size), len(found.codes), [None, pa.py_buffer(found.codes.tobytes())]
    )
    return arrow_reply(pa.table({"_code": codes}), n_bits=found.n_bits)


def _encoded(served: Served, body: EncodeBody) -> engine.EncodeResponse:
    asked = asked_by(body, served.settings)
    if not KINDS[asked.kind]:
        raise ArgumentError(f"{asked.kind} have codes: give raw items")
    items = asked.raw(served.bundle, served.settings)
    return engine.encode(served.bundle, engine.EncodeRequest(items))

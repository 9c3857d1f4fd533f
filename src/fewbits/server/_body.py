"""Bodies of requests: JSON or Arrow, read once, in bounds, and documented."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Annotated, Any, TypeVar

from fastapi import Request
from pydantic import BaseModel, ConfigDict, Field, PrivateAttr, ValidationError

from fewbits.client.wire import ARROW, JSON
from fewbits.errors import ArgumentError
from fewbits.server._errors import ApiError, unknown_field
from fewbits.server._streams import request_stream

M = TypeVar("M", bound="Body")
T = TypeVar("T")
#: A list that is refused at its first fault: there may be a million.
Many = Annotated[list[T], Field(fail_fast=True)]
_SOON = 64 << 10  # bytes that are parsed in less than a millisecond or two
_FAULTS = 100  # that are looked at
#: What the descriptions of routes refer to.
DESCRIBED: set[type["Body"]] = set()


class Body(BaseModel):
    """Base of request bodies; unknown fields are errors.

    A stream of Arrow's brings its other fields as metadata of the schema.
    """

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)
    _table: Any = PrivateAttr(None)
    _size: int = PrivateAttr(0)

    @property
    def table(self) -> Any:
        """The Arrow table that was sent, or None."""
        return self._table

    @property
    def size(self) -> int:
        """Bytes of the body."""
        return self._size


def body_of(
    model: type[M], *, arrow: bool = False
) -> Callable[[Request], Awaitable[M]]:
    """Return the dependency that reads a body; `reads` documents it."""

    async def read(request: Request) -> M:
        given = request.headers.get("content-type", "")
        kind = given.split(";")[0].strip().lower()
        if kind not in ((JSON, ARROW) if arrow else (JSON,)):
            raise ApiError(
                415, "unsupported_media_type", f"expected {JSON}, got {kind or 'none'}"
            )
        data = await request.body()
        most: int = request.app.state.settings.max_json_bytes
        parse = _of_arrow if kind == ARROW else _of_json
        if len(data) <= _SOON:
            body = parse(model, data, most)
        else:
            body = await asyncio.to_thread(parse, model, data, most)
        body._size = len(data)
        return body

    return read


def reads(model: type[Body], *, arrow: bool = False) -> dict[str, Any]:
    """Return the OpenAPI description of the body of a request."""
    schema = {"$ref": f"#/components/schemas/{model.__name__}"}
    content: dict[str, Any] = {JSON: {"schema": schema}}
    if arrow:
        content[ARROW] = {"schema": {"type": "string", "format": "binary"}}
    DESCRIBED.add(model)
    return {"requestBody": {"required": True, "content": content}}


def _of_json(model: type[M], data: bytes, most: int) -> M:
    if len(data) > most:
        raise ApiError(
            413,
            "body_too_large",
            f"JSON has at most {most:,} bytes: ask in parts, or send {ARROW}",
        )
    try:
        # This parser refuses to nest deeper than 200, and knows no infinity.
        return model.model_validate_json(data)
    except ValidationError as error:
        raise ArgumentError(_first(error, model)) from None


def _of_arrow(model: type[M], data: bytes, most: int) -> M:
    table, fields = request_stream(data)
    body = _of_json(model, fields, most)
    body._table = table
    return body


def _first(error: ValidationError, model: type[Body]) -> str:
    if error.error_count() > _FAULTS:  # each would be described
        return f"more than {_FAULTS} fields are unknown or of another type"
    faults = error.errors(include_url=False, include_input=False)
    unknown = [each for each in faults if each["type"] == "extra_forbidden"]
    fault = (unknown or faults)[0]
    if unknown:
        return unknown_field(fault["loc"], model.model_fields)
    where = ".".join(str(part) for part in fault["loc"])
    return f"{where}: {fault['msg']}" if where else str(fault["msg"])

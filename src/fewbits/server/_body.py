"""Bodies of requests: JSON or Arrow, read once, in bounds, and documented."""

from collections.abc import Awaitable, Callable
from typing import Any, TypeVar

from fastapi import Request
from pydantic import BaseModel, ConfigDict, PrivateAttr, ValidationError

from fewbits.client.wire import ARROW, JSON
from fewbits.errors import ArgumentError
from fewbits.server._errors import ApiError, unknown_field
from fewbits.server._streams import request_stream

M = TypeVar("M", bound="Body")
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
        try:
            body = _of_arrow(model, data) if kind == ARROW else _of_json(model, data)
        except ValidationError as error:
            raise ArgumentError(_first(error, model)) from None
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


def _of_json(model: type[M], data: bytes) -> M:
    # This parser refuses to nest deeper than 200, and knows no infinity.
    return model.model_validate_json(data)


def _of_arrow(model: type[M], data: bytes) -> M:
    table, fields = request_stream(data)
    body = model.model_validate_json(fields)
    body._table = table
    return body


def _first(error: ValidationError, model: type[Body]) -> str:
    fault = error.errors(include_url=False, include_input=False)[0]
    if fault["type"] == "extra_forbidden":
        return unknown_field(fault["loc"], model.model_fields)
    where = ".".join(str(part) for part in fault["loc"])
    return f"{where}: {fault['msg']}" if where else str(fault["msg"])

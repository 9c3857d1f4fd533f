"""Bodies of requests: JSON that is read once, in bounds, and documented."""

from collections.abc import Awaitable, Callable
from typing import Any, TypeVar

from fastapi import Request
from pydantic import BaseModel, ConfigDict, ValidationError

from fewbits.server._errors import ApiError

JSON = "application/json"
M = TypeVar("M", bound="Body")
#: What the descriptions of routes refer to.
DESCRIBED: set[type["Body"]] = set()


class Body(BaseModel):
    """Base of what requests send; fields that it does not know are errors."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)


def body_of(model: type[M]) -> Callable[[Request], Awaitable[M]]:
    """Return the dependency that reads a body; `reads` documents it."""

    async def read(request: Request) -> M:
        kind = request.headers.get("content-type", "").split(";")[0].strip().lower()
        if kind != JSON:
            raise ApiError(
                415, "unsupported_media_type", f"expected {JSON}, got {kind or 'none'}"
            )
        try:
            # Its parser knows no infinity here and refuses to nest deeper than 200.
            return model.model_validate_json(await request.body())
        except ValidationError as error:
            raise ApiError(422, "argument_error", _first(error)) from None

    return read


def reads(model: type[Body]) -> dict[str, Any]:
    """Return what the description of a route says about its body."""
    schema = {"$ref": f"#/components/schemas/{model.__name__}"}
    content = {JSON: {"schema": schema}}
    DESCRIBED.add(model)
    return {"requestBody": {"required": True, "content": content}}


def _first(error: ValidationError) -> str:
    fault = error.errors(include_url=False, include_input=False)[0]
    where = ".".join(str(part) for part in fault["loc"])
    return f"{where}: {fault['msg']}" if where else str(fault["msg"])

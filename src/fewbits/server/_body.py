"""Bodies of requests: JSON or Arrow, read once, in bounds, and documented."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Annotated, Any, TypeVar

from fastapi import Request
from pydantic import BaseModel, ConfigDict, Field, PrivateAttr, ValidationError

from fewbits.client.wire import ARROW, JSON
from fewbits.errors import ArgumentError
from fewbits.server._errors import ApiError, in_bytes, unknown_field
from fewbits.server._streams import request_stream

M = TypeVar("M", bound="Body")
T = TypeVar("T")
#: A list that is refused at its first fault: there may be a million.
Many = Annotated[list[T], Field(fail_fast=True)]
_SOON = 64 << 10  # bytes that are parsed in less than a millisecond or two
_SHORT_FILTER = 200  # characters that are parsed in a millisecond or two
_FAULTS = 100  # that are looked at
_PATTERNS, _LONGEST_PATTERN = 20, 200  # of LIKE, in a filter
#: Where the description of the service has its models.
PLACE = "#/components/schemas/"
_BINARY = {"type": "string", "format": "binary"}
_OF_IMAGES = "One image; the other fields are parameters of the address: ?k=5"


class Body(BaseModel):
    """Base of request bodies; unknown fields are errors.

    An Arrow stream brings its other fields as metadata of the schema.
    """

    # Each is built by its first request, not by the start.
    model_config = ConfigDict(
        extra="forbid", frozen=True, strict=True, defer_build=True
    )
    _sent: tuple[Any, bytes | None, int] = PrivateAttr((None, None, 0))

    @property
    def table(self) -> Any:
        """The Arrow table that was sent, or None."""
        return self._sent[0]

    @property
    def image(self) -> bytes | None:
        """The file of an image that was the body itself, or None."""
        return self._sent[1]

    @property
    def size(self) -> int:
        """Bytes of the body."""
        return self._sent[2]


def body_of(
    model: type[M], *, arrow: bool = False, image: bool = False
) -> Callable[[Request], Awaitable[M]]:
    """Return the dependency that reads a body; `reads` documents it.

    Of an image the other fields are parameters of the address.
    """

    async def read(request: Request) -> M:
        given = request.headers.get("content-type", "")
        kind = given.split(";")[0].strip().lower()
        is_image = image and kind.startswith("image/")
        if not is_image and kind not in ((JSON, ARROW) if arrow else (JSON,)):
            raise ApiError(
                415, "unsupported_media_type", f"expected {JSON}, got {kind or 'none'}"
            )
        data = await request.body()
        if is_image:
            body = _of_image(model, data, request)
            await _check_filter(body)
            return body
        if image and request.scope["query_string"]:
            name = next(iter(request.query_params), "?")
            raise ArgumentError(
                f"{name[:100]!r} stands in the body, not in the address"
            )
        most: int = request.app.state.settings.max_json_bytes
        parse = _of_arrow if kind == ARROW else _of_json
        if len(data) <= _SOON:
            body = parse(model, data, most)
        else:
            body = await asyncio.to_thread(parse, model, data, most)
        body._sent = (body.table, None, len(data))
        await _check_filter(body)
        return body

    return read


async def _check_filter(body: Body) -> None:
    filter = getattr(body, "filter", None)
    if filter is not None and len(filter) > _SHORT_FILTER:
        await asyncio.to_thread(check_filter, filter)
    else:
        check_filter(filter)


def check_filter(filter: str | None) -> None:
    """Refuse a condition that would look at every text many times."""
    if filter is None or "like" not in filter.lower():
        return
    from fewbits.filters import like_patterns  # imports a parser

    patterns = like_patterns(filter)
    if len(patterns) > _PATTERNS:
        raise ArgumentError(
            f"a filter has at most {_PATTERNS} LIKE patterns, got {len(patterns)}"
        )
    if (longest := max(map(len, patterns), default=0)) > _LONGEST_PATTERN:
        raise ArgumentError(
            f"a LIKE pattern has at most {_LONGEST_PATTERN} characters, got {longest}"
        )


def reads(
    model: type[Body], *, arrow: bool = False, image: bool = False
) -> dict[str, Any]:
    """Return the OpenAPI description of the body of a request."""
    schema = {"$ref": f"{PLACE}{model.__name__}"}
    content: dict[str, Any] = {JSON: {"schema": schema}}
    if arrow:
        content[ARROW] = {"schema": _BINARY}
    if image:
        content["image/*"] = {"schema": {**_BINARY, "description": _OF_IMAGES}}
    return {"requestBody": {"required": True, "content": content}}


def _of_json(model: type[M], data: bytes, most: int) -> M:
    if len(data) > most:
        raise ApiError(
            413,
            "body_too_large",
            f"JSON has at most {in_bytes(most)}: ask in parts, send {ARROW}, or an "
            "image by itself, as image/png or whatever it is",
        )
    try:
        # This parser refuses to nest deeper than 200, and knows no infinity.
        return model.model_validate_json(data)
    except ValidationError as error:
        raise ArgumentError(_first(error, model)) from None


def _of_image(model: type[M], data: bytes, request: Request) -> M:
    given = request.query_params
    if again := next((name for name in given if len(given.getlist(name)) > 1), None):
        raise ArgumentError(f"give {again[:100]!r} once")
    try:
        body = model.model_validate_strings(dict(given))
    except ValidationError as error:
        raise ArgumentError(_first(error, model)) from None
    body._sent = (None, data, len(data))
    return body


def _of_arrow(model: type[M], data: bytes, most: int) -> M:
    table, fields = request_stream(data)
    body = _of_json(model, fields, most)
    body._sent = (table, None, len(data))
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

"""Routes with a body: it is read once, in bounds, and described with its answers."""

import asyncio
import difflib
import json
import math
from collections.abc import Awaitable, Callable
from typing import Any, TypeVar

from fastapi import APIRouter, FastAPI, Request, Response
from pydantic import ValidationError
from pydantic.json_schema import models_json_schema

from fewbits.client.wire import ARROW, JSON
from fewbits.errors import ArgumentError
from fewbits.server._bodies import Body
from fewbits.server._errors import STATUSES, ApiError
from fewbits.server._replies import in_bytes
from fewbits.server._service import View, newest_view
from fewbits.server._streams import request_stream

B = TypeVar("B", bound=Body)
#: What answers a request: called with its body, what is served, and the request.
Answer = Callable[[Any, View, Request], Awaitable[Response]]
_MODELS: dict[str, type[Body]] = {}  # of routes, by name
_PLACE = "#/components/schemas/"  # where the description has its models
_BINARY = {"type": "string", "format": "binary"}
_OF_IMAGES = "One image; the other fields are parameters of the address: ?k=5"
_PARSE_INLINE_BYTES = (
    64 << 10
)  # bytes that are parsed in less than a millisecond or two
_SHORT_FILTER = 200  # characters that are parsed in a millisecond or two
_FAULTS = 100  # that are looked at


def post_route(
    router: APIRouter,
    path: str,
    model: type[Body],
    answer: str = "",
    *kinds: str,
    arrow: bool = False,
    image: bool = False,
) -> Callable[[Answer], Callable[[Request], Awaitable[Response]]]:
    """Register what answers requests with a body, which may name a version, `at`.

    Parameters
    ----------
    router : APIRouter
    path : str
    model : type of Body
    answer : str
        One of `ANSWERS`.
    *kinds : str
        Other media types of the answer.
    arrow, image : bool, default=False
        As in `read_body`.
    """

    def register(function: Answer) -> Callable[[Request], Awaitable[Response]]:
        async def endpoint(request: Request) -> Response:
            body = await read_body(request, model, arrow=arrow, image=image)
            request.scope.setdefault("route", router.routes[at])
            view = await newest_view(request)
            return await function(body, await view.at(vars(body).get("at")), request)

        at = len(router.routes)
        router.add_api_route(
            path,
            endpoint,
            methods=["POST"],
            name=function.__name__,
            description=function.__doc__,
            openapi_extra=body_schema(model, arrow=arrow, image=image),
            responses=response_schema(answer, *kinds),
        )
        return endpoint

    return register


async def read_body(
    request: Request, model: type[B], *, arrow: bool = False, image: bool = False
) -> B:
    """Return the body of a request.

    Parameters
    ----------
    request : Request
    model : type of Body
    arrow, image : bool, default=False
        Whether it may be a stream of Arrow, or an image, whose other fields are then
        parameters of the address.
    """
    header = request.headers.get("content-type", "")
    kind = header.split(";")[0].strip().lower()
    is_image = image and kind.startswith("image/")
    if not is_image and kind not in ((JSON, ARROW) if arrow else (JSON,)):
        raise ApiError("unsupported_media_type", f"expected {JSON}, got {kind!r}")
    data = await request.body()
    if image and not is_image and request.scope["query_string"]:
        name = next(iter(request.query_params), "?")
        raise ArgumentError(
            f"{name[:100]!r} belongs in the body, not in the query string"
        )

    def parse() -> B:
        most: int = request.app.state.settings.max_json_bytes
        if is_image:
            body = _of_address(model, request)
            body._image = data
        elif kind == ARROW:
            table, fields = request_stream(data)
            body = _of_json(model, fields, most)
            body._table = table
        else:
            body = _of_json(model, data, most)
        body._size = len(data)
        return body

    inline = is_image or len(data) <= _PARSE_INLINE_BYTES
    body = parse() if inline else await asyncio.to_thread(parse)
    if len(vars(body).get("filter") or "") > _SHORT_FILTER:
        await asyncio.to_thread(body.check_patterns)
    else:
        body.check_patterns()
    return body


def _of_json(model: type[B], data: bytes, most: int) -> B:
    if len(data) > most:
        raise ApiError(
            "body_too_large",
            f"JSON has at most {in_bytes(most)}: ask in parts, send {ARROW}, or an "
            "image by itself, as image/png or whatever it is",
        )
    try:
        body = model.model_validate_json(data)  # which nests at most 200 deep
    except ValidationError as error:
        raise ArgumentError(_fault_message(error, model)) from None
    # Each key brings a colon: where there are no more than fields, none comes twice,
    # and all numbers have been looked at.
    if data.count(b":") > len(body.model_fields_set):
        json.loads(
            data,
            object_pairs_hook=_refuse_duplicate_keys,
            parse_int=str,
            parse_float=_check_finite,
            parse_constant=_check_finite,
        )
    return body


def _refuse_duplicate_keys(pairs: list[tuple[str, Any]]) -> None:
    """Refuse a key that comes twice, of which others take either."""
    names = set()
    for name, _ in pairs:
        if name in names:
            raise ArgumentError(f"give {name[:100]!r} once")
        names.add(name)


def _check_finite(number: str) -> None:
    """Refuse NaN and infinity, which JSON does not have."""
    if not math.isfinite(float(number)):
        raise ArgumentError(f"a number must be finite, got {number[:20]}")


def _of_address(model: type[B], request: Request) -> B:
    params = request.query_params
    _refuse_duplicate_keys(params.multi_items())
    try:
        return model.model_validate_strings(dict(params))
    except ValidationError as error:
        raise ArgumentError(_fault_message(error, model)) from None


def _fault_message(error: ValidationError, model: type[Body]) -> str:
    """Return a message about one fault: an unknown field, or else the first."""
    if error.error_count() > _FAULTS:  # each would be described
        return f"more than {_FAULTS} fields are unknown or of the wrong type"
    faults = error.errors(include_url=False, include_input=False)
    unknown = [fault for fault in faults if fault["type"] == "extra_forbidden"]
    fault = (unknown or faults)[0]
    where = ".".join(str(part) for part in fault["loc"])
    if not unknown:
        return f"{where}: {fault['msg']}" if where else str(fault["msg"])
    names = [*model.model_fields]
    near = difflib.get_close_matches(where, names, 1) if len(where) < 100 else []
    hint = f" (did you mean {near[0]!r}?)" if near else f"; known: {', '.join(names)}"
    return f"unknown field {where[:100]!r}{hint}"


# The description of the service.


def body_schema(
    model: type[Body], *, arrow: bool = False, image: bool = False
) -> dict[str, Any]:
    """Return the OpenAPI description of the body of a request."""
    _MODELS[model.__name__] = model
    content: dict[str, Any] = {JSON: {"schema": _named(model.__name__)}}
    if arrow:
        content[ARROW] = {"schema": _BINARY}
    if image:
        content["image/*"] = {"schema": {**_BINARY, "description": _OF_IMAGES}}
    return {"requestBody": {"required": True, "content": content}}


def response_schema(model: str = "", *kinds: str) -> dict[int | str, dict[str, Any]]:
    """Return the OpenAPI description of a response: its model, and other media types.

    Models are named, and made when the description is requested: together they take a
    tenth of the start.
    """
    content: dict[str, Any] = {JSON: {"schema": _named(model)}} if model else {}
    content |= {kind: {"schema": _BINARY} for kind in kinds}
    return {200: {"content": content}} if content else {}


def _named(model: str) -> dict[str, str]:
    return {"$ref": f"{_PLACE}{model}"}


def describe(app: FastAPI) -> dict[str, Any]:
    """Return the OpenAPI description of all routes, their models and their errors.

    FastAPI would make a model and a validator of each at the start.
    """
    from fewbits.server._answers import answer_schemas

    if app.openapi_schema is not None:
        return app.openapi_schema
    schema = FastAPI.openapi(app)
    error = {"description": "Error", "content": {JSON: {"schema": _named("Error")}}}
    for operations in schema["paths"].values():
        for operation in operations.values():
            for status in STATUSES:
                operation["responses"].setdefault(str(status), error)
    _, bodies = models_json_schema(
        [(model, "validation") for model in _MODELS.values()],
        ref_template=f"{_PLACE}{{model}}",
    )
    components = schema.setdefault("components", {}).setdefault("schemas", {})
    components.update(bodies["$defs"], **answer_schemas(_PLACE))
    return schema

"""Bodies of requests: JSON, Arrow or an image, read once, in bounds, and documented.

The fields of most are the arguments of a method of `fewbits.Collection`, with its
defaults: `FIELDS` says what each argument is in JSON.
"""

import asyncio
import base64
import inspect
import json
from collections.abc import Awaitable, Callable
from typing import Annotated, Any, TypeVar

from fastapi import Request
from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    PrivateAttr,
    ValidationError,
    create_model,
)

from fewbits.client.wire import ARROW, JSON
from fewbits.collection import Collection
from fewbits.errors import ArgumentError
from fewbits.server._errors import ApiError, in_bytes, unknown_field
from fewbits.server._streams import request_stream

M = TypeVar("M", bound="Body")
T = TypeVar("T")
#: A list that is refused at its first fault: there may be a million.
Many = Annotated[list[T], Field(fail_fast=True)]
#: Where the description of the service has its models.
PLACE = "#/components/schemas/"
_SOON = 64 << 10  # bytes that are parsed in less than a millisecond or two
_SHORT_FILTER = 200  # characters that are parsed in a millisecond or two
_FAULTS = 100  # that are looked at
_PATTERNS, _LONGEST_PATTERN = 20, 200  # of LIKE, in a filter
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
    #: The Arrow table, or the file of an image, that the body itself was.
    _table: Any = PrivateAttr(None)
    _image: bytes | None = PrivateAttr(None)
    #: Bytes of the body.
    _size: int = PrivateAttr(0)

    def options(self, *without: str) -> dict[str, Any]:
        """Return the arguments of the method, but for some."""
        return {
            name: vars(self)[name]
            for name in type(self).model_fields
            if name not in without
        }


# Bounds are those of the method itself, which says so in its own words; what stands
# here is what a request may not ask of a service.
Id = int | str
Number = Annotated[int, Field(ge=-(2**63), lt=2**63)]
Texts = Many[str]
Vectors = Many[Many[float]]
Images = Annotated[Many[str], Field(description="Files of images, in base64.")]
Ids = Annotated[Many[Id], Field(description="Items of the collection.")]
Codes = Annotated[Many[str], Field(description="Packed codes in hexadecimal.")]
Allowed = Annotated[Many[Id], Field(description="Ids that may be found.")]
Share = Annotated[float, Field(ge=0, le=1)]
Filter = Annotated[
    str, Field(max_length=10_000, description="A condition, as of SQL's WHERE.")
]
Position = Annotated[int, Field(ge=0, le=2**40)]
Timeout = Annotated[
    float, Field(ge=0, le=3600, description="Seconds to wait for other writers.")
]
#: What each argument of a method of `Collection` is in JSON.
FIELDS: dict[str, Any] = {
    "texts": Texts,
    "vectors": Vectors,
    "images": Images,
    "ids": Ids,
    "codes": Codes,
    "k": Number,
    "radius": Number,
    "filter": Filter,
    "allowed": Allowed,
    "group_by": str,
    "rerank": bool,
    "shortlist": Number,
    "columns": Many[str],
    "label": str,
    "linear": bool,
    "decoder": Annotated[
        str | dict[str, Any],
        Field(description='A name, or {"name": ..., and its parameters}.'),
    ],
    "max_false_reject_rate": float,
    "max_false_accept_rate": float,
    "top": Number,
    "good_ids": Many[Id],
    "bad_ids": Many[Id],
    "n_random": Annotated[int, Field(ge=-(2**63), le=100_000)],
    "C": Annotated[float, Field(lt=1e9)],
    "random_state": Number,
    "max_vector_distance": float,
    "missing_ok": bool,
    "timeout": Timeout,
    "column": str | Many[str],
    "id": str,
    "skip_blank": bool,
    "name": str,
    "version": Number,
    "n_queries": Number,
    "confidence": float,
}


def body_like(
    name: str, method: Callable[..., Any], without: str = "", **others: Any
) -> type[Body]:
    """Return the body whose fields are the arguments of a method, but for some.

    `others` are further fields: a type and a default.
    """
    fields: dict[str, Any] = {}
    for argument, parameter in inspect.signature(method).parameters.items():
        if argument == "self" or argument in without.split():
            continue
        default = parameter.default
        kind = FIELDS[argument]
        if default is parameter.empty:
            fields[argument] = (kind, ...)
        elif default is None or default == ():
            fields[argument] = (kind | None, None)
        else:
            fields[argument] = (kind, default)
    document = f"See `fewbits.Collection.{method.__name__}`."
    model: type[Body] = create_model(
        name, __base__=Body, __doc__=document, **fields, **others
    )
    return model


class Queries(Body):
    """Exactly one of the ways to say what is meant."""

    texts: Texts | None = None
    vectors: Vectors | None = None
    images: Images | None = None
    ids: Ids | None = None
    codes: Codes | None = None


SearchBody = body_like("SearchBody", Collection.search, "queries")
ClassifyBody = body_like("ClassifyBody", Collection.classify, "items")
EncodeBody = body_like("EncodeBody", Collection.encode, "items progress")
LikeBody = body_like(
    "LikeBody",
    Collection.like,
    "good bad",
    good=(Queries | None, None),
    bad=(Queries | None, None),
)
DuplicatesBody = body_like("DuplicatesBody", Collection.duplicates)
RecallBody = body_like(
    "RecallBody",
    Collection.recall,
    "queries progress",
    queries=(Queries | None, None),
)
#: Rows are a table, which brings its own ids; images are added where they are.
RowsBody = body_like(
    "RowsBody",
    Collection.add,
    "data images codes ids skip_unreadable progress",
    codes=(
        Annotated[str | None, Field(description="A column with packed codes.")],
        None,
    ),
    rows=(Many[dict[str, Any]] | None, None),
)
UpdateBody = body_like(
    "UpdateBody",
    Collection.update,
    "data ids",
    rows=(Many[dict[str, Any]] | None, None),
)
DeleteBody = body_like("DeleteBody", Collection.delete)
CompactBody = body_like("CompactBody", Collection.compact)
TagBody = body_like("TagBody", Collection.tag)
UntagBody = body_like("UntagBody", Collection.untag)


class ChangeBody(Body):
    """One change: the body of the route of its name."""

    add: RowsBody | None = None  # type: ignore[valid-type]
    upsert: RowsBody | None = None  # type: ignore[valid-type]
    update: UpdateBody | None = None  # type: ignore[valid-type]
    delete: DeleteBody | None = None  # type: ignore[valid-type]
    table: str | None = Field(
        None, description="In place of rows, a stream of Arrow in base64."
    )

    def one(self) -> tuple[str, Any]:
        """Return which change it is, and its body."""
        bodies = self.options("table")
        chosen = [name for name, body in bodies.items() if body is not None]
        if len(chosen) != 1:
            raise ArgumentError(f"a change is one of {', '.join(bodies)}")
        body = bodies[chosen[0]]
        if self.table is not None:
            try:
                data = base64.b64decode(self.table, validate=True)
            except ValueError:
                raise ArgumentError("table is no base64") from None
            body._table, _ = request_stream(data)
        _check_patterns(vars(body).get("filter") or "")
        return chosen[0], body


class ChangesBody(Body):
    """Changes that are one commit, see `fewbits.Collection.transaction`."""

    changes: Annotated[Many[ChangeBody], Field(min_length=1)]
    timeout: Timeout | None = None


class ItemsBody(Body):
    """Items by their ids, or by their positions from 0 on."""

    ids: Many[Id] | None = None
    positions: Many[Position] | None = None
    columns: Many[str] | None = None
    filter: Filter | None = None
    missing_ok: bool = Field(False, description="Leave out ids that no item has.")


class NamesBody(Body):
    """Names of the two values of a bit; null takes a name away."""

    zeros: str | None
    ones: str | None


class GroupsBody(Body):
    """Groups of near duplicates, see `fewbits.Collection.duplicates`."""

    radius: Number
    max_vector_distance: float | None = None
    filter: Filter | None = None
    allowed: Allowed | None = None
    max_pairs: Annotated[int, Field(ge=1)] | None = None
    max_groups: Annotated[int, Field(ge=0, le=100_000)] = 50
    keep: Many[Id] | None = Field(
        None, description="CSV, which has all groups: ids to keep, not the first."
    )


class MapExportBody(Body):
    """Items of the map, by their positions in its collection."""

    rows: Annotated[Many[Position], Field(min_length=1)]
    neighbours: Annotated[int, Field(ge=0, le=100)] = 10
    version: str | None = None


# Reading.


def body_of(
    model: type[M], *, arrow: bool = False, image: bool = False
) -> Callable[[Request], Awaitable[M]]:
    """Return the dependency that reads a body; `reads` documents it.

    Of an image the other fields are parameters of the address.
    """

    async def read(request: Request) -> M:
        header = request.headers.get("content-type", "")
        kind = header.split(";")[0].strip().lower()
        is_image = image and kind.startswith("image/")
        if not is_image and kind not in ((JSON, ARROW) if arrow else (JSON,)):
            raise ApiError(
                415, "unsupported_media_type", f"expected {JSON}, got {kind or 'none'}"
            )
        data = await request.body()
        if image and not is_image and request.scope["query_string"]:
            name = next(iter(request.query_params), "?")
            raise ArgumentError(
                f"{name[:100]!r} belongs in the body, not in the query string"
            )

        def parse() -> M:
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

        soon = is_image or len(data) <= _SOON
        body = parse() if soon else await asyncio.to_thread(parse)
        filter = vars(body).get("filter") or ""
        if len(filter) > _SHORT_FILTER:
            await asyncio.to_thread(_check_patterns, filter)
        else:
            _check_patterns(filter)
        return body

    return read


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


def _check_patterns(filter: str) -> None:
    """Refuse a condition that would look at every text many times."""
    if "like" not in filter.lower():
        return
    from fewbits.collection.filters import like_patterns  # imports a parser

    patterns = like_patterns(filter)
    if len(patterns) > _PATTERNS:
        raise ArgumentError(
            f"a filter has at most {_PATTERNS} LIKE patterns, got {len(patterns)}"
        )
    if (longest := max(map(len, patterns), default=0)) > _LONGEST_PATTERN:
        raise ArgumentError(
            f"a LIKE pattern has at most {_LONGEST_PATTERN} characters, got {longest}"
        )


def _of_json(model: type[M], data: bytes, most: int) -> M:
    if len(data) > most:
        raise ApiError(
            413,
            "body_too_large",
            f"JSON has at most {in_bytes(most)}: ask in parts, send {ARROW}, or an "
            "image by itself, as image/png or whatever it is",
        )

    def once(pairs: list[tuple[str, Any]]) -> None:
        """Refuse a key that comes twice, of which others take either."""
        names = set()
        for name, _ in pairs:
            if name in names:
                raise ArgumentError(f"give {name[:100]!r} once")
            names.add(name)

    try:
        # This parser refuses to nest deeper than 200, and knows no infinity.
        body = model.model_validate_json(data)
    except ValidationError as error:
        raise ArgumentError(_first(error, model)) from None
    # Each key brings a colon: where there are no more than fields, none comes twice.
    if data.count(b":") > len(body.model_fields_set):
        json.loads(data, object_pairs_hook=once, parse_int=str, parse_float=str)
    return body


def _of_address(model: type[M], request: Request) -> M:
    params = request.query_params
    if again := next((name for name in params if len(params.getlist(name)) > 1), None):
        raise ArgumentError(f"give {again[:100]!r} once")
    try:
        return model.model_validate_strings(dict(params))
    except ValidationError as error:
        raise ArgumentError(_first(error, model)) from None


def _first(error: ValidationError, model: type[Body]) -> str:
    if error.error_count() > _FAULTS:  # each would be described
        return f"more than {_FAULTS} fields are unknown or of the wrong type"
    faults = error.errors(include_url=False, include_input=False)
    unknown = [fault for fault in faults if fault["type"] == "extra_forbidden"]
    fault = (unknown or faults)[0]
    if unknown:
        return unknown_field(fault["loc"], model.model_fields)
    where = ".".join(str(part) for part in fault["loc"])
    return f"{where}: {fault['msg']}" if where else str(fault["msg"])

"""Routes with a body, and the description of all routes with their answers.

Each answer is a line of fields and their types; a field with ``?`` may be left out,
``[X]`` is a list of X, and capitals name another answer.
"""

from collections.abc import Awaitable, Callable
from typing import Any

from fastapi import APIRouter, FastAPI, Request, Response
from pydantic.json_schema import models_json_schema

from fewbits.client.wire import ARROW, JSON
from fewbits.server._bodies import Body
from fewbits.server._errors import STATUSES
from fewbits.server._reading import read_body
from fewbits.server._service import View, newest_view

#: What answers a request: called with its body, what is served, and the request.
Answer = Callable[[Any, View, Request], Awaitable[Response]]
_MODELS: dict[str, type[Body]] = {}  # of routes, by name
_PLACE = "#/components/schemas/"  # where the description has its models
_BINARY = {"type": "string", "format": "binary"}
_OF_IMAGES = "One image; the other fields are parameters of the address: ?k=5"
_ANSWERS = {
    # Items and hits, as in `fewbits.collection.Hits`; explained, with codes and how
    # many items are at each distance of a query.
    "Item": "id: int|str, columns: dict, code: str",
    "Items": "items: [Item]",
    "Hit": "rank: int, id: int|str, distance: float, columns: dict, code?: str",
    "Hits": "metric: str, rerank: bool, version: int, hits: [[Hit]], "
    "out_of_distribution?: [bool]",
    "Explanation": "metric: str, rerank: bool, version: int, hits: [[Hit]], "
    "out_of_distribution?: [bool], codes: [str], histograms: [[int]]",
    "Codes": "n_bits: int, codes: [str]",
    # Classes, by whatever decides them, as in `fewbits.collection.Classification`, and
    # what to expect of rejection, as in `fewbits.ood.RejectionThreshold`.
    "Classification": "results: [ItemClass], expected?: Expected",
    "ItemClass": "class?: any, distance?: float, classes?: [Probability], "
    "share?: share, score?: float, labels?: [any], ranked?: [RankedLabel], "
    "accepted?: bool",
    "Probability": "class: any, probability: share",
    "RankedLabel": "label: any, score: float",
    "Expected": "threshold: float, false_reject_rate: float, "
    "false_accept_rate: float|null, false_accept_interval: [float]|null",
    # Duplicates, and recall, as in `fewbits.collection.RecallEstimate`.
    "Pairs": "pairs: [Pair]",
    "Pair": "ids: [int|str], distance: int, vector_distance?: float",
    "DuplicateGroups": "n_groups: int, n_items: int, n_pairs: int, "
    "groups: [[Duplicate]], sizes: [int]",
    "Duplicate": "id: int|str, distance: int, columns: dict",
    "Recalls": "estimates: [RecallEstimate]",
    "RecallEstimate": "search: str, k: int, recall: share, low: share, high: share, "
    "n_queries: int, confidence: share, shortlist: int|null, held_out: bool",
    # How many rows a change concerned, and what was left out, or left null.
    "Change": "n_changed: int, n_items: int, snapshot: str, warnings?: [str]",
    "Versions": "version: int, versions: [int], tags: dict, tag_times: dict",
    # Files, as in `fewbits.store.Damage`, whose `text` says all of it; `at` is in
    # seconds since 1970.
    "Verification": "intact: bool, number: int|null, n_rows: int, n_bytes: int, "
    "damages: [Damage], unreadable: [str], to_rebuild: [str], at: float, "
    "seconds: float",
    "Damage": "file: str, reason: str, bytes: [int]|null, positions: [int]|null, "
    "columns: [str], text: str",
    # The service: `n_distinct` is of a sample, `unreadable` columns are damaged, and
    # `item_features` tells whether items by ids can be re-ranked.
    "Health": "status: str, version: str, snapshot: str, reason?: str",
    "Facts": "name: str, version: str, snapshot: str, collection_version: int, "
    "writable: bool, n_items: int, n_bits: int, bytes_per_code: int, "
    "encoder: EncoderFacts, backbone: str|null, kind: str, feature_names: [str], "
    "item_column: str|null, label_column: str|null, columns: [Column], "
    "unreadable: [str], id_name: str, id_column: str|null, id_type: str, "
    "vectors: bool, item_features: bool, n_classes: int|null, "
    "novelty_radius: int|null, limits: dict, pages: dict, summary: dict",
    "Column": "name: str, type: str, is_class: bool, n_distinct?: int",
    "EncoderFacts": "kind: str, n_features: int, fingerprint: str",
    "Error": "error: ErrorDetail",
    "ErrorDetail": "code: str, message: str",
}
_TYPES: dict[str, dict[str, Any]] = {
    "int": {"type": "integer"},
    "float": {"type": "number"},
    "share": {"type": "number", "minimum": 0, "maximum": 1},
    "str": {"type": "string"},
    "bool": {"type": "boolean"},
    "dict": {"type": "object"},
    "null": {"type": "null"},
    "any": {},
}


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

    `answer` is one of `_ANSWERS`, `kinds` are its other media types, and the body may
    be a stream of `arrow` or an `image`.
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


def body_schema(
    model: type[Body], *, arrow: bool = False, image: bool = False
) -> dict[str, Any]:
    """Return the OpenAPI description of the body of a request."""
    _MODELS[model.__name__] = model
    content: dict[str, Any] = {JSON: {"schema": _schema_of(model.__name__)}}
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
    content: dict[str, Any] = {JSON: {"schema": _schema_of(model)}} if model else {}
    content |= {kind: {"schema": _BINARY} for kind in kinds}
    return {200: {"content": content}} if content else {}


def _schema_of(model: str) -> dict[str, str]:
    return {"$ref": f"{_PLACE}{model}"}


def describe(app: FastAPI) -> dict[str, Any]:
    """Return the OpenAPI description of all routes, their models and their errors.

    FastAPI would make a model and a validator of each at the start.
    """
    if app.openapi_schema is not None:
        return app.openapi_schema
    schema = FastAPI.openapi(app)
    error = {"description": "Error", "content": {JSON: {"schema": _schema_of("Error")}}}
    for operations in schema["paths"].values():
        for operation in operations.values():
            for status in STATUSES:
                operation["responses"].setdefault(str(status), error)
    _, bodies = models_json_schema(
        [(model, "validation") for model in _MODELS.values()],
        ref_template=f"{_PLACE}{{model}}",
    )
    components = schema.setdefault("components", {}).setdefault("schemas", {})
    components.update(bodies["$defs"])

    def of_type(text: str) -> dict[str, Any]:
        if text.startswith("[") and text.endswith("]"):
            return {"type": "array", "items": of_type(text[1:-1])}
        if "|" in text:
            return {"anyOf": [of_type(part) for part in text.split("|")]}
        return _TYPES.get(text, _schema_of(text))

    for name, line in _ANSWERS.items():
        fields = dict(field.split(": ") for field in line.split(", "))
        components[name] = {
            "type": "object",
            "properties": {x.rstrip("?"): of_type(y) for x, y in fields.items()},
            "required": [x for x in fields if not x.endswith("?")],
            "additionalProperties": False,
        }
    return schema

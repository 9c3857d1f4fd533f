"""The description of the service: what FastAPI finds, and the bodies it is told."""

from typing import Any

from fastapi import FastAPI
from pydantic.json_schema import models_json_schema

from fewbits.server._answer_models import Error
from fewbits.server._body import DESCRIBED

_REFUSED = 400, 401, 403, 404, 405, 408, 409, 413, 415, 421, 422, 429
_STATUSES = *_REFUSED, 500, 501, 502, 503


def add_openapi(app: FastAPI) -> None:
    """Describe bodies, which routes read themselves, too."""
    found = app.openapi

    def openapi() -> dict[str, Any]:
        if app.openapi_schema is None:
            schema = found()
            _add_bodies(schema)
            _add_errors(schema)
        assert app.openapi_schema is not None
        return app.openapi_schema

    app.openapi = openapi  # type: ignore[method-assign]


def _add_bodies(schema: dict[str, Any]) -> None:
    models = sorted(DESCRIBED, key=lambda model: model.__name__)
    _, made = models_json_schema(
        [(model, "validation") for model in models],
        ref_template="#/components/schemas/{model}",
    )
    components = schema.setdefault("components", {}).setdefault("schemas", {})
    components.update(made.get("$defs", {}))


def _add_errors(schema: dict[str, Any]) -> None:
    """Describe the errors of all routes once: a model for each would slow the start."""
    made = Error.model_json_schema(ref_template="#/components/schemas/{model}")
    components = schema["components"]["schemas"]
    components |= made.pop("$defs", {})
    components["Error"] = made
    content = {"application/json": {"schema": {"$ref": "#/components/schemas/Error"}}}
    error = {"description": "Error", "content": content}
    for operations in schema["paths"].values():
        for operation in operations.values():
            for status in _STATUSES:
                operation["responses"].setdefault(str(status), error)

"""The description of the service: what FastAPI finds, and the bodies it is told."""

from typing import Any

from fastapi import FastAPI
from pydantic.json_schema import models_json_schema

from fewbits.server._body import DESCRIBED


def add_openapi(app: FastAPI) -> None:
    """Describe bodies, which routes read themselves, too."""
    found = app.openapi

    def openapi() -> dict[str, Any]:
        if app.openapi_schema is None:
            _add_bodies(found())
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

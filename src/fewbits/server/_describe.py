"""The description of the service, made on request.

Routes name their models only: FastAPI would make a model and a validator of each at the
start.
"""

import json
import re
from typing import Any

from fastapi import FastAPI
from pydantic import BaseModel
from pydantic.json_schema import JsonSchemaMode, models_json_schema

from fewbits.client.wire import JSON
from fewbits.server._bodies import PLACE, Body

_REFUSED = 400, 401, 403, 404, 405, 408, 409, 413, 415, 421, 422, 429
_STATUSES = *_REFUSED, 500, 501, 503, 507


def add_openapi(app: FastAPI) -> None:
    """Describe bodies and answers, which FastAPI does not know, and errors."""
    describe = app.openapi

    def openapi() -> dict[str, Any]:
        if app.openapi_schema is None:
            schema = describe()
            _add_errors(schema)
            _add_models(schema)
        assert app.openapi_schema is not None
        return app.openapi_schema

    app.openapi = openapi  # type: ignore[method-assign]


def _add_errors(schema: dict[str, Any]) -> None:
    """Describe the errors of all routes once."""
    content = {JSON: {"schema": {"$ref": f"{PLACE}Error"}}}
    error = {"description": "Error", "content": content}
    for operations in schema["paths"].values():
        for operation in operations.values():
            for status in _STATUSES:
                operation["responses"].setdefault(str(status), error)


def _add_models(schema: dict[str, Any]) -> None:
    """Describe the models that routes name."""
    from fewbits.server import _answer_models, _bodies, _explorer_models

    known = {**vars(_bodies), **vars(_answer_models), **vars(_explorer_models)}
    components = schema.setdefault("components", {}).setdefault("schemas", {})
    named = {*re.findall(f'"{PLACE}(\\w+)"', json.dumps(schema["paths"]))}
    models = [known[name] for name in sorted(named - components.keys())]
    _, made = models_json_schema(
        [(model, _mode(model)) for model in models], ref_template=f"{PLACE}{{model}}"
    )
    components.update(made["$defs"])


def _mode(model: type[BaseModel]) -> JsonSchemaMode:
    return "validation" if issubclass(model, Body) else "serialization"

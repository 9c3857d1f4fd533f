"""Models of bodies and answers in the description of the service.

Routes name them only: FastAPI would make a model and a validator of each at the start.
"""

import json
import re
from typing import Any

from pydantic import BaseModel
from pydantic.json_schema import JsonSchemaMode, models_json_schema

from fewbits.client.wire import JSON
from fewbits.server import _answer_models, _explorer_models, _models
from fewbits.server._body import PLACE, Body

_REFUSED = 400, 401, 403, 404, 405, 408, 409, 413, 415, 421, 422, 429
_STATUSES = *_REFUSED, 500, 501, 502, 503


def describe(schema: dict[str, Any]) -> None:
    """Complete what FastAPI has found about the routes."""
    _add_errors(schema)
    _add_models(schema)


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
    known = {**vars(_models), **vars(_answer_models), **vars(_explorer_models)}
    components = schema.setdefault("components", {}).setdefault("schemas", {})
    named = {*re.findall(f'"{PLACE}(\\w+)"', json.dumps(schema["paths"]))}
    models = [known[name] for name in sorted(named - components.keys())]
    _, made = models_json_schema(
        [(model, _mode(model)) for model in models], ref_template=f"{PLACE}{{model}}"
    )
    components.update(made["$defs"])


def _mode(model: type[BaseModel]) -> JsonSchemaMode:
    return "validation" if issubclass(model, Body) else "serialization"

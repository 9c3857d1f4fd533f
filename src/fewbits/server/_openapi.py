"""The description of the service, made on request."""

from typing import Any

from fastapi import FastAPI


def add_openapi(app: FastAPI) -> None:
    """Describe bodies and answers, which FastAPI does not know, and errors."""
    found = app.openapi

    def openapi() -> dict[str, Any]:
        if app.openapi_schema is None:
            from fewbits.server._description import describe

            describe(found())
        assert app.openapi_schema is not None
        return app.openapi_schema

    app.openapi = openapi  # type: ignore[method-assign]

"""Answers as JSON, as an Arrow table, or as bytes."""

from typing import Any

from fastapi import Request, Response

from fewbits._json import to_json
from fewbits.client.wire import ARROW, JSON, write_stream
from fewbits.server._body import PLACE


class Json(Response):
    """A JSON response of plain values, whatever the user's columns hold."""

    media_type = JSON

    def render(self, content: Any) -> bytes:
        return content if isinstance(content, bytes) else to_json(content).encode()


def arrow_reply(table: Any, **fields: Any) -> Response:
    """Return a table, and other fields of the answer, as a stream."""
    return Response(write_stream(table, to_json(fields)), media_type=ARROW)


def accepts(request: Request, kind: str) -> bool:
    """Return whether a request names a media type as what it takes."""
    given = request.headers.get("accept", "").split(",")
    return kind in (each.split(";")[0].strip().lower() for each in given)


def wants_arrow(request: Request) -> bool:
    """Return whether a request asks for Arrow in place of JSON."""
    return accepts(request, ARROW)


def answers(model: str, *kinds: str) -> dict[int | str, dict[str, Any]]:
    """Return the OpenAPI description of a response: its model, and other media types.

    Models are named, and made when the description is requested: together they
    take a tenth of the start.
    """
    schema = {"schema": {"$ref": f"{PLACE}{model}"}}
    return {200: {"content": {JSON: schema, **also(*kinds)[200]["content"]}}}


def also(*kinds: str) -> dict[int | str, dict[str, Any]]:
    """Return the OpenAPI description of other media types of a response."""
    schema = {"schema": {"type": "string", "format": "binary"}}
    return {200: {"content": dict.fromkeys(kinds, schema)}}

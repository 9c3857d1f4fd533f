"""Answers as JSON."""

from typing import Any

from fastapi import Response

from fewbits._json import to_json


class Json(Response):
    """What `to_dict` of a response gave, whatever the user's columns hold."""

    media_type = "application/json"

    def render(self, content: Any) -> bytes:
        return to_json(content).encode()

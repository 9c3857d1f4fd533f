"""The page that a browser without the token is shown."""

from collections.abc import MutableMapping
from typing import Any

from starlette.datastructures import Headers
from starlette.responses import HTMLResponse, Response

_PAGE = """<!doctype html>
<html lang="en">
<meta charset="utf-8">
<title>fewbits</title>
<h1>{title}</h1>
<p>Open <code>/?token=TOKEN</code> once, with the token that the service was started
with. This browser then keeps it as a cookie.</p>
</html>
"""


def token_page(scope: MutableMapping[str, Any], headers: Headers) -> Response | None:
    """Return how a person gets in; None for programs, which get the error as JSON."""
    kinds = [
        each.split(";")[0].strip() for each in headers.get("accept", "").split(",")
    ]
    if scope["method"] != "GET" or "text/html" not in kinds:
        return None
    given = scope["path"] == "/" and b"token=" in scope["query_string"]
    title = "That is not the token" if given else "This service asks for a token"
    page = _PAGE.format(title=title)
    return HTMLResponse(page, 401, {"WWW-Authenticate": "Bearer"})

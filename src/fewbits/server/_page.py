"""The explorer's files at the root, beside the routes."""

from pathlib import Path

from starlette.routing import Match, Mount
from starlette.staticfiles import StaticFiles
from starlette.types import Scope

FOLDER = Path(__file__).parent / "explorer"
#: What is never a file of the page: a wrong method there is told by the route.
_ROUTES = ("/v1/", "/metrics", "/openapi.json")


class Page(Mount):
    """Serves the page and its modules."""

    def __init__(self) -> None:
        super().__init__("/", StaticFiles(directory=FOLDER, html=True), name="explorer")

    def matches(self, scope: Scope) -> tuple[Match, Scope]:
        """Leave the paths of routes to these."""
        if str(scope.get("path", "")).startswith(_ROUTES):
            return Match.NONE, {}
        return super().matches(scope)

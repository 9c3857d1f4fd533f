"""A collection as a service: its methods over HTTP, and a page to explore it.

Needs the extra ``serve``. ``fewbits serve FOLDER`` runs it; `create_app` makes the ASGI
application for a server of your own.
"""

from fewbits.server._app import create_app, run, uvicorn_config
from fewbits.server._service import Current, View
from fewbits.server._settings import Settings, read_token

__all__ = [
    "Current",
    "Settings",
    "View",
    "create_app",
    "read_token",
    "run",
    "uvicorn_config",
]

"""A bundle as a service: HTTP over the requests and responses of `fewbits.engine`.

Needs the extra ``serve``. ``fewbits serve FOLDER`` runs it; `create_app` makes the ASGI
application for a server of your own.
"""

from fewbits.server._app import create_app
from fewbits.server._run import run
from fewbits.server._served import Current, Served, served
from fewbits.server._settings import Settings, read_token
from fewbits.server._sharded import create_sharded_app, run_shards

__all__ = [
    "Current",
    "Served",
    "Settings",
    "create_app",
    "create_sharded_app",
    "read_token",
    "run",
    "run_shards",
    "served",
]

"""A bundle as a service: HTTP over the requests and responses of `fewbits.engine`.

Needs the extra ``serve``. ``fewbits serve FOLDER`` runs it; `create_app` makes the ASGI
application for a server of your own.
"""

from typing import TYPE_CHECKING

from fewbits._lazy import lazy_names
from fewbits.server._app import create_app
from fewbits.server._run import run
from fewbits.server._served import Current, Served, served
from fewbits.server._settings import Settings, read_token

if TYPE_CHECKING:
    from fewbits.server._sharded import create_sharded_app, run_shards
else:  # which takes its time to import
    __getattr__, __dir__ = lazy_names(
        __name__,
        {
            "create_sharded_app": "fewbits.server._sharded",
            "run_shards": "fewbits.server._sharded",
        },
    )

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

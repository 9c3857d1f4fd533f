"""The server process."""

import contextlib
import errno
import socket
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fewbits.collection import Collection
from fewbits.errors import ArgumentError
from fewbits.server._app import create_app
from fewbits.server._settings import Settings
from fewbits.server._telemetry import set_up_logs

if TYPE_CHECKING:
    from uvicorn import Config

#: Addresses that only this machine can reach.
LOOPBACK = ("127.0.0.1", "::1", "localhost")


def run(
    source: Collection | str | Path,
    settings: Settings | None = None,
    *,
    host: str = "127.0.0.1",
    port: int = 8000,
) -> None:
    """Serve a collection until the process is told to stop; what has begun is finished.

    A line with the address goes to standard output, logs to standard error.

    Parameters
    ----------
    source : Collection, str or Path
    settings : Settings, default=Settings()
    host : str, default="127.0.0.1"
        Address to listen at. Others than those of this machine need a token.
    port : int, default=8000
        0 takes one that is free.

    Raises
    ------
    ArgumentError
        When others could reach the service without a token, or the port is in use.
    """
    import uvicorn

    settings = settings or Settings()
    if host not in LOOPBACK and settings.token is None:
        raise ArgumentError(
            f"others can reach {host}: set a token (FEWBITS_SERVE_TOKEN or "
            "--token-file), or listen at 127.0.0.1"
        )
    app = create_app(source, settings)
    listening = _listening(host, port)
    set_up_logs()
    name_of_host = "localhost" if host in ("0.0.0.0", "::") else host
    address = f"[{name_of_host}]" if ":" in name_of_host else name_of_host
    token = "" if settings.token is None else "/?token=TOKEN"
    name = app.state.service.name
    sys.stdout.write(
        f"{name} is served at http://{address}:{listening.getsockname()[1]}{token} "
        "until Ctrl-C\n"
    )
    sys.stdout.flush()
    config = uvicorn_config(app, settings)
    with contextlib.suppress(KeyboardInterrupt):  # which uvicorn raises once more
        uvicorn.Server(config).run([listening])


def uvicorn_config(app: Any, settings: Settings, **options: Any) -> "Config":
    """Return the configuration by which uvicorn keeps the bounds of the settings.

    For a server of your own: ``uvicorn.Server(uvicorn_config(app, settings)).run()``.

    Parameters
    ----------
    app : ASGI application
        Of `create_app`.
    settings : Settings
    **options
        Of ``uvicorn.Config``, such as ``port``.

    Returns
    -------
    uvicorn.Config
    """
    import uvicorn

    from fewbits.server._protocol import bounded

    defaults = {
        "http": bounded(settings),
        "ws": "none",
        "log_config": None,
        "access_log": False,
        "server_header": False,
        "proxy_headers": False,
        # Longer than clients keep idle connections, which must not meet our closing.
        "timeout_keep_alive": 30,
        "timeout_graceful_shutdown": int(settings.time_limit) + 1,
    }
    return uvicorn.Config(app, **{**defaults, **options})


def _listening(host: str, port: int) -> socket.socket:
    try:
        addresses = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
        family, _, _, _, address = min(addresses)  # IPv4, where a name has both
        return socket.create_server(address, family=family, backlog=2048)
    except OSError as error:
        message = f"cannot listen at {host}: {error}"
        if error.errno == errno.EADDRINUSE:
            message = f"port {port} is in use: choose another by --port"
        if error.errno == errno.EACCES:
            message = f"port {port} needs rights that you do not have: choose another"
        raise ArgumentError(message) from None

"""The server process."""

import contextlib
import errno
import socket
from pathlib import Path

from fewbits.collection import Collection
from fewbits.errors import ArgumentError
from fewbits.server._app import create_app
from fewbits.server._logs import set_up_logs
from fewbits.server._settings import Settings

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

    Parameters
    ----------
    source : Collection, str or Path
    settings : Settings, default=Settings()
    host : str, default="127.0.0.1"
        Address to listen at. Others than those of this machine need a token.
    port : int, default=8000

    Raises
    ------
    ArgumentError
        When others could reach the service without a token, or the port is in use.
    """
    settings = settings or Settings()
    check_public(host, settings)
    serve_app(create_app(source, settings), settings, host, port)


def check_public(host: str, settings: Settings) -> None:
    """Refuse an address that others can reach, unless there is a token."""
    if host not in LOOPBACK and settings.token is None:
        raise ArgumentError(
            f"others can reach {host}: set a token (FEWBITS_SERVE_TOKEN or "
            "--token-file), or listen at 127.0.0.1"
        )


def check_port(host: str, port: int) -> None:
    """Refuse a port that another process listens at, or that we may not have."""
    try:
        addresses = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except OSError as error:
        raise ArgumentError(f"{host} is no address to listen at: {error}") from None
    for family, kind, protocol, _, address in addresses:
        try:
            with socket.socket(family, kind, protocol) as probe:
                probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
                if family == socket.AF_INET6:
                    probe.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
                probe.bind(address)
        except OSError as error:
            if error.errno not in (errno.EADDRINUSE, errno.EACCES):
                continue  # the server itself says what is wrong
            used = error.errno == errno.EADDRINUSE
            why = "is in use" if used else "needs rights that you do not have"
            raise ArgumentError(
                f"port {port} {why}: choose another by --port"
            ) from None


def serve_app(app: object, settings: Settings, host: str, port: int) -> None:
    """Run an application; SIGTERM and Ctrl-C end it after what has begun."""
    import uvicorn

    check_port(host, port)
    from fewbits.server._protocol import bounded

    set_up_logs()
    config = uvicorn.Config(
        app,  # type: ignore[arg-type]
        host=host,
        port=port,
        http=bounded(settings),
        ws="none",
        log_config=None,
        access_log=False,
        server_header=False,
        proxy_headers=False,
        # Longer than clients keep idle connections, which must not meet our closing.
        timeout_keep_alive=30,
        timeout_graceful_shutdown=int(settings.time_limit) + 1,
    )
    with contextlib.suppress(KeyboardInterrupt):  # which uvicorn raises once more
        uvicorn.Server(config).run()

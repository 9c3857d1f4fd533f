"""The server process."""

from pathlib import Path

from fewbits.bundle import Bundle
from fewbits.errors import ArgumentError
from fewbits.server._app import create_app
from fewbits.server._settings import Settings

#: What only this machine can reach.
LOOPBACK = ("127.0.0.1", "::1", "localhost")


def run(
    source: Bundle | str | Path,
    settings: Settings | None = None,
    *,
    host: str = "127.0.0.1",
    port: int = 8000,
) -> None:
    """Serve a bundle until the process is told to stop; what has begun is finished.

    Parameters
    ----------
    source : Bundle, str or Path
    settings : Settings, default=Settings()
    host : str, default="127.0.0.1"
        Address to listen at. Others than those of this machine need a token.
    port : int, default=8000

    Raises
    ------
    ArgumentError
        When others could reach the service without a token.
    """
    import uvicorn

    settings = settings or Settings()
    if host not in LOOPBACK and settings.token is None:
        raise ArgumentError(
            f"others can reach {host}: set a token, or listen at 127.0.0.1"
        )
    app = create_app(source, settings)
    uvicorn.run(app, host=host, port=port, access_log=False, server_header=False)

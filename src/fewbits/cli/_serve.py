"""``fewbits serve``."""

import gc
from pathlib import Path
from typing import Annotated, Any

from typer import Option

from fewbits.cli import _options as opt


def serve(
    collection: opt.CollectionPath,
    host: Annotated[
        str, Option(help="Address to listen on. Others than loopback need a token.")
    ] = "127.0.0.1",
    port: Annotated[int, Option(help="Port to listen on.", min=0, max=65535)] = 8000,
    writable: Annotated[
        bool, Option("--writable", help="Let requests change the collection.")
    ] = False,
    token_file: Annotated[
        Path | None,
        Option(
            help="File with the token that requests must bring. Default: the variable "
            "FEWBITS_SERVE_TOKEN, or none."
        ),
    ] = None,
    allow_host: Annotated[
        list[str] | None,
        Option(help="Name by which this service is called; repeat for others."),
    ] = None,
    allow_origin: Annotated[
        list[str] | None,
        Option(help="Origin allowed by CORS, such as https://a.example."),
    ] = None,
) -> None:
    """Serve COLLECTION over HTTP, with a page to explore it.

    Changes of the folder go live by themselves. Ctrl-C or SIGTERM ends the server after
    the requests that have begun. Further limits are variables, such as
    FEWBITS_SERVE_MAX_K: see the documentation.

    Example: fewbits serve my-collection

    Example: fewbits serve my-collection --writable --port 8080
    """
    gc.disable()  # looking through all that is imported takes a tenth of the start
    try:
        from fewbits import server
    except ModuleNotFoundError as error:
        from fewbits._extras import missing_extra

        raise missing_extra(f"serving needs {error.name}", "serve") from None
    options: dict[str, Any] = {
        "token": None if token_file is None else server.read_token(token_file),
        "writable": writable or None,
        "allowed_hosts": allow_host,
        "allowed_origins": allow_origin,
    }
    settings = server.Settings.from_environment(
        **{name: value for name, value in options.items() if value is not None}
    )
    gc.freeze()  # nor does any later collection look through it
    gc.enable()
    server.run(collection, settings, host=host, port=port)

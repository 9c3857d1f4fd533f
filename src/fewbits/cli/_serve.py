"""``fewbits serve``."""

import gc
from pathlib import Path
from typing import Annotated, Any

import typer


def register(app: typer.Typer) -> None:
    app.command("serve")(serve)


def serve(
    source: Annotated[
        list[str],
        typer.Argument(
            metavar="BUNDLE",
            help="A folder made by 'fewbits fit'; with --shards, addresses of servers.",
        ),
    ],
    shards: Annotated[
        bool,
        typer.Option(
            "--shards",
            help="Answer from several servers that have a part of the rows each: give "
            "their addresses in the order of the rows.",
        ),
    ] = False,
    host: Annotated[
        str,
        typer.Option(
            help="Address to listen on. Addresses other than loopback need a token."
        ),
    ] = "127.0.0.1",
    port: Annotated[
        int, typer.Option(help="Port to listen on.", min=0, max=65535)
    ] = 8000,
    writable: Annotated[
        bool, typer.Option("--writable", help="Let requests change the collection.")
    ] = False,
    token_file: Annotated[
        Path | None,
        typer.Option(
            help="File with the token that requests must bring. Default: the variable "
            "FEWBITS_SERVE_TOKEN, or none."
        ),
    ] = None,
    allow_host: Annotated[
        list[str] | None,
        typer.Option(help="Name by which this service is called; repeat for others."),
    ] = None,
    allow_origin: Annotated[
        list[str] | None,
        typer.Option(help="Origin allowed by CORS, such as https://a.example."),
    ] = None,
) -> None:
    """Serve BUNDLE over HTTP, with a page to explore it.

    Changes of the folder go live by themselves. Ctrl-C or SIGTERM ends the server after
    the requests that have begun. Further limits are variables, such as
    FEWBITS_SERVE_MAX_K: see the documentation.

    Example: fewbits serve my-bundle

    Example: fewbits serve my-bundle --writable --port 8080

    Example: fewbits serve --shards http://a:8000 http://b:8000
    """
    from fewbits.errors import ArgumentError

    if len(source) > 1 and not shards:
        raise ArgumentError("give one BUNDLE, or addresses of servers after --shards")
    gc.disable()  # looking through all that is imported takes a tenth of the start
    server = _server()
    given: dict[str, Any] = {
        "token": None if token_file is None else server.read_token(token_file),
        "writable": writable or None,
        "allowed_hosts": allow_host,
        "allowed_origins": allow_origin,
    }
    settings = server.Settings.from_environment(
        **{name: value for name, value in given.items() if value is not None}
    )
    gc.freeze()  # nor does any later collection look through it
    gc.enable()
    if shards:
        server.run_shards(source, settings, host=host, port=port)
    else:
        server.run(source[0], settings, host=host, port=port)


def _server() -> Any:
    try:
        import fewbits.server as server
    except ModuleNotFoundError as error:
        from fewbits._extras import missing_extra

        raise missing_extra(f"serving needs {error.name}", "serve") from None
    return server

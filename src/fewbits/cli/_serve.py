"""``fewbits serve``."""

from typing import Annotated

import typer

from fewbits.cli._options import BundlePath


def register(app: typer.Typer) -> None:
    app.command("serve")(serve)


def serve(
    bundle: BundlePath,
    host: Annotated[
        str, typer.Option(help="Address to listen at; others need a token.")
    ] = "127.0.0.1",
    port: Annotated[int, typer.Option(help="Port to listen at.")] = 8000,
    writable: Annotated[
        bool, typer.Option("--writable", help="Let requests change the collection.")
    ] = False,
) -> None:
    """Serve BUNDLE over HTTP, with a page to explore it.

    Changes of the folder, by this server or others, go live by themselves. Ctrl-C or
    SIGTERM ends it after the requests that have begun.

    Example: fewbits serve my-bundle

    Example: fewbits serve my-bundle --writable --port 8080
    """
    from fewbits._extras import missing_extra

    try:
        from fewbits.server import Settings, run
    except ModuleNotFoundError as error:
        raise missing_extra(f"serving needs {error.name}", "serve") from None
    settings = Settings.from_environment(writable=writable)
    run(bundle, settings, host=host, port=port)

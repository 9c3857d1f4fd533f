"""``fewbits delete``."""

from typing import Annotated

import typer

from fewbits.cli._add import print_change
from fewbits.cli._options import BundlePath, Wait, json_option, typed_ids


def register(app: typer.Typer) -> None:
    app.command("delete")(delete)


def delete(
    bundle: BundlePath,
    ids: Annotated[
        list[str] | None,
        typer.Option("--id", help="Id of an item to delete; may be repeated."),
    ] = None,
    filter: Annotated[
        str | None,
        typer.Option(
            help='Delete all items that meet an SQL-like condition, such as "year < '
            "2015 and category = 'x'\". There is no confirmation: preview it with "
            "'fewbits search --filter'."
        ),
    ] = None,
    wait: Wait = None,
    as_json: Annotated[
        bool,
        json_option("Print the numbers of items as one JSON object."),
    ] = False,
) -> None:
    """Delete items of BUNDLE by their ids, or all that meet a condition.

    Their space on disk is freed once half of a segment is deleted, or by `compact`.

    Example: fewbits delete my-bundle --id 4711 --id 4712

    Example: fewbits delete my-bundle --filter "year < 2015"
    """
    from fewbits.bundle import Bundle
    from fewbits.errors import ArgumentError

    if bool(ids) == bool(filter):
        raise ArgumentError("give either --id or --filter")
    loaded = Bundle.load(bundle)
    chosen = list(dict.fromkeys(typed_ids(loaded, ids))) if ids else None
    shorter, gone = loaded.delete_and_count(chosen, filter=filter, timeout=wait)
    del loaded  # which holds its files
    print_change(bundle, shorter, as_json, deleted=gone)

"""``fewbits delete``."""

from typing import Annotated

import typer

from fewbits.cli._add import print_change
from fewbits.cli._options import (
    BundlePath,
    Wait,
    check_unused,
    json_option,
    typed_ids,
)


def register(app: typer.Typer) -> None:
    app.command("delete")(delete)


def delete(
    bundle: BundlePath,
    ids: Annotated[
        list[str] | None,
        typer.Option("--id", help="Id of an item to delete; may be repeated."),
    ] = None,
    source: Annotated[
        str | None,
        typer.Option(
            "--ids",
            metavar="FILE",
            help="Delete the items with the ids in a .txt file or standard input (-), "
            "one a line, a .npy file, or a column of a table (.csv, .parquet, ...). "
            "Ids that are not there are passed over, and counted.",
        ),
    ] = None,
    column: Annotated[
        str | None,
        typer.Option(
            help="Column of the table --ids. Default: the one that `build` was given."
        ),
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

    Example: fewbits delete my-bundle --ids gone.csv --column sku

    Example: fewbits delete my-bundle --filter "year < 2015"
    """
    from fewbits.bundle import Bundle
    from fewbits.errors import ArgumentError
    from fewbits.inputs import read_ids

    if [bool(ids), source is not None, filter is not None].count(True) != 1:
        raise ArgumentError("give one of --id, --ids and --filter")
    if source is None:
        check_unused({"--column": column}, "--ids, it is about a file")
    loaded = Bundle.load(bundle)
    chosen = list(dict.fromkeys(typed_ids(loaded, ids))) if ids else None
    if source is not None:
        name = column or loaded.metadata.id_column
        texts = loaded.collection.has_text_ids
        chosen = list(dict.fromkeys(read_ids(source, name, texts=texts)))
    shorter, gone = loaded.delete_and_count(
        chosen, filter=filter, timeout=wait, missing_ok=source is not None
    )
    del loaded  # which holds its files
    counts = {} if chosen is None or ids else {"not_there": len(chosen) - gone}
    print_change(bundle, shorter, as_json, deleted=gone, **counts)

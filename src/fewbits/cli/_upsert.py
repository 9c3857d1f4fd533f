"""``fewbits upsert``."""

from typing import Annotated

import typer

from fewbits.cli._add import print_change
from fewbits.cli._options import (
    BundlePath,
    IdColumn,
    InputPath,
    RowColumn,
    SkipBlank,
    Wait,
    json_option,
    read_rows,
)
from fewbits.cli._progress import progress_bar


def register(app: typer.Typer) -> None:
    app.command("upsert")(upsert)


def upsert(
    bundle: BundlePath,
    items: InputPath,
    column: RowColumn = None,
    id_column: IdColumn = None,
    skip_blank: SkipBlank = False,
    wait: Wait = None,
    as_json: Annotated[
        bool,
        json_option("Print the numbers of items as one JSON object."),
    ] = False,
) -> None:
    """Encode INPUT and add it to BUNDLE, replacing the items that have the same ids.

    Items with new ids are added. An item is replaced as a whole, so that each row needs
    all columns of the collection.

    Example: fewbits upsert my-bundle changed.csv

    Example: fewbits upsert my-bundle changed.parquet --wait 60
    """
    from fewbits.bundle import Bundle

    loaded = Bundle.load(bundle)
    source = read_rows(loaded, items, column, None, id_column, skip_blank)
    with progress_bar("encoding") as progress:
        grown = loaded.upsert(source, timeout=wait, progress=progress)
    del loaded  # which holds its files
    # Others may have written meanwhile, so the numbers of before and after do not tell.
    print_change(bundle, grown, as_json, upserted=len(source))

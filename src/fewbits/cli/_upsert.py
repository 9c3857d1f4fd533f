"""``fewbits upsert``."""

from typing import Annotated

import typer

from fewbits.cli._add import write_rows
from fewbits.cli._options import (
    BundlePath,
    IdColumn,
    InputPath,
    RowColumn,
    SkipBlank,
    Wait,
    json_option,
)


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

    Items with new ids are added. Rows replace whole items: give all columns of the
    collection.

    Example: fewbits upsert my-bundle changed.csv

    Example: fewbits upsert my-bundle changed.parquet --wait 60
    """
    given = items, column, None, id_column, skip_blank
    write_rows("upsert", bundle, given, wait, as_json)

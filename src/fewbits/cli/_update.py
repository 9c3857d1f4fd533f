"""``fewbits update``."""

from typing import Annotated

import typer

from fewbits.cli import _options as opt
from fewbits.cli._add import print_change


def update(
    collection: opt.CollectionPath,
    table: Annotated[
        str,
        typer.Argument(
            metavar="TABLE",
            help="Ids and the columns to change: .parquet, .arrow, .csv, .tsv, .jsonl, "
            ".json; - is standard input.",
        ),
    ],
    id: opt.Id = None,
    columns: Annotated[
        list[str] | None,
        typer.Option(help="Column to change; may be repeated. Default: all of TABLE."),
    ] = None,
    timeout: opt.Timeout = None,
    as_json: opt.Json = False,
) -> None:
    """Change columns of items of COLLECTION, whose codes and order stay.

    A column that the collection lacks is added, with a warning, and is null for all
    other items.

    Example: fewbits update my-collection prices.csv --id sku --columns price
    """
    from fewbits.collection import Collection

    col = Collection.open(collection)
    n = col.update(table, id=id, columns=columns or None, timeout=timeout)
    print_change(collection, col, as_json, updated=n)

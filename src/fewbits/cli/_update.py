"""``fewbits update``."""

from typing import Annotated

from typer import Argument, Option

from fewbits.cli import _options as opt
from fewbits.cli._add import print_change
from fewbits.cli._printing import say


def update(
    collection: opt.CollectionPath,
    table: Annotated[
        str,
        Argument(
            metavar="TABLE",
            help="Ids and the columns to change: .parquet, .arrow, .csv, .tsv, .jsonl, "
            ".json; - is standard input.",
        ),
    ],
    id: opt.Id = None,
    columns: Annotated[
        list[str] | None,
        Option(help="Column to change; may be repeated. Default: all of TABLE."),
    ] = None,
    timeout: opt.Timeout = None,
    as_json: opt.Json = False,
) -> None:
    """Change columns of items of COLLECTION, whose codes and order stay.

    A column that the collection lacks is added, and is null for all other items.

    Example: fewbits update my-collection prices.csv --id sku --columns price
    """
    from fewbits.collection import Collection

    col = Collection.open(collection)
    before = set(col.columns)
    n = col.update(table, id=id, columns=columns or None, timeout=timeout)
    if new := [name for name in col.columns if name not in before]:
        say(f"note: the collection had no column {', '.join(new)}: added")
    print_change(collection, col, as_json, updated=n)

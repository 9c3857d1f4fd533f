"""``fewbits get``."""

from typing import Annotated

from typer import Argument

from fewbits.cli import _options as opt
from fewbits.cli._printing import print_hits, print_json


def get(
    collection: opt.CollectionPath,
    ids: Annotated[list[str], Argument(metavar="ID...", help="Ids of items.")],
    columns: opt.HitColumns = None,
    at: opt.At = None,
    as_json: opt.JsonLines = False,
) -> None:
    """Show the columns of items of COLLECTION.

    Example: fewbits get my-collection 4711 4712 --columns title
    """
    from fewbits.collection import tools

    col = opt.open_at(collection, at)
    chosen = [tools.parse_id(col, text) for text in ids]
    rows = col.get(chosen, columns or None)
    items = [{"id": id, "columns": row} for id, row in zip(chosen, rows, strict=True)]
    if as_json:
        print_json(*items)
    else:
        print_hits("", items)

"""``fewbits delete``."""

from typing import Annotated

from typer import Option

from fewbits.cli import _options as opt
from fewbits.cli._add import print_change


def delete(
    collection: opt.CollectionPath,
    ids: opt.Ids = None,
    source: Annotated[
        str | None,
        Option(
            "--input",
            "-i",
            metavar="FILE",
            help="Ids in a .txt file or standard input (-), one a line, a .npy file, "
            "or a column of a table (.csv, .parquet, ...), in place of --ids.",
        ),
    ] = None,
    column: Annotated[
        str | None,
        Option(
            help="Column of the table --input. Default: the one that the ids of the "
            "collection are from."
        ),
    ] = None,
    filter: Annotated[
        str | None,
        Option(
            help='Delete all items that meet an SQL-like condition, such as "year < '
            "2015 and category = 'x'\"; with ids, which of these. There is no "
            "confirmation: preview it with 'fewbits search --filter'."
        ),
    ] = None,
    missing_ok: Annotated[
        bool,
        Option(
            "--missing-ok", help="Pass over ids that are not there, and count them."
        ),
    ] = False,
    timeout: opt.Timeout = None,
    as_json: opt.Json = False,
) -> None:
    """Delete items of COLLECTION by their ids, by a condition, or by both.

    Their space on disk is freed once half of a segment is deleted, or by `compact`.

    Example: fewbits delete my-collection --ids 4711 --ids 4712

    Example: fewbits delete my-collection --input gone.csv --column sku --missing-ok

    Example: fewbits delete my-collection --filter "year < 2015"
    """
    from fewbits.collection import Collection
    from fewbits.errors import ArgumentError
    from fewbits.inputs import read_ids

    if ids and source is not None:
        raise ArgumentError("give either --ids or --input")
    if source is None:
        opt.check_unused({"--column": column}, "--input, it is about a file")
    col = Collection.open(collection)
    chosen = opt.typed_ids(col, ids)
    if source is not None:
        name = column or col.facts.id_column
        chosen = list(dict.fromkeys(read_ids(source, name, texts=col.has_text_ids)))
    n = col.delete(chosen, filter=filter, missing_ok=missing_ok, timeout=timeout)
    counts = {"deleted": n}
    if missing_ok and chosen is not None and filter is None:
        counts["not_there"] = len(chosen) - n
    print_change(collection, col, as_json, **counts)

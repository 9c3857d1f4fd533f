"""``fewbits compact``."""

import typer

from fewbits.cli import _options as opt
from fewbits.cli._printing import print_json


def compact(
    collection: opt.CollectionPath,
    timeout: opt.Timeout = None,
    as_json: opt.Json = False,
) -> None:
    """Rewrite the rows of COLLECTION without deleted ones, in few segments.

    Rarely needed: `add`, `upsert` and `delete` keep the number of files small, and the
    folder at most twice as large as its items. Files that another process still reads
    stay until a later change. What a killed `build` or `reencode` has left is removed.
    Tables of multi-index hashing are written where they make searches faster.

    Example: fewbits compact my-collection
    """
    from fewbits.collection import Collection, tools

    opened = Collection.open(collection)

    def n_bytes() -> int:
        return tools.disk_bytes(opened) + sum(tools.unused_files(collection).values())

    before = n_bytes()
    opened.compact(timeout=timeout)
    after, tables = n_bytes(), tools.disk_bytes(opened, "tables")
    if as_json:
        facts = {"bytes_before": before, "bytes": after, "table_bytes": tables}
        print_json({"collection": str(collection), **facts})
        return
    sizes = f"{collection}: {after:,} bytes on disk, {before:,} before"
    typer.echo(f"{sizes}; {tables:,} are tables for search" if tables else sizes)

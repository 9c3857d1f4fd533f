"""``fewbits compact``."""

import typer

from fewbits.cli import _options as opt
from fewbits.cli._printing import print_json


def compact(
    collection: opt.CollectionPath,
    timeout: opt.Timeout = None,
    as_json: opt.Json = False,
) -> None:
    """Rewrite COLLECTION without deleted rows, in as few segments as possible.

    Rarely needed: `add`, `upsert` and `delete` keep the number of files small, and the
    folder at most twice as large as its items. Files that another process still reads
    stay until a later change. What a killed `build` or `reencode` has left is removed.
    Tables of multi-index hashing are written where they make searches faster.

    Example: fewbits compact my-collection
    """
    from fewbits.collection import Collection, tools

    col = Collection.open(collection)

    def n_bytes() -> int:
        return tools.disk_bytes(col) + sum(tools.unused_files(collection).values())

    before = n_bytes()
    col.compact(timeout=timeout)
    after, tables = n_bytes(), tools.disk_bytes(col, "tables")
    if as_json:
        facts = {"bytes_before": before, "bytes": after, "table_bytes": tables}
        print_json({"collection": str(collection), **facts})
        return
    sizes = f"{collection}: {after:,} bytes on disk, {before:,} before"
    typer.echo(f"{sizes}; {tables:,} are tables for search" if tables else sizes)

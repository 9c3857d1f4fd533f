"""``fewbits compact``."""

from typing import Annotated

import typer

from fewbits.cli._options import BundlePath, Wait, json_option, print_json


def register(app: typer.Typer) -> None:
    app.command("compact")(compact)


def compact(
    bundle: BundlePath,
    wait: Wait = None,
    as_json: Annotated[
        bool, json_option("Print the bytes before and after as JSON.")
    ] = False,
) -> None:
    """Rewrite the collection of BUNDLE without deleted items, as one segment.

    Rarely needed: `add`, `upsert` and `delete` keep the number of files small, and the
    folder at most twice as large as its items. Files that another process still reads
    stay until a later change. What a killed `build` or `reencode` has left is removed.
    Tables of multi-index hashing are written where they make searches faster.

    Example: fewbits compact my-bundle
    """
    from fewbits.bundle import Bundle
    from fewbits.bundle.serving import left_over

    loaded = Bundle.load(bundle)
    store, before = loaded.collection.store, loaded.disk_bytes()
    before += sum(left_over(bundle).values())
    loaded.compact(timeout=wait)
    del loaded  # what it reads would stay on the disk
    store.collect()
    after, tables = store.disk_bytes(), store.bytes_by_kind()["tables"]
    after += sum(left_over(bundle).values())
    if as_json:
        facts = {"bytes_before": before, "bytes": after, "table_bytes": tables}
        print_json({"bundle": str(bundle), **facts})
        return
    told = f"{bundle}: {after:,} bytes on disk, {before:,} before"
    typer.echo(f"{told}; {tables:,} are tables for search" if tables else told)

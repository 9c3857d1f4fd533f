"""``fewbits backup``."""

from pathlib import Path
from typing import Annotated

import typer
from typer import Argument

from fewbits.cli import _options as opt
from fewbits.cli._printing import print_json


def backup(
    collection: opt.CollectionPath,
    to: Annotated[
        Path, Argument(metavar="FOLDER", help="The new folder.", show_default=False)
    ],
    at: opt.At = None,
    as_json: opt.Json = False,
) -> None:
    """Copy a version of COLLECTION to a new folder, while others may change it.

    On one file system files are shared by hard links, which take no time and no space;
    a copy on another disk is one that survives this one. Changes of either folder leave
    the other as it is.

    Example: fewbits backup my-collection /mnt/backups/monday
    """
    col = opt.open_at(collection, at)
    col.backup(to)
    if as_json:
        facts = {"version": col.version, "n_items": len(col)}
        print_json({"collection": str(collection), "backup": str(to), **facts})
        return
    typer.echo(f"{to}: {len(col):,} items of version {col.version:,}")

"""``fewbits add``."""

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from fewbits.cli import _options as opt
from fewbits.cli._printing import counted, print_json, progress_bar

if TYPE_CHECKING:
    from fewbits.collection import Collection


def adding(verb: str, text: str) -> Callable[..., None]:
    """Return the command ``add`` or ``upsert``, with its help."""

    def command(
        collection: opt.CollectionPath,
        items: opt.InputPath,
        column: opt.RowColumn = None,
        images: opt.Images = None,
        codes: opt.Codes = None,
        label: opt.Label = None,
        id: opt.Id = None,
        columns: opt.Columns = None,
        skip_blank: opt.SkipBlank = False,
        skip_unreadable: opt.SkipUnreadable = False,
        timeout: opt.Timeout = None,
        as_json: opt.Json = False,
    ) -> None:
        from fewbits.collection import Collection

        col = Collection.open(collection)
        with progress_bar("encoding") as progress:
            n = (col.add if verb == "add" else col.upsert)(
                items,
                column=column,
                images=images,
                codes=codes,
                label=label,
                id=id,
                columns=columns or None,
                skip_blank=skip_blank,
                skip_unreadable=skip_unreadable,
                timeout=timeout,
                progress=progress,
            )
        print_change(collection, col, as_json, **{f"{verb}ed": n})

    command.__doc__ = text
    return command


add = adding(
    "add",
    """Encode INPUT and add it to COLLECTION.

    A table has the columns of the collection, of the same types: where it lacks one,
    other than labels, its rows get null. Its ids must be new: `upsert` replaces items.
    Other processes may search COLLECTION meanwhile; they see all of INPUT or nothing.

    Example: fewbits add my-collection march.csv

    Example: fewbits add my-collection vectors.npy --timeout 60
    """,
)


def print_change(
    path: Path, collection: "Collection", as_json: bool, **counts: int
) -> None:
    """Print what happened to a collection, such as ``added=3``."""
    n = len(collection)
    if as_json:
        facts = {"collection": str(path), **counts, "n_items": n}
        print_json({**facts, "version": collection.version})
        return
    done = ", ".join(
        f"{count:,} {name.replace('_', ' ')}" for name, count in counts.items()
    )
    typer.echo(f"{path}: {done}; {counted(n, 'item')} in all")

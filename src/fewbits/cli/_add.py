"""``fewbits add``."""

from typing import Annotated, Any

import typer

from fewbits.cli._options import (
    BundlePath,
    IdColumn,
    InputPath,
    RowColumn,
    SkipBlank,
    Wait,
    json_option,
    print_json,
    read_rows,
)
from fewbits.cli._progress import progress_bar


def register(app: typer.Typer) -> None:
    app.command("add")(add)


def add(
    bundle: BundlePath,
    items: InputPath,
    column: RowColumn = None,
    id_column: IdColumn = None,
    labels: Annotated[
        str | None, typer.Option(help="File with a label per item, if `build` had one.")
    ] = None,
    skip_blank: SkipBlank = False,
    wait: Wait = None,
    as_json: Annotated[
        bool,
        json_option("Print the numbers of items as one JSON object."),
    ] = False,
) -> None:
    """Encode INPUT and add it to the collection of BUNDLE.

    A table has the columns of the collection, of the same types: where it lacks one,
    other than labels, its rows get null; further columns are left out. Its ids must be
    new: `upsert` replaces items. Other processes may search BUNDLE meanwhile; they see
    all of INPUT or nothing.

    Example: fewbits add my-bundle march.csv

    Example: fewbits add my-bundle vectors.npy --wait 60
    """
    given = items, column, labels, id_column, skip_blank
    write_rows("add", bundle, given, wait, as_json)


def write_rows(
    verb: str, bundle: Any, given: tuple[Any, ...], wait: float | None, as_json: bool
) -> None:
    """Read rows, see `read_rows`, and "add" or "upsert" them."""
    from fewbits.bundle import Bundle

    loaded = Bundle.load(bundle)
    source = read_rows(loaded, *given)
    with progress_bar("encoding") as progress:
        grown = getattr(loaded, verb)(source, timeout=wait, progress=progress)
    del loaded  # which holds the files of the state before
    # Other writers may have committed meanwhile: comparing sizes would be wrong.
    done = {"add": "added", "upsert": "upserted"}[verb]
    print_change(bundle, grown, as_json, **{done: len(source)})


def print_change(bundle: Any, changed: Any, as_json: bool, **counts: int) -> None:
    """Print what happened to a collection, such as ``added=3``."""
    n = len(changed.collection)
    changed.collection.store.collect()
    if as_json:
        told = {"bundle": str(bundle), **counts, "n_items": n}
        print_json({**told, "commit": changed.commit})
        return
    done = ", ".join(
        f"{count:,} {name.replace('_', ' ')}" for name, count in counts.items()
    )
    typer.echo(f"{bundle}: {done}; {n:,} item{'' if n == 1 else 's'} in all")

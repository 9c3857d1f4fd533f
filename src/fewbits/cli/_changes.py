"""``fewbits add``, ``upsert``, ``update`` and ``delete``."""

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from typer import Argument, Option

from fewbits.cli import _options as opt
from fewbits.cli._printing import counted, print_answer, progress_bar
from fewbits.errors import ArgumentError

if TYPE_CHECKING:
    from fewbits.collection import Collection


def _adding(verb: str, text: str) -> Callable[..., None]:
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

        col = opt.open_at(collection)
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


add = _adding(
    "add",
    """Encode INPUT and add it to COLLECTION.

    A table has the columns of the collection, of the same types: where it lacks one,
    other than labels, its rows get null. Its ids must be new: `upsert` replaces items.
    Other processes may search COLLECTION meanwhile; they see all of INPUT or nothing.

    Example: fewbits add my-collection march.csv

    Example: fewbits add my-collection vectors.npy --timeout 60
    """,
)
upsert = _adding(
    "upsert",
    """Encode INPUT and add it to COLLECTION in place of items that have the same ids.

    Items with new ids are added. Rows replace whole items: give all columns of the
    collection; 'fewbits update' changes single columns.

    Example: fewbits upsert my-collection changed.csv

    Example: fewbits upsert my-collection changed.parquet --timeout 60
    """,
)


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
        Option(help="Columns to change: price,stock. Default: all of TABLE."),
    ] = None,
    filter: Annotated[
        str | None,
        Option(
            help="Change all items that meet an SQL-like condition: TABLE then has one "
            "row, without an id."
        ),
    ] = None,
    timeout: opt.Timeout = None,
    as_json: opt.Json = False,
) -> None:
    """Change columns of items of COLLECTION, whose codes and order stay.

    A column that the collection lacks is added, with a warning, and is null for all
    other items.

    Example: fewbits update my-collection prices.csv --id sku --columns price

    Example: echo '{"shelf": 2}' | fewbits update my-collection - --filter "year < 2015"
    """
    col, names = opt.open_at(collection), columns or None
    n = col.update(table, id=id, columns=names, filter=filter, timeout=timeout)
    print_change(collection, col, as_json, updated=n)


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
        Option(help="Column of the table --input. Default: that of the ids."),
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
        Option("--missing-ok", help="Pass over ids that are not there; count them."),
    ] = False,
    timeout: opt.Timeout = None,
    as_json: opt.Json = False,
) -> None:
    """Delete items of COLLECTION by their ids, by a condition, or by both.

    Their space on disk is freed once more than half of a segment is deleted, or by
    `compact`.

    Example: fewbits delete my-collection --ids 4711 --ids 4712

    Example: fewbits delete my-collection --input gone.csv --column sku --missing-ok

    Example: fewbits delete my-collection --filter "year < 2015"
    """
    from fewbits.inputs import read_ids

    if ids and source is not None:
        raise ArgumentError("give either --ids or --input")
    opt.check_unread(source, [column] if column else None)
    col = opt.open_at(collection)
    chosen = list(dict.fromkeys(opt.typed_ids(col, ids))) if ids else None
    if source is not None:
        name = column or col.facts.id_column
        chosen = list(dict.fromkeys(read_ids(source, name, texts=col.has_text_ids)))
    n = col.delete(chosen, filter=filter, missing_ok=missing_ok, timeout=timeout)
    counts = {"deleted": n}
    if missing_ok and chosen is not None and filter is None:
        counts["not_there"] = len(chosen) - n
    print_change(collection, col, as_json, **counts)


def drop_columns(
    collection: opt.CollectionPath,
    columns: Annotated[
        list[str], Argument(metavar="COLUMN...", help="Columns to drop.")
    ],
    timeout: opt.Timeout = None,
    as_json: opt.Json = False,
) -> None:
    """Drop columns of COLLECTION; codes and order stay.

    It does not ask first. Versions with names keep the columns, see 'fewbits tag'; the
    space on disk is freed by 'fewbits compact'. The ids, and the texts or images that
    codes are made of, cannot be dropped.

    Example: fewbits drop-columns my-collection note price
    """
    from fewbits._arrow import split_names
    from fewbits.collection import Collection

    col = Collection.open(collection)
    names = dict.fromkeys(split_names(columns, col.columns))
    col.drop_columns(columns, timeout=timeout)
    facts = {"columns_dropped": len(names), "n_items": len(col), "version": col.version}
    text = f"{collection}: {', '.join(names)} dropped; it has "
    text += f"{', '.join(col.columns) or 'no other columns'}"
    print_answer(as_json, {"collection": str(collection), **facts}, text)


def print_change(path: Path, col: "Collection", as_json: bool, **counts: int) -> None:
    """Print what happened to a collection, such as ``added=3``."""
    facts = {"collection": str(path), **counts, "n_items": len(col)}
    changes = [f"{count:,} {name.replace('_', ' ')}" for name, count in counts.items()]
    text = f"{path}: {', '.join(changes)}; {counted(len(col), 'item')} in all"
    print_answer(as_json, {**facts, "version": col.version}, text)

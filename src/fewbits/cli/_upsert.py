"""``fewbits upsert``."""

from fewbits.cli import _options as opt
from fewbits.cli._add import print_change
from fewbits.cli._printing import progress_bar


def upsert(
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
    """Encode INPUT and add it to COLLECTION in place of items that have the same ids.

    Items with new ids are added. Rows replace whole items: give all columns of the
    collection; 'fewbits update' changes single columns.

    Example: fewbits upsert my-collection changed.csv

    Example: fewbits upsert my-collection changed.parquet --timeout 60
    """
    from fewbits.collection import Collection

    opened = Collection.open(collection)
    with progress_bar("encoding") as progress:
        n = opened.upsert(
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
    print_change(collection, opened, as_json, upserted=n)

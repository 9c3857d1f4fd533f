"""``fewbits upsert``."""

from typing import Annotated

from fewbits.cli._add import print_change
from fewbits.cli._options import (
    Codes,
    CollectionPath,
    Columns,
    Id,
    Images,
    InputPath,
    Label,
    RowColumn,
    SkipBlank,
    Timeout,
    json_option,
)
from fewbits.cli._printing import progress_bar


def upsert(
    collection: CollectionPath,
    items: InputPath,
    column: RowColumn = None,
    images: Images = None,
    codes: Codes = None,
    label: Label = None,
    id: Id = None,
    columns: Columns = None,
    skip_blank: SkipBlank = False,
    timeout: Timeout = None,
    as_json: Annotated[
        bool, json_option("Print the numbers of items as one JSON object.")
    ] = False,
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
            timeout=timeout,
            progress=progress,
        )
    print_change(collection, opened, as_json, upserted=n)

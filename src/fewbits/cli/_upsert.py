"""``fewbits upsert``."""

from fewbits.cli._add import adding

upsert = adding(
    "upsert",
    """Encode INPUT and add it to COLLECTION in place of items that have the same ids.

    Items with new ids are added. Rows replace whole items: give all columns of the
    collection; 'fewbits update' changes single columns.

    Example: fewbits upsert my-collection changed.csv

    Example: fewbits upsert my-collection changed.parquet --timeout 60
    """,
)

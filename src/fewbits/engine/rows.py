"""Rows of items, groups and classes: for answers that are not records."""

from fewbits.engine._classify import decode_items
from fewbits.engine._duplicates import group_records
from fewbits.engine._items import item_rows
from fewbits.engine._range import find_range, stream_range
from fewbits.engine._search import find_rows

__all__ = [
    "decode_items",
    "find_range",
    "find_rows",
    "group_records",
    "item_rows",
    "stream_range",
]

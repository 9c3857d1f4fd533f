"""Rows that requests find: for answers that are not records."""

from fewbits.engine._items import item_rows
from fewbits.engine._range import find_range
from fewbits.engine._search import find_rows

__all__ = ["find_range", "find_rows", "item_rows"]

"""A working system on disk: one folder <-> one object."""

from fewbits.bundle._attributes import report_of, write_attributes
from fewbits.bundle._bundle import Bundle
from fewbits.bundle._examples import ClassMembers
from fewbits.bundle._items import Items

__all__ = [
    "Bundle",
    "ClassMembers",
    "Items",
    "report_of",
    "write_attributes",
]

"""A working system on disk: one folder <-> one object."""

from fewbits.bundle._bundle import Bundle
from fewbits.bundle._examples import ClassMembers
from fewbits.bundle._items import Items

__all__ = ["Bundle", "ClassMembers", "Items"]

"""Parts for long-running services that read a bundle."""

from fewbits.bundle._asked import StoredItems, has_features
from fewbits.bundle._selection import selected
from fewbits.bundle._stores import folder_state

__all__ = ["StoredItems", "folder_state", "has_features", "selected"]

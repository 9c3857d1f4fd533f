"""Parts for long-running services that read a bundle."""

from fewbits.bundle._asked import StoredItems, has_features
from fewbits.bundle._selection import selected
from fewbits.bundle._stores import folder_state, left_over
from fewbits.bundle._verification import Verification, last_verified, verified

__all__ = [
    "StoredItems",
    "Verification",
    "folder_state",
    "has_features",
    "last_verified",
    "left_over",
    "selected",
    "verified",
]

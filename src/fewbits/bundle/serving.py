"""Functions for long-running services that read a bundle."""

from fewbits.bundle._selection import selected
from fewbits.bundle._stores import folder_state

__all__ = ["folder_state", "selected"]

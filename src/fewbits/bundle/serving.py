"""What a long-running service asks of a bundle beside its methods."""

from fewbits.bundle._selection import selected
from fewbits.bundle._stores import folder_state

__all__ = ["folder_state", "selected"]

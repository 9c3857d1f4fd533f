"""Filters: conditions on the user's columns and on bits of the codes."""

from typing import TYPE_CHECKING

from fewbits._lazy import lazy_names
from fewbits.filters._matching import matching_rows

if TYPE_CHECKING:
    from fewbits.filters._parse import like_patterns
    from fewbits.filters._values import name_of_type
else:  # imports Arrow's functions, which take their time
    __getattr__, __dir__ = lazy_names(
        __name__,
        {
            "like_patterns": "fewbits.filters._parse",
            "name_of_type": "fewbits.filters._values",
        },
    )

__all__ = ["like_patterns", "matching_rows", "name_of_type"]

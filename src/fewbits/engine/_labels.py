"""Names of raw items in a response."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np


def item_label(items: Any, i: int, kind: str = "item") -> str:
    """Return a text or path as it is, or else the kind and the number of a row.

    Examples
    --------
    >>> item_label(["broken arm"], 0), item_label([[0.5]], 0, "query")
    ('broken arm', 'query 0')
    """
    value = items[i] if isinstance(items, Sequence | np.ndarray) else None
    return str(value) if isinstance(value, str | Path) else f"{kind} {i}"

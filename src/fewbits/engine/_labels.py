"""Names of raw items in a response."""

from pathlib import Path
from typing import Any

from fewbits.bundle import Bundle
from fewbits.inputs import as_items


def item_labels(bundle: Bundle, items: Any, n: int, kind: str = "item") -> list[str]:
    """Return texts and paths as they are, else the kind and the number of each row.

    Examples
    --------
    >>> import numpy as np
    >>> from fewbits.encoders import LinearEncoder
    >>> bundle = Bundle(LinearEncoder(np.eye(2), np.zeros(2)))
    >>> item_labels(bundle, [[0.5, 1.0]], 1, "query")
    ['query 0']
    """
    numbered = [f"{kind} {i}" for i in range(n)]
    if bundle.item_kind not in ("texts", "images"):
        return numbered
    given = zip(as_items(items, bundle.item_kind), numbered, strict=True)
    return [str(x) if isinstance(x, str | Path) else number for x, number in given]

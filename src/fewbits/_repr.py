"""Results in one line, however large they are."""

import reprlib
from collections.abc import Mapping, Set
from typing import Any

import numpy as np

_LENGTH = 200  # characters of a result
_SMALL = 16  # entries of an array that is shown
_SHORT = 60  # characters of a value


def short_repr(result: Any) -> str:
    """Return the fields of a dataclass or named tuple in one line.

    Small values are shown; of large arrays the dtype and the shape, of long lists and
    mappings the length. Fields beyond 200 characters are left out.

    Examples
    --------
    >>> import numpy as np
    >>> from fewbits.codes import Neighbours
    >>> ids = np.zeros((1000, 10), np.int64)
    >>> Neighbours(ids[:1, :2], ids)
    Neighbours(distances=array([[0, 0]]), ids=<int64 of shape (1000, 10)>)
    """
    names = getattr(result, "_fields", None) or list(result.__dataclass_fields__)
    shown = type(result).__name__ + "("
    for i, name in enumerate(names):
        part = f"{', ' if i else ''}{name}={_value(getattr(result, name))}"
        if len(shown) + len(part) > _LENGTH:
            return f"{shown}, ...)" if i else f"{shown}...)"
        shown += part
    return f"{shown})"


def _value(value: Any) -> str:
    is_array, text = isinstance(value, np.ndarray), ""
    if isinstance(value, str | bytes):
        shortener = reprlib.Repr()
        shortener.maxstring = shortener.maxother = _SHORT
        return shortener.repr(value)
    is_container = isinstance(value, list | tuple | Mapping | Set)
    is_container = is_container and not hasattr(value, "_fields")
    size = value.size if is_array else len(value) if is_container else 0
    if size <= _SMALL:
        text = " ".join(repr(value).split())
        text = text.replace("[ ", "[") if is_array else text
    if 0 < len(text) <= _SHORT:
        return text
    if is_array:
        return f"<{value.dtype} of shape {value.shape}>"
    kind = type(value).__name__
    return f"<{kind} of {size:,}>" if is_container else f"<{kind}>"

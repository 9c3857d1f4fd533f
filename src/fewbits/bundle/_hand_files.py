"""Files of JSON that people write by hand."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from fewbits.errors import ArgumentError


class _TwiceError(Exception):
    """A key that an object has twice."""


def read_by_hand(
    path: str | Path, what: str, fits: Callable[[str, Any], bool]
) -> dict[str, Any]:
    """Return the object in a file when each of its entries fits.

    Parameters
    ----------
    path : str or Path
    what : str
        What should be there, with an example, for the error message.
    fits : callable
        Takes a key and its value.

    Raises
    ------
    ArgumentError
        When the file holds anything else, or a key twice.
    """
    wrong = ArgumentError(f"{path} holds no {what}")
    try:
        given = json.loads(Path(path).read_text("utf-8"), object_pairs_hook=_once)
    except _TwiceError as twice:
        raise ArgumentError(f"{path} has {twice} twice") from None
    except ValueError:
        raise wrong from None
    if not isinstance(given, dict) or not all(fits(*each) for each in given.items()):
        raise wrong
    return given


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Return an object; Python would silently keep the last of equal keys."""
    found: dict[str, Any] = {}
    for key, value in pairs:
        if key in found:
            raise _TwiceError(repr(key))
        found[key] = value
    return found

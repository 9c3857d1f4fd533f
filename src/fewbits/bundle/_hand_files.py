"""Files of JSON that people write by hand."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from fewbits.errors import ArgumentError


def read_by_hand(
    path: str | Path, what: str, fits: Callable[[str, Any], bool]
) -> dict[str, Any]:
    """Return the object in a file when each of its entries fits.

    Parameters
    ----------
    path : str or Path
    what : str
        What should be there, with an example, for whoever wrote something else.
    fits : callable
        Takes a key and its value.

    Raises
    ------
    ArgumentError
        When the file holds anything else.
    """
    wrong = ArgumentError(f"{path} holds no {what}")
    try:
        given = json.loads(Path(path).read_text("utf-8"))
    except ValueError:
        raise wrong from None
    if not isinstance(given, dict) or not all(fits(*each) for each in given.items()):
        raise wrong
    return given

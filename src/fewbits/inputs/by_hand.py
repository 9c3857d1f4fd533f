"""Files of JSON that people write by hand: trees of classes, and names of bits."""

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

from fewbits.errors import ArgumentError, one_line
from fewbits.inputs._text_files import strict_json

__all__ = ["read_names", "read_tree"]


def read_tree(path: str | Path) -> dict[str, tuple[str, ...]]:
    """Return the groups above each class, from the root on.

    Parameters
    ----------
    path : str or Path
        JSON such as ``{"lynx": ["animal", "cat"], "trout": ["animal", "fish"]}``.

    Raises
    ------
    ArgumentError
        When the file holds anything else, or a class twice.
    """

    def fits(_: str, groups: Any) -> bool:
        return isinstance(groups, list) and all(isinstance(g, str) for g in groups)

    tree = _read(
        path, 'tree such as {"lynx": ["animal", "cat"], "oak": ["plant"]}', fits
    )
    return {name: tuple(groups) for name, groups in tree.items()}


def read_names(path: str | Path) -> dict[int, tuple[str | None, str | None]]:
    """Return names that were given to bits by hand.

    Parameters
    ----------
    path : str or Path
        JSON such as ``{"12": ["animal", "vehicle"], "40": [null, "round"]}``: the names
        of the sides 0 and 1 of a bit, null for the one that is proposed.

    Raises
    ------
    ArgumentError
        When the file holds anything else, or a bit twice.
    """

    def fits(bit: str, sides: Any) -> bool:
        names = isinstance(sides, list) and len(sides) == 2
        names = names and all(isinstance(name, str | None) for name in sides)
        return names and re.fullmatch("0|[1-9][0-9]*", bit) is not None

    names = _read(path, 'names such as {"12": ["animal", "vehicle"]}', fits)
    return {int(bit): (zeros, ones) for bit, (zeros, ones) in names.items()}


def _read(
    path: str | Path, what: str, fits: Callable[[str, Any], bool]
) -> dict[str, Any]:
    """Return the object in a file when each of its entries fits."""
    wrong = f"{path} holds no {what}"
    try:
        content = strict_json(Path(path).read_text("utf-8"))
    except ValueError as error:
        raise ArgumentError(f"{wrong}: {one_line(error)}") from None
    if not isinstance(content, dict) or not all(fits(*e) for e in content.items()):
        raise ArgumentError(wrong)
    return content

"""Items of a collection, with everything that was kept about them."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from fewbits._repr import one_line
from fewbits._typing import IdArray
from fewbits.bundle import Bundle
from fewbits.errors import ArgumentError


@dataclass(frozen=True, eq=False)
class ItemsRequest:
    """Ask for items by their ids, or by their places in the collection.

    Parameters
    ----------
    ids : array-like of int or str, default=None
    positions : array-like of int, default=None
        Rows of the collection, from 0 on.

    Raises
    ------
    ArgumentError
        When not exactly one of them is given.
    """

    ids: Any = None
    positions: Any = None

    def __post_init__(self) -> None:
        if (self.ids is None) == (self.positions is None):
            raise ArgumentError("give exactly one of ids and positions")


@dataclass(frozen=True)
class ItemsResponse:
    """Items in the order in which they were asked for.

    Attributes
    ----------
    items : list of dict
        ``id``, ``columns`` and ``code``, in hexadecimal.
    """

    items: list[dict[str, Any]]

    def __repr__(self) -> str:
        return one_line(self)

    def to_dict(self) -> dict[str, Any]:
        """Return plain values."""
        return {"items": self.items}


def items(bundle: Bundle, request: ItemsRequest) -> ItemsResponse:
    """Return items of the collection.

    Parameters
    ----------
    bundle : Bundle
        With a collection.
    request : ItemsRequest

    Returns
    -------
    ItemsResponse

    Raises
    ------
    ArgumentError
        When there is no such item.
    """
    held, rows = bundle.collection, item_rows(bundle, request)
    codes = [code.tobytes().hex() for code in held.codes_at(rows)]
    known = zip(held.ids_at(rows).tolist(), held.records(rows), codes, strict=True)
    return ItemsResponse(
        [{"id": id, "columns": columns, "code": code} for id, columns, code in known]
    )


def item_rows(bundle: Bundle, request: ItemsRequest) -> IdArray:
    """Return the rows that are asked for."""
    held = bundle.collection
    if request.ids is not None:
        return held.rows(request.ids)
    rows = np.asarray(request.positions)
    if rows.ndim != 1 or (rows.size and rows.dtype.kind not in "iu"):
        raise ArgumentError("positions must be a list of whole numbers")
    if rows.size and not (rows.min() >= 0 and rows.max() < len(held)):
        raise ArgumentError(f"positions must be from 0 to {len(held) - 1}")
    return rows.astype(np.int64)

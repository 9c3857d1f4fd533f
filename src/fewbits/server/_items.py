"""Items of a collection: samples of them, and their columns as plain values."""

from typing import Any

import numpy as np

from fewbits._arrow import python_rows
from fewbits._typing import IdArray
from fewbits.collection import Collection, tools
from fewbits.errors import ArgumentError
from fewbits.store import CODE


def check_filled(collection: Collection) -> None:
    """Refuse a collection of which nothing can be said."""
    if not len(collection):
        raise ArgumentError("the collection is empty")


def sampled(n: int, most: int) -> IdArray:
    """Return all positions, or `most` that are drawn with a fixed seed, in order."""
    if n <= most:
        return np.arange(n)
    sample: IdArray = np.sort(np.random.default_rng(0).choice(n, most, replace=False))
    return sample


def affordable(most: int, n_bits: int, usual: int, power: int) -> int:
    """Return how many items cost as much as `most` of codes of `usual` bits.

    Costs grow with a power of the length; of shorter codes `most` are taken, too.

    Examples
    --------
    >>> affordable(10_000, 64, 512, 2), affordable(10_000, 1024, 512, 2)
    (10000, 2500)
    """
    return max(1, int(most * min(1.0, usual / n_bits) ** power))


def records(collection: Collection, positions: IdArray) -> list[dict[str, Any]]:
    """Return ``id`` and ``columns`` of the items at some positions."""
    return records_of(tools.take(collection, positions))


def records_of(table: Any) -> list[dict[str, Any]]:
    """Return the items of `tools.take` as plain values, with ``code`` if there."""
    id_name, *names = [name for name in table.column_names if name != CODE]
    pairs = zip(
        table[id_name].to_pylist(), python_rows(table.select(names)), strict=True
    )
    items = [{"id": id, "columns": row} for id, row in pairs]
    if CODE in table.column_names:
        for item, code in zip(items, table[CODE].to_pylist(), strict=True):
            item["code"] = code.hex()
    return items

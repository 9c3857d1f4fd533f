"""Colours of points: a byte for each, and a legend."""

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fewbits._checks import check_bit
from fewbits._repr import one_line
from fewbits._typing import CodeArray
from fewbits.bundle import Bundle
from fewbits.codes import as_codes, check_unused, hamming_distances, n_bytes
from fewbits.engine.maps._collection_map import CollectionMap
from fewbits.errors import ArgumentError, CodeError

#: Classes with a colour of their own; all others have `REST`, missing ones `MISSING`.
N_CLASSES, REST, MISSING = 10, 254, 255
_FARTHEST = 253  # the last value of a scale


@dataclass(frozen=True, eq=False)
class MapColours:
    """A byte for each point, and what the bytes mean.

    Attributes
    ----------
    values : ndarray of shape (n_points,), dtype uint8
        In the order of the map.
    kind : {"classes", "bit", "scale"}
        Places in `legend`, where 254 are the rest of the classes and 255 items without
        one; values of a bit; or steps of a scale from 0 to 253.
    legend : list of dict
        Of classes and bits: ``label`` and ``count`` of each value, in order.
    rest : dict or None
        ``n_classes`` and ``count`` of the classes that share a colour.
    scale : dict or None
        ``low``, ``high`` and ``unit`` of what 0 and 253 stand for.
    """

    values: NDArray[np.uint8] = field(repr=False)
    kind: str
    legend: list[dict[str, Any]]
    rest: dict[str, int] | None = None
    n_missing: int = 0
    scale: dict[str, Any] | None = None

    def __repr__(self) -> str:
        return one_line(self)

    def to_dict(self) -> dict[str, Any]:
        """Return everything but the values as plain values."""
        return {
            "kind": self.kind,
            "legend": self.legend,
            "rest": self.rest,
            "n_missing": self.n_missing,
            "scale": self.scale,
        }


def map_colours(
    bundle: Bundle,
    found: CollectionMap,
    by: str,
    *,
    id: Any = None,
    code: str | None = None,
) -> MapColours:
    """Colour the points of a map.

    Parameters
    ----------
    bundle : Bundle
    found : CollectionMap
        Of its collection.
    by : str
        ``class:COLUMN``; ``bit:NUMBER``; ``distance``, in bits from an item or a code;
        or ``trust``, the share of true neighbours that the map keeps around a point.
    id : int or str, default=None
        The item from which distances are measured.
    code : str, default=None
        The code from which they are measured, in hexadecimal.

    Returns
    -------
    MapColours

    Raises
    ------
    ArgumentError
        When it is none of these, there is no such column, bit or item, or not exactly
        one of `id` and `code` is given for distances alone.
    CodeError
        When the code is not one.
    """
    kind, _, name = by.partition(":")
    if kind != "distance" and not (id is None and code is None):
        raise ArgumentError("id and code are for colours by distance")
    if kind == "class" and name:
        return _by_class(bundle, found, name)
    if kind == "bit" and name.isascii() and name.isdecimal():
        return _by_bit(found, check_bit(int(name), bundle.encoder.n_bits))
    if by == "distance":
        return _by_distance(found, _asked(bundle, id, code))
    if by == "trust":
        return _by_trust(found)
    raise ArgumentError(
        f"colours are by class:COLUMN, bit:NUMBER, distance or trust, got {by!r}"
    )


def _by_class(bundle: Bundle, found: CollectionMap, name: str) -> MapColours:
    import pyarrow.compute as pc

    items = bundle.collection
    if name not in items.columns:
        items.column(name)  # says which there are
    column = items.table_at(found.rows, [name])[name].combine_chunks()
    numbers = items.group_numbers(name, found.rows)
    counts = np.bincount(numbers)
    first = np.unique(numbers, return_index=True)[1]
    labels = column.take(first).to_pylist()
    there = [i for i, label in enumerate(labels) if label is not None]
    there.sort(key=lambda i: (-counts[i], str(labels[i])))
    shown, rest = there[:N_CLASSES], there[N_CLASSES:]
    values = np.full(len(counts), MISSING, np.uint8)
    values[rest] = REST
    values[shown] = np.arange(len(shown))
    return MapColours(
        values[numbers],
        "classes",
        [{"label": labels[i], "count": int(counts[i])} for i in shown],
        {"n_classes": len(rest), "count": int(counts[rest].sum())} if rest else None,
        int(pc.sum(column.is_null()).as_py() or 0),
    )


def _by_bit(found: CollectionMap, bit: int) -> MapColours:
    values = (found.codes[:, bit // 8] >> (7 - bit % 8) & 1).astype(np.uint8)
    ones = int(values.sum())
    legend = [{"label": 0, "count": len(found) - ones}, {"label": 1, "count": ones}]
    return MapColours(values, "bit", legend)


def _asked(bundle: Bundle, id: Any, code: str | None) -> CodeArray:
    if (id is None) == (code is None):
        raise ArgumentError("give exactly one of id and code to measure distances from")
    if code is None:
        rows = bundle.collection.rows([id])
        return bundle.collection.codes_at(rows)
    try:
        given = np.frombuffer(bytes.fromhex(code), np.uint8)
    except ValueError:
        raise CodeError(f"a code in hexadecimal is needed, got {code!r}") from None
    if len(given) != n_bytes(bundle.encoder.n_bits):
        raise CodeError(
            f"codes have {n_bytes(bundle.encoder.n_bits)} bytes, got {len(given)}"
        )
    codes = as_codes(given[None].copy(), bundle.encoder.n_bits)
    check_unused(codes, bundle.encoder.n_bits, "codes")
    return codes


def _by_distance(found: CollectionMap, code: CodeArray) -> MapColours:
    distances = hamming_distances(code, found.codes)[0]
    return _scale(distances.astype(np.float64), "bits")


def _by_trust(found: CollectionMap) -> MapColours:
    return _scale(found.trust.around(found.places), "share")


def _scale(measures: NDArray[np.float64], unit: str) -> MapColours:
    low, high = float(measures.min()), float(measures.max())
    steps = np.rint((measures - low) * (_FARTHEST / ((high - low) or 1.0)))
    scale = {"low": low, "high": high, "unit": unit}
    return MapColours(steps.astype(np.uint8), "scale", [], scale=scale)

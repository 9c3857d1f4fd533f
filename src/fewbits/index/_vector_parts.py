"""Vectors of a collection that lie in several places, such as segments of a store."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fewbits._live import LiveRows
from fewbits._repr import one_line
from fewbits._typing import IdArray
from fewbits.errors import ArgumentError
from fewbits.index._int8 import Int8Vectors

Stored = NDArray[Any] | Int8Vectors


@dataclass(frozen=True, eq=False, repr=False)
class VectorPart:
    """A run of vectors.

    Parameters
    ----------
    vectors : ndarray or Int8Vectors
    live : ndarray of bool or None
        Those that belong to the collection; None where all do.
    check : callable or None
        Called with places before their vectors are read; raises where these are
        damaged.
    """

    vectors: Stored
    live: NDArray[np.bool_] | None = None
    check: Callable[[IdArray], None] | None = None

    def __repr__(self) -> str:
        return one_line(self)

    def __len__(self) -> int:
        if self.live is None:
            return len(self.vectors)
        return int(np.count_nonzero(self.live))

    @cached_property
    def _live_rows(self) -> LiveRows:
        return LiveRows(self.live)

    def at(self, rows: IdArray) -> IdArray:
        """Turn rows into places that may be read; -1 stays."""
        rows = self._live_rows.places(rows)
        if self.check is not None:
            self.check(np.unique(rows[rows >= 0]))
        return rows


class VectorParts:
    """Several runs of vectors, addressed by the row in the collection.

    Parameters
    ----------
    parts : sequence of VectorPart
        All of the same kind, dtype and number of features.

    Raises
    ------
    ArgumentError
        When there is none, or they differ.
    """

    __slots__ = ("_parts", "_starts")
    _parts: tuple[VectorPart, ...]
    _starts: tuple[int, ...]

    def __init__(self, parts: Sequence[VectorPart]) -> None:
        kinds = {_kind(part.vectors) for part in parts}
        if len(kinds) != 1:
            raise ArgumentError(f"parts must hold vectors of one kind, got {kinds}")
        own = super().__setattr__
        own("_parts", tuple(parts))
        own("_starts", tuple(accumulate(map(len, parts), initial=0)))

    def __setattr__(self, name: str, value: Any) -> None:
        raise AttributeError(f"VectorParts are immutable, got another {name}")

    def __len__(self) -> int:
        return self._starts[-1]

    def __repr__(self) -> str:
        n, d = self.shape
        return f"VectorParts({n:,} vectors of {d:,} features)"

    def __reduce__(self) -> tuple[Any, ...]:
        parts = [VectorPart(part.vectors, part.live) for part in self._parts]
        return type(self), (parts,)

    @property
    def shape(self) -> tuple[int, int]:
        """``(n, n_features)``."""
        return len(self), self._parts[0].vectors.shape[1]

    @property
    def first(self) -> Stored:
        """The first run, whose kind and dtype all have."""
        return self._parts[0].vectors

    def inside(self, rows: IdArray) -> Sequence[tuple[Stored, IdArray]]:
        """Return for each run where in it `rows` are, -1 for those that are not."""
        found = []
        ends = zip(self._parts, self._starts, self._starts[1:], strict=False)
        for part, start, stop in ends:
            here = (rows >= start) & (rows < stop)
            if here.any():
                places = part.at(np.where(here, rows - start, -1))
                found.append((part.vectors, places))
        return found

    def take(self, rows: IdArray) -> NDArray[Any]:
        """Return the vectors of some rows as floats, in the dtype that is stored."""
        chosen = np.asarray(rows)
        dtype = np.float32 if isinstance(self.first, Int8Vectors) else self.first.dtype
        taken = np.empty((len(chosen), self.shape[1]), dtype)
        for vectors, places in self.inside(chosen):
            here = places >= 0
            if isinstance(vectors, Int8Vectors):
                taken[here] = vectors.to_float(places[here])
            else:
                taken[here] = vectors[places[here]]
        return taken


def _kind(vectors: Stored) -> tuple[str, int]:
    name = "int8" if isinstance(vectors, Int8Vectors) else str(vectors.dtype)
    return name, vectors.shape[1]

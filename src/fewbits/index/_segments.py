"""A list of segments as one collection of codes and ids."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fewbits._allowed import as_allowed
from fewbits._frozen import read_only
from fewbits._typing import CodeArray, IdArray
from fewbits.errors import ArgumentError
from fewbits.index._ids import as_ids, find_ids
from fewbits.index._segment import Segment, take

_SMALL = 1 << 16  # rows: up to here a segment grows, beyond it a new one begins
Masks = Sequence[NDArray[np.bool_] | None]


@dataclass(frozen=True, eq=False)
class Segments:
    """One segment or more. The ids of each are larger than all of those before.

    Places count through the segments, removed ones included, so that (distance, place)
    orders answers by (distance, id), whatever the segments.
    """

    parts: tuple[Segment, ...]

    @classmethod
    def of(cls, codes: CodeArray, ids: IdArray) -> Self:
        return cls((Segment.of(codes, ids),))

    @classmethod
    def of_parts(cls, parts: Iterable[tuple[Any, ...]]) -> Self:
        """Take (codes, ids, live, tables) as they are; ids rise through all parts."""
        return cls(tuple(Segment(c, i, len(i), None, *rest) for c, i, *rest in parts))

    def __len__(self) -> int:
        return self._n_live

    @cached_property
    def _n_live(self) -> int:
        return sum(part.n_live for part in self.parts)

    @property
    def width(self) -> int:
        return int(self.parts[0].code_room.shape[1])

    @cached_property
    def starts(self) -> tuple[int, ...]:
        """The first place of each segment, and the number of places."""
        return tuple(accumulate(map(len, self.parts), initial=0))

    @cached_property
    def given(self) -> tuple[CodeArray, IdArray]:
        """Codes and ids in the order given, read-only."""
        if len(self.parts) == 1:
            return self.parts[0].given
        codes, ids = zip(*(part.given for part in self.parts), strict=True)
        return read_only(np.concatenate(codes)), read_only(np.concatenate(ids))

    def ids_at(self, places: IdArray) -> IdArray:
        """Return the ids at places; -1 stays."""
        if len(self.parts) == 1:
            return take(self.parts[0].ids, places)
        ids = np.full(places.shape, -1, np.int64)
        for part, start, inside in self._inside(places):
            ids[inside] = part.ids[places[inside] - start]
        return ids

    def rows_at(self, places: IdArray) -> IdArray:
        """Return the rows at places, in the order given; -1 stays."""
        if len(self.parts) == 1:
            return self.parts[0].rows(places)
        rows, before = np.full(places.shape, -1, np.int64), 0
        for part, start, inside in self._inside(places):
            rows[inside] = part.rows(places[inside] - start) + before
            before += part.n_live
        return rows

    def codes_at(self, places: IdArray) -> tuple[CodeArray, IdArray]:
        """Return codes, and where among them the codes at places are; -1 stays."""
        if len(self.parts) == 1:
            return self.parts[0].codes, places
        codes = np.zeros((places.size, self.width), np.uint8)
        for part, start, inside in self._inside(places.ravel()):
            codes[inside] = part.codes[places.ravel()[inside] - start]
        each = np.arange(places.size).reshape(places.shape)
        return codes, np.where(places < 0, -1, each)

    def by_place(self, masks: Masks) -> tuple[CodeArray, NDArray[np.bool_] | None]:
        """Return all codes in one array, and one mask; None for all."""
        if len(self.parts) == 1:
            return self.parts[0].codes, masks[0]
        codes = np.concatenate([part.codes for part in self.parts])
        if all(mask is None for mask in masks):
            return codes, None
        every = [
            np.ones(len(part), np.bool_) if mask is None else mask
            for part, mask in zip(self.parts, masks, strict=True)
        ]
        return codes, np.concatenate(every)

    def masks(self, allowed: ArrayLike | None) -> Masks:
        """Return which places of each segment may be found, None for all."""
        if allowed is None:
            return [part.live_places for part in self.parts]
        chosen = as_allowed(allowed, len(self))
        if chosen.dtype == np.bool_ and len(self.parts) == 1:
            return [self.parts[0].places(chosen)]
        if chosen.dtype == np.bool_:
            ends = list(accumulate(part.n_live for part in self.parts))
            each = np.split(chosen, ends[:-1])
            return [p.places(m) for p, m in zip(self.parts, each, strict=True)]
        mask = np.zeros(self.starts[-1], np.bool_)
        mask[self.locate(as_ids(chosen, "allowed"), "allowed")] = True
        return np.split(mask, self.starts[1:-1])

    def find(self, ids: IdArray) -> tuple[IdArray, NDArray[np.bool_]]:
        """Return the place of each id, and whether it is there."""
        if len(self.parts) == 1:
            return self._find(self.parts[0], ids)
        places, found = np.zeros(len(ids), np.int64), np.zeros(len(ids), np.bool_)
        for part, start in zip(self.parts, self.starts, strict=False):
            own, there = self._find(part, ids)
            places[there], found = own[there] + start, found | there
        return places, found

    def locate(self, ids: IdArray, name: str) -> IdArray:
        """Return the place of each id; all must be there."""
        places, found = self.find(ids)
        if not found.all():
            unknown = ids[~found]
            raise ArgumentError(
                f"{name} must be ids of the index, {unknown.size} are not: "
                f"{unknown[0]} is the first"
            )
        return places

    def largest(self) -> int:
        """Return the largest id, -1 for none."""
        return _last_id(self.parts[-1])

    def added(self, codes: CodeArray, ids: IdArray) -> Self:
        """Append. Segments with ids that are larger than a new one are joined."""
        lowest, parts = int(ids.min()), list(self.parts)
        later: list[Segment] = []
        while parts and int(parts[-1].ids[-1:].max(initial=-1)) >= lowest:
            later.insert(0, parts.pop().compact())
        while later and _last_id(later[0]) < lowest:
            parts.append(later.pop(0))
        parts += [_joined(later)] if later else []
        return type(self)(_tidied(_grown(parts, codes, ids, lowest)))

    def without(self, places: IdArray) -> Self:
        """Mark the rows at some places as removed."""
        parts = list(self.parts)
        for number, (part, start) in enumerate(zip(parts, self.starts, strict=False)):
            own = places[(places >= start) & (places < start + len(part))] - start
            if own.size:
                parts[number] = part.without(own)
        return type(self)(tuple(p for p in parts if p.size) or (parts[0],))

    def shared(self) -> Self:
        return type(self)(tuple(part.shared() for part in self.parts))

    def copied(self) -> Self:
        """Return the same in one segment that shares nothing."""
        codes, ids = self.given
        return self.of(np.array(codes), np.array(ids))

    def frozen(self) -> Self:
        return type(self)(tuple(part.frozen() for part in self.parts))

    def _find(self, part: Segment, ids: IdArray) -> tuple[IdArray, NDArray[np.bool_]]:
        places, found = find_ids(ids, part.ids)
        if part.live_places is not None:
            found[found] = part.live_places[places[found]]
        return places, found

    def _inside(
        self, places: IdArray
    ) -> Iterable[tuple[Segment, int, NDArray[np.bool_]]]:
        for part, start in zip(self.parts, self.starts, strict=False):
            yield part, start, (places >= start) & (places < start + len(part))


def _last_id(part: Segment) -> int:
    """Return the largest id that is not removed, -1 for none."""
    if not part.size:
        return -1
    live = part.live_places
    return int(part.ids[-1 if live is None else np.flatnonzero(live)[-1]])


def _grown(
    parts: list[Segment], codes: CodeArray, ids: IdArray, lowest: int
) -> list[Segment]:
    """Append to the last segment if it is small or must take the ids."""
    last = parts[-1]
    if last.size <= _SMALL or _last_id(last) >= lowest:
        return [*parts[:-1], last.added(codes, ids)]
    return [*parts, Segment.of(codes.copy(), ids.copy())]


def _tidied(parts: list[Segment]) -> tuple[Segment, ...]:
    """Join the last ones until each is at least twice as long as the next.

    So there are few, and over many additions a code is copied a few times only.
    """
    while len(parts) > 1 and parts[-2].size < 2 * parts[-1].size:
        parts = [*parts[:-2], _joined(parts[-2:])]
    return tuple(parts)


def _joined(parts: list[Segment]) -> Segment:
    if len(parts) == 1:
        return parts[0]
    codes, ids = zip(*(part.given for part in parts), strict=True)
    return Segment.of(np.concatenate(codes), np.concatenate(ids))

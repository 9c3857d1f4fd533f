"""Chunks of the codes of an index, each in the order of its ids, with a mask."""

from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fewbits._allowed import plain_array
from fewbits._frozen import frozen_array, read_only
from fewbits._rank_select import RankSelect
from fewbits._typing import CodeArray, IdArray
from fewbits.errors import ArgumentError

if TYPE_CHECKING:
    from fewbits.index._tables import LazyTables

Mask = NDArray[np.bool_]


class Chunk:
    """Some codes, whose ids rise. A value: additions and removals make another.

    The *id* of a code is what answers name; in the index of a collection it is the row.
    Its *position* is where it stands in these arrays, in the order of the ids, by which
    equal distances are ordered. A caller's masks and vectors are in the order in which
    codes came, without those removed; `caller_positions` are positions in these.

    `ids` are a range where they count on from the first, which is `first_id` then, and
    nothing is looked up. `live` is a mask of the `n_live` positions that are left, None
    for all, and `live_bits` the same as kernels take it. `tables` are of the codes, and
    shared with other indexes over them; None until a search needs them. `insertion` is
    where each position is in the order in which codes came, removed ones included; None
    where that is the order of the ids.
    """

    __slots__ = (
        "_inserted",
        "_ranks",
        "codes",
        "first_id",
        "ids",
        "insertion",
        "live",
        "live_bits",
        "n_live",
        "tables",
    )

    def __init__(
        self,
        codes: CodeArray,
        ids: IdArray | range,
        live: Mask | None = None,
        tables: "LazyTables | None" = None,
        insertion: IdArray | None = None,
    ) -> None:
        self.codes, self.live, self.insertion = codes, live, insertion
        self.ids = ids if len(ids) else np.empty(0, np.int64)
        self.tables = tables
        self.n_live = len(ids) if live is None else int(np.count_nonzero(live))
        self.live_bits = None if live is None else np.packbits(live)
        dense = len(ids) > 0 and int(ids[-1]) - int(ids[0]) == len(ids) - 1
        self.first_id = int(ids[0]) if dense else None
        self._inserted: tuple[CodeArray, IdArray] | None = None
        self._ranks: RankSelect | None = None

    @classmethod
    def of(cls, codes: CodeArray, ids: IdArray) -> Self:
        """Return a chunk of codes with ids in any order, of which it has copies.

        Memory maps opened for reading stay what they are, and are not copied.
        """
        insertion = None
        if not rising(ids):
            insertion = np.argsort(ids)
            codes, ids = codes[insertion], ids[insertion]
        chunk = cls(frozen_array(codes), ids, insertion=insertion)
        first, n = chunk.first_id, len(ids)
        chunk.ids = frozen_array(ids) if first is None else range(first, first + n)
        return chunk

    def __len__(self) -> int:
        return len(self.codes)

    def ids_at(self, positions: Any) -> Any:
        """Return the ids at some positions."""
        if self.first_id is not None:
            return self.first_id + positions
        return self.ids[positions]

    @property
    def last_id(self) -> int:
        """The largest id that is left, -1 for none."""
        if not self.n_live:
            return -1
        last = len(self) - 1 if self.live is None else np.flatnonzero(self.live)[-1]
        return int(self.ids_at(last))

    def inserted(self) -> tuple[CodeArray, IdArray]:
        """Return what is left in the order in which it came, read-only."""
        if self._inserted is None:
            codes, ids, live = self.codes, self.ids, self.live
            if isinstance(ids, range):
                ids = np.arange(ids.start, ids.stop)
            if self.insertion is not None:
                positions = np.argsort(self.insertion)
                codes, ids = codes[positions], ids[positions]
                live = None if live is None else live[positions]
            if live is not None:
                codes, ids = codes[live], ids[live]
            self._inserted = read_only(codes), read_only(ids)
        return self._inserted

    def caller_positions(self, positions: IdArray) -> IdArray:
        """Return where codes that are left are in a caller's arrays; -1 stays."""
        if self.insertion is not None:
            positions = np.where(positions < 0, -1, self.insertion[positions])
        if self.live is None:
            return positions
        if self._ranks is None:
            self._ranks = RankSelect(self._by_insertion(self.live))
        return self._ranks.rank(positions)

    def mask_of(self, allowed: Mask) -> Mask:
        """Turn a mask of a caller into one over positions."""
        mask = allowed
        if self.live is not None:
            mask = np.zeros(len(self), np.bool_)
            mask[self._by_insertion(self.live)] = allowed
        return mask if self.insertion is None else mask[self.insertion]

    def _by_insertion(self, mask: Mask) -> Mask:
        """Turn a mask over positions into one in the order in which codes came."""
        if self.insertion is None:
            return mask
        moved = np.empty_like(mask)
        moved[self.insertion] = mask
        return moved

    def find(self, ids: IdArray) -> tuple[IdArray, Mask]:
        """Return the position of each id, and whether it is left there."""
        if not len(self):
            return np.zeros(len(ids), np.int64), np.zeros(len(ids), np.bool_)
        if self.first_id is not None:
            positions = ids - self.first_id
            is_there = (positions >= 0) & (positions < len(self))
        else:
            positions = np.minimum(np.searchsorted(self.ids, ids), len(self) - 1)
            is_there = self.ids_at(positions) == ids
        if self.live is not None:
            is_there[is_there] = self.live[positions[is_there]]
        return positions, is_there

    def without(self, positions: IdArray) -> Self:
        """Mark positions as removed; less than half a chunk is made anew."""
        live = np.ones(len(self), np.bool_) if self.live is None else self.live
        live = live.copy()
        live[positions] = False
        marked = type(self)(self.codes, self.ids, live, self.tables, self.insertion)
        return marked if 2 * marked.n_live >= len(self) else self.of(*marked.inserted())


def rising(ids: IdArray) -> bool:
    """Return whether each id is larger than the one before."""
    return bool((ids[1:] > ids[:-1]).all())


def whole_ids(ids: ArrayLike, name: str = "ids") -> IdArray:
    """Return a list of ids, whole numbers from 0 to 2**63 - 1; -1 means no answer."""
    array = plain_array(ids, name)
    if array.size == 0 and array.ndim == 1:
        return np.empty(0, np.int64)
    if array.ndim != 1 or array.dtype.kind not in "iu":
        raise ArgumentError(
            f"{name} must be a list of whole numbers, "
            f"got dtype {array.dtype} and shape {array.shape}"
        )
    if array.min() < 0 or array.max() > np.iinfo(np.int64).max:
        wrong = array.min() if array.min() < 0 else array.max()
        raise ArgumentError(f"{name} must lie between 0 and 2**63 - 1, got {wrong}")
    return array.astype(np.int64, copy=False)


def ids_of_new(ids: ArrayLike | None, n: int, largest: int) -> IdArray:
    """Return `n` unique ids, or those that follow the largest, -1 for none."""
    if ids is None:
        if largest + 1 + n > np.iinfo(np.int64).max:
            raise ArgumentError(f"no ids are left after {largest}; give ids")
        return np.arange(largest + 1, largest + 1 + n, dtype=np.int64)
    new = whole_ids(ids)
    if len(new) != n:
        raise ArgumentError(f"need one id per code, got {len(new)} ids for {n} codes")
    if not rising(new):
        ordered = np.sort(new)
        twice = np.flatnonzero(ordered[1:] == ordered[:-1])
        if twice.size:
            raise ArgumentError(f"ids must be unique, got {ordered[twice[0]]} twice")
    return new

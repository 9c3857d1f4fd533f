"""A run of codes with permanent numbers and a mask of those that are left."""

from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fewbits._allowed import plain_array
from fewbits._frozen import frozen_array, read_only
from fewbits._live import LiveRows
from fewbits._typing import CodeArray, IdArray
from fewbits.errors import ArgumentError
from fewbits.index._tables import TableCache

Mask = NDArray[np.bool_]


class Segment:
    """Codes with ids that rise. A value: additions and removals make another.

    A *position* is one in these arrays, which are in the order of the ids, in which
    ties are answered. The `given` are without removed ones, in the order in which they
    came.

    Parameters
    ----------
    codes : ndarray of shape (n, n_bytes), dtype uint8
    ids : ndarray of shape (n,), dtype int64, or range
        They rise; a range where they count on from the first.
    live : ndarray of bool, shape (n,), default=None
        The positions that are left; None for all.
    tables : TableCache, default=None
        Tables of the codes, shared with other indexes over them.
    order : ndarray of shape (n,), default=None
        The number of each position in the order in which codes came; None where that is
        the order of the ids.
    """

    __slots__ = (
        "_given",
        "_ids",
        "_live_bits",
        "_live_rows",
        "codes",
        "first_id",
        "live",
        "n_live",
        "order",
        "tables",
    )

    def __init__(
        self,
        codes: CodeArray,
        ids: IdArray | range,
        live: Mask | None = None,
        tables: TableCache | None = None,
        order: IdArray | None = None,
    ) -> None:
        self.codes, self.live, self.order = codes, live, order
        self.tables = TableCache() if tables is None else tables
        self.n_live = len(ids) if live is None else int(np.count_nonzero(live))
        # Where ids count on from the first, nothing has to be looked up.
        dense = len(ids) > 0 and int(ids[-1]) - int(ids[0]) == len(ids) - 1
        self.first_id = int(ids[0]) if dense else None
        self._ids = ids
        self._live_bits: NDArray[np.uint8] | None = None
        self._live_rows: LiveRows | None = None
        self._given: tuple[CodeArray, IdArray] | None = None

    @classmethod
    def of(cls, codes: CodeArray, ids: IdArray) -> Self:
        """Return a segment of codes with ids in any order, of which it has copies.

        Memory maps opened for reading stay what they are, and are not copied.
        """
        if rising(ids):
            return cls(codes, ids).frozen()
        order = np.argsort(ids)
        return cls(codes[order], ids[order], order=order).frozen()

    def __len__(self) -> int:
        return len(self.codes)

    @property
    def ids(self) -> IdArray:
        """The id at each position."""
        if isinstance(self._ids, range):
            self._ids = read_only(np.arange(self._ids.start, self._ids.stop))
        return self._ids

    def ids_at(self, positions: Any) -> Any:
        return (
            self.ids[positions] if self.first_id is None else self.first_id + positions
        )

    @property
    def live_bits(self) -> NDArray[np.uint8] | None:
        """The mask of positions that are left as kernels take it, None for all."""
        if self._live_bits is None and self.live is not None:
            self._live_bits = np.packbits(self.live)
        return self._live_bits

    @property
    def last_id(self) -> int:
        """The largest id that is left, -1 for none."""
        if not self.n_live:
            return -1
        last = len(self) - 1 if self.live is None else np.flatnonzero(self.live)[-1]
        return int(self.ids_at(last))

    @property
    def given(self) -> tuple[CodeArray, IdArray]:
        """Codes and ids that are left, in the order in which they came, read-only."""
        if self._given is None:
            codes, ids, live = self.codes, self.ids, self.live
            if self.order is not None:
                positions = np.argsort(self.order)
                codes, ids = codes[positions], ids[positions]
                live = None if live is None else live[positions]
            if live is not None:
                codes, ids = codes[live], ids[live]
            self._given = read_only(codes), read_only(ids)
        return self._given

    def given_at(self, positions: IdArray) -> IdArray:
        """Return which of the `given` are at positions that are left; -1 stays."""
        if self.order is not None:
            positions = np.where(positions < 0, -1, self.order[positions])
        if self.live is None:
            return positions
        if self._live_rows is None:
            self._live_rows = LiveRows(self._in_order(self.live))
        return self._live_rows.rows(positions)

    def mask_of(self, chosen: Mask) -> Mask:
        """Turn a mask over the `given` into one over the positions."""
        mask = chosen
        if self.live is not None:
            mask = np.zeros(len(self), np.bool_)
            mask[self._in_order(self.live)] = chosen
        return mask if self.order is None else mask[self.order]

    def find(self, ids: IdArray) -> tuple[IdArray, Mask]:
        """Return the position of each id, and whether it is left there."""
        if not len(self):
            return np.zeros(len(ids), np.int64), np.zeros(len(ids), np.bool_)
        if self.first_id is not None:
            positions = ids - self.first_id
            there = (positions >= 0) & (positions < len(self))
        else:
            positions = np.minimum(np.searchsorted(self.ids, ids), len(self) - 1)
            there = self.ids[positions] == ids
        if self.live is not None:
            there[there] = self.live[positions[there]]
        return positions, there

    def without(self, positions: IdArray) -> Self:
        """Mark positions as removed; less than half a segment is made anew."""
        live = np.ones(len(self), np.bool_) if self.live is None else self.live
        live = live.copy()
        live[positions] = False
        marked = type(self)(self.codes, self._ids, live, self.tables, self.order)
        return marked if 2 * marked.n_live >= len(self) else self.of(*marked.given)

    def frozen(self) -> Self:
        """Return the same in arrays that cannot change, with nothing left to do."""
        codes = frozen_array(self.codes)
        live = None if self.live is None else frozen_array(self.live)
        ids: IdArray | range
        if self.first_id is None:
            ids = frozen_array(self.ids)
        else:
            ids = range(self.first_id, self.first_id + len(self))
        # Tables of codes that could still change are not those of the copy.
        tables = self.tables if codes is self.codes else None
        return type(self)(codes, ids, live, tables, self.order)

    def _in_order(self, mask: Mask) -> Mask:
        """Turn a mask over the positions into one in the order in which codes came."""
        if self.order is None:
            return mask
        moved = np.empty_like(mask)
        moved[self.order] = mask
        return moved


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


def new_ids(ids: ArrayLike | None, n: int, largest: int) -> IdArray:
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

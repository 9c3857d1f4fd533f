"""Row ids: chosen by the caller, unique, and the order in which ties are answered."""

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fewbits._allowed import plain_array
from fewbits._typing import IdArray
from fewbits.errors import ArgumentError


def as_ids(ids: ArrayLike, name: str = "ids") -> IdArray:
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


def rising(ids: IdArray) -> bool:
    """Return whether each id is larger than the one before."""
    return bool((ids[1:] > ids[:-1]).all())


def check_unique(ordered: IdArray) -> None:
    """Refuse sorted ids that repeat."""
    twice = np.flatnonzero(ordered[1:] == ordered[:-1])
    if twice.size:
        raise ArgumentError(f"ids must be unique, got {ordered[twice[0]]} twice")


def find_ids(ids: IdArray, ordered: IdArray) -> tuple[IdArray, NDArray[np.bool_]]:
    """Return where each id is among the sorted ones, and whether it is there."""
    if not ordered.size:
        return np.zeros(len(ids), np.int64), np.zeros(len(ids), np.bool_)
    if ordered[0] == 0 and ordered[-1] == len(ordered) - 1:
        return ids, ids < len(ordered)  # the numbers of the rows: nothing to search
    places = np.minimum(np.searchsorted(ordered, ids), len(ordered) - 1)
    return places, ordered[places] == ids


def next_ids(largest: int, n: int) -> IdArray:
    """Return `n` ids after the largest, -1 for none."""
    if largest + 1 + n > np.iinfo(np.int64).max:
        raise ArgumentError(f"no ids are left after {largest}; give ids")
    return np.arange(largest + 1, largest + 1 + n, dtype=np.int64)


def new_ids(ids: ArrayLike | None, n: int, largest: int) -> IdArray:
    """Return `n` unique ids, or those that follow the largest."""
    if ids is None:
        return next_ids(largest, n)
    new = as_ids(ids)
    if len(new) != n:
        raise ArgumentError(f"need one id per code, got {len(new)} ids for {n} codes")
    if not rising(new):
        check_unique(np.sort(new))
    return new

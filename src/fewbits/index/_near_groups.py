"""Groups of near codes: those that pairs connect, without keeping the pairs."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from fewbits._repr import short_repr
from fewbits._spans import spans
from fewbits._typing import CodeArray, IdArray
from fewbits.codes import as_words
from fewbits.errors import ArgumentError
from fewbits.index._chunk import Mask
from fewbits.index._pairs import near_pairs

_BLOCK = 1 << 16  # pairs that are joined at a time

#: Says of pairs of ids, (n, 2), which of them count.
Confirm = Callable[[IdArray], Mask]


@dataclass(frozen=True, eq=False, repr=False)
class Groups:
    """Groups of items that are connected by pairs, in the order of their first items.

    Two items of a group need not be a pair: each may be one with a third. ``len`` is
    the number of groups, and iteration gives the members of one after the other.

    Attributes
    ----------
    offsets : ndarray of shape (n_groups + 1,), dtype int64
        Where each group begins among the members.
    members : ndarray of shape (n_items,), dtype int64
        Ids in an `Index`; they rise in a group.
    n_pairs : int
        Pairs that connect them.
    """

    offsets: IdArray
    members: IdArray
    n_pairs: int

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def __getitem__(self, number: int) -> IdArray:
        number = range(len(self))[number]
        return self.members[self.offsets[number] : self.offsets[number + 1]]

    def __iter__(self) -> Iterator[IdArray]:
        return (self[number] for number in range(len(self)))

    def __repr__(self) -> str:
        return short_repr(self)


def near_groups(
    codes: CodeArray,
    radius: int,
    mask: Mask | None,
    ids_at: Callable[[IdArray], IdArray],
    confirm: Confirm | None,
    max_pairs: int | None,
) -> Groups:
    """Return the groups of allowed positions that pairs within a radius connect.

    Equal codes are joined by sorting, so that only pairs of distinct codes are found;
    unless pairs are to be confirmed, one by one.
    """
    sets, kind, first, n_pairs = _Sets(len(codes)), "", mask, 0
    if confirm is None:
        _join_equal(sets, codes, mask)
        sizes, kind = _counts(sets.roots()), " of different codes"
        n_pairs = (int(np.square(sizes, dtype=np.int64).sum()) - len(codes)) // 2
        if not radius:
            return sets.groups(n_pairs)
        first = sizes > 0 if mask is None else (sizes > 0) & mask
    count = 0
    for _, positions in near_pairs(codes, radius, first):
        count += len(positions)
        if max_pairs is not None and count > max_pairs:
            raise ArgumentError(
                f"more than {max_pairs:,} pairs{kind} differ in at most {radius} bits: "
                "give a smaller radius, or a filter"
            )
        if confirm is None:
            n_pairs += int(np.dot(*sizes[positions.T].astype(np.int64)))
        else:
            positions = positions[confirm(ids_at(positions))]
            n_pairs += len(positions)
        sets.join(*positions.T)
    return sets.groups(n_pairs)


def _join_equal(sets: _Sets, codes: CodeArray, mask: Mask | None) -> None:
    """Join the allowed positions of equal codes, which sorting brings together."""
    positions = None
    if mask is not None:
        positions = np.flatnonzero(mask).astype(sets.parents.dtype)
        codes = codes[positions]
    words = as_words(codes)
    # Sorted positions take half of the memory as 32 bits.
    order = np.lexsort(words.T[::-1]).astype(sets.parents.dtype)
    for start in range(0, len(order) - 1, _BLOCK):
        block = order[start : start + _BLOCK + 1]
        equal = (words[block[1:]] == words[block[:-1]]).all(axis=1)
        first, second = block[:-1][equal], block[1:][equal]
        if positions is not None:
            first, second = positions[first], positions[second]
        sets.join(first, second)


def _counts(numbers: IdArray) -> IdArray:
    """Return how often each number is there, in as few bytes as the numbers take."""
    counts: IdArray = np.zeros(len(numbers), numbers.dtype)
    for span in spans(len(numbers), _BLOCK):
        np.add.at(counts, numbers[span], 1)
    return counts


class _Sets:
    """Sets of positions that are joined by pairs, a block of these after the other.

    The parent of a position is a smaller one of its set, or itself where it is first.
    """

    def __init__(self, n: int) -> None:
        dtype = np.int32 if n < 2**31 else np.int64
        self.parents: IdArray = np.arange(n, dtype=dtype)

    def join(self, one: IdArray, other: IdArray) -> None:
        """Join the sets of positions that are side by side."""
        for span in spans(len(one), _BLOCK):
            low, high = one[span], other[span]
            # The larger of two roots hangs below the smaller, until all are one.
            while len(low):
                apart = self.parents[low] != self.parents[high]
                low, high = low[apart], high[apart]
                ends = self._roots(low), self._roots(high)
                np.minimum.at(self.parents, np.maximum(*ends), np.minimum(*ends))

    def _roots(self, positions: IdArray | slice) -> IdArray:
        """Return the first positions of the sets, and halve the ways to them."""
        above = self.parents[positions]
        while not np.array_equal(top := self.parents[above], above):
            self.parents[positions] = above = top
        return above

    def roots(self) -> IdArray:
        """Return the first position of the set of each."""
        for span in spans(len(self.parents), _BLOCK):
            self._roots(span)
        return self.parents

    def groups(self, n_pairs: int) -> Groups:
        """Return the sets of more than one position."""
        roots = self.roots()
        sizes = _counts(roots)
        order = np.argsort(roots, kind="stable")
        order = order[(sizes > 1)[roots[order]]]
        offsets = np.cumsum(sizes[sizes > 1], dtype=np.int64)
        return Groups(np.append(np.int64(0), offsets), order, n_pairs)

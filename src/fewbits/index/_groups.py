"""Groups of near codes: those that pairs connect, without keeping the pairs."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from fewbits._repr import one_line
from fewbits._typing import CodeArray, IdArray
from fewbits.codes import as_words
from fewbits.errors import ArgumentError
from fewbits.index._pairs import Pairs, near_pairs

_BLOCK = 1 << 16  # pairs that are joined at a time

#: Says of pairs of places, (n, 2), which of them count.
Confirm = Callable[[IdArray], NDArray[np.bool_]]


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
        Ids in an `Index`, rows of the collection of a `Bundle`; they rise in a group.
    n_pairs : int
        Pairs that connect them.
    """

    offsets: IdArray
    members: IdArray
    n_pairs: int

    @classmethod
    def of_pairs(cls, pairs: IdArray) -> "Groups":
        """Return the groups that pairs of ids or rows, (n_pairs, 2), connect."""
        known, places = np.unique(pairs, return_inverse=True)
        joined = _Joined(len(known))
        joined.join(*places.reshape(-1, 2).T)
        found = joined.groups(len(pairs))
        return replace(found, members=known[found.members])

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def __getitem__(self, number: int) -> IdArray:
        number = range(len(self))[number]
        return self.members[self.offsets[number] : self.offsets[number + 1]]

    def __iter__(self) -> Iterator[IdArray]:
        return (self[number] for number in range(len(self)))

    def __repr__(self) -> str:
        return one_line(self)


def near_groups(
    codes: CodeArray,
    radius: int,
    mask: NDArray[np.bool_] | None,
    max_pairs: int | None = None,
) -> Groups:
    """Return the groups of allowed places, which pairs within a radius connect.

    Equal codes are joined by sorting, so that only pairs of distinct codes are found.
    """
    joined = _Joined(len(codes))
    _join_equal(joined, codes, mask)
    return joined.groups(_join_near(joined, codes, radius, mask, max_pairs))


def confirmed_groups(
    codes: CodeArray,
    radius: int,
    mask: NDArray[np.bool_] | None,
    confirm: Confirm,
    max_pairs: int | None = None,
) -> Groups:
    """Return the groups that those pairs within a radius connect which `confirm`."""
    joined = _Joined(len(codes))
    n_pairs = 0
    for places in _at_most(max_pairs, radius, near_pairs(codes, radius, mask), ""):
        confirmed = places[confirm(places)]
        n_pairs += len(confirmed)
        joined.join(*confirmed.T)
    return joined.groups(n_pairs)


def _join_near(
    joined: "_Joined",
    codes: CodeArray,
    radius: int,
    mask: NDArray[np.bool_] | None,
    max_pairs: int | None,
) -> int:
    """Join near codes, where equal ones are joined already, and count the pairs."""
    sizes = _counts(joined.roots())
    n_pairs = (int(np.square(sizes, dtype=np.int64).sum()) - len(codes)) // 2
    first = sizes > 0 if mask is None else (sizes > 0) & mask
    found = near_pairs(codes, radius, first) if radius else iter(())
    for places in _at_most(max_pairs, radius, found, " of different codes"):
        n_pairs += int(np.dot(*sizes[places.T].astype(np.int64)))
        joined.join(*places.T)
    return n_pairs


def _at_most(
    max_pairs: int | None, radius: int, found: Iterator[Pairs], kind: str
) -> Iterator[IdArray]:
    """Yield the places of pairs, and refuse more than `max_pairs`."""
    count = 0
    for _, places in found:
        count += len(places)
        if max_pairs is not None and count > max_pairs:
            raise ArgumentError(
                f"more than {max_pairs:,} pairs{kind} differ in at most {radius} bits: "
                "give a smaller radius, or a filter"
            )
        yield places


def _join_equal(
    joined: "_Joined", codes: CodeArray, mask: NDArray[np.bool_] | None
) -> None:
    """Join the allowed places of equal codes, which sorting brings together."""
    places = None
    if mask is not None:
        places = np.flatnonzero(mask).astype(joined.parents.dtype)
        codes = codes[places]
    words = as_words(codes)
    # Sorted places take half of the memory as 32 bits.
    order = np.lexsort(words.T[::-1]).astype(joined.parents.dtype)
    for start in range(0, len(order) - 1, _BLOCK):
        block = order[start : start + _BLOCK + 1]
        equal = (words[block[1:]] == words[block[:-1]]).all(axis=1)
        one, other = block[:-1][equal], block[1:][equal]
        if places is not None:
            one, other = places[one], places[other]
        joined.join(one, other)


def _counts(numbers: IdArray) -> IdArray:
    """Return how often each number is there, in as few bytes as the numbers take."""
    counts: IdArray = np.zeros(len(numbers), numbers.dtype)
    for start in range(0, len(numbers), _BLOCK):
        np.add.at(counts, numbers[start : start + _BLOCK], 1)
    return counts


class _Joined:
    """Sets of places that are joined by pairs, a block of these after the other.

    The parent of a place is a smaller one of its set, or itself where it is the first.
    """

    def __init__(self, n: int) -> None:
        dtype = np.int32 if n < 2**31 else np.int64
        self.parents: IdArray = np.arange(n, dtype=dtype)

    def join(self, one: IdArray, other: IdArray) -> None:
        """Join the sets of places side by side; the smallest first place is theirs."""
        for start in range(0, len(one), _BLOCK):
            block = slice(start, start + _BLOCK)
            self._join(one[block], other[block])

    def _join(self, one: IdArray, other: IdArray) -> None:
        """Hang the larger of two first places below the smaller, until all are one."""
        while len(one):
            ends = self._roots(one), self._roots(other)
            low, high = np.minimum(*ends), np.maximum(*ends)
            apart = low != high
            one, other = low[apart], high[apart]
            np.minimum.at(self.parents, other, one)

    def _roots(self, places: IdArray | slice) -> IdArray:
        """Return the first places of the sets, and halve the ways to them."""
        above = self.parents[places]
        while not np.array_equal(top := self.parents[above], above):
            self.parents[places] = above = top
        return above

    def roots(self) -> IdArray:
        """Return the first place of the set of each."""
        for start in range(0, len(self.parents), _BLOCK):
            self._roots(slice(start, start + _BLOCK))
        return self.parents

    def groups(self, n_pairs: int) -> Groups:
        """Return the sets of more than one place."""
        roots = self.roots()
        sizes = _counts(roots)
        order = np.argsort(roots, kind="stable")
        order = order[(sizes > 1)[roots[order]]]
        offsets = np.cumsum(sizes[sizes > 1], dtype=np.int64)
        return Groups(np.append(np.int64(0), offsets), order, n_pairs)

"""The codes and ids of an index: added, removed, frozen and copied."""

from collections.abc import Iterable
from typing import Any, Self, TypeVar

import numpy as np
from numpy.typing import ArrayLike

from fewbits._allowed import check_no_mask
from fewbits._typing import CodeArray, IdArray
from fewbits._warnings import warn_user
from fewbits.codes import as_codes
from fewbits.errors import ArgumentError, CodeError
from fewbits.index._ids import as_ids, new_ids
from fewbits.index._segments import Segments

_LOOKED_AT = 100  # codes
_FROZEN = (
    "a frozen index, such as a bundle's, does not change: "
    "copy.copy(index) can be added to and removed from"
)


class Contents:
    """Codes with unique ids, in segments; the half of `Index` that does not search.

    Parameters
    ----------
    codes : ndarray of shape (n, n_bytes), dtype uint8
    ids : array-like of shape (n,), default=None
        As for `Index`.
    """

    __slots__ = ("__weakref__", "_frozen", "_segments")
    _frozen: bool
    _segments: Segments

    def __init__(self, codes: CodeArray, ids: ArrayLike | None = None) -> None:
        codes = as_codes(codes)
        _warn_of_bits(codes)
        self._segments = Segments.of(codes, new_ids(ids, len(codes), -1))
        self._frozen = False

    @classmethod
    def from_segments(
        cls,
        segments: Iterable[tuple[Any, ...]],
        **settings: Any,
    ) -> Self:
        """Return an index over several runs of codes that are not copied.

        Parameters
        ----------
        segments : iterable of (codes, ids, live) or (codes, ids, live, tables)
            Packed codes (n, n_bytes) of one width and their ids (n,), int64, which rise
            from one to the next through all segments; and a mask (n,) over those that
            can be found, None for all. Perhaps a `fewbits.index.table_files.TableCache`
            with the tables of the codes. One segment at least.
        **settings
            Further parameters of the index.

        Returns
        -------
        Index

        Examples
        --------
        >>> import numpy as np
        >>> from fewbits.index import FlatIndex
        >>> codes, ids = np.array([[0], [7]], np.uint8), np.array([3, 4])
        >>> parts = [(codes, ids, np.array([False, True])), (codes, ids + 2, None)]
        >>> index = FlatIndex.from_segments(parts)
        >>> index.search(codes[:1], k=2)
        Neighbours(distances=array([[0, 3]], dtype=int32), ids=array([[5, 4]]))
        """
        given = Segments.of_parts(segments)
        index = cls(np.empty((0, given.width), np.uint8), **settings)
        return _restored(cls, given, index._settings())

    def __len__(self) -> int:
        return len(self._segments)

    def __repr__(self) -> str:
        width = self._segments.width
        unit = "byte" if width == 1 else "bytes"
        return f"{type(self).__name__}({len(self):,} codes of {width} {unit})"

    def __setattr__(self, name: str, value: Any) -> None:
        if self.is_frozen:
            raise AttributeError(_FROZEN)
        super().__setattr__(name, value)

    def __delattr__(self, name: str) -> None:
        raise AttributeError(f"{name} cannot be deleted")

    def __copy__(self) -> Self:
        return _restored(type(self), self._segments.shared(), self._settings())

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        return _restored(type(self), self._segments.copied(), self._settings())

    def __reduce__(self) -> tuple[Any, ...]:
        codes, ids = map(np.array, self._segments.given)
        state = type(self), codes, ids, self._settings(), self.is_frozen
        return _unpickled, state

    @property
    def codes(self) -> CodeArray:
        """The codes in the order given, read-only."""
        return self._segments.given[0].view()

    @property
    def ids(self) -> IdArray:
        """The ids in the order given, read-only."""
        return self._segments.given[1].view()

    @property
    def is_frozen(self) -> bool:
        """True if the index refuses every change."""
        return getattr(self, "_frozen", False)

    def freeze(self) -> Self:
        """Refuse changes from now on, for good.

        Codes that could still be written to are copied; memory maps opened for
        reading are not. Threads may search a frozen index at the same time. A copy made
        by `copy.copy` is not frozen, and shares the codes until it is changed.

        Returns
        -------
        self

        Examples
        --------
        >>> import copy
        >>> import numpy as np
        >>> from fewbits.index import FlatIndex
        >>> codes = np.array([[0], [3]], np.uint8)
        >>> index = FlatIndex(codes).freeze()
        >>> codes[0] = 255
        >>> index.codes
        array([[0],
               [3]], dtype=uint8)
        >>> len(copy.copy(index).add(codes)), len(index)
        (4, 2)
        """
        if not self.is_frozen:
            self._segments = self._segments.frozen()
            self._frozen = True
        return self

    def add(self, codes: CodeArray, ids: ArrayLike | None = None) -> Self:
        """Append codes.

        Parameters
        ----------
        codes : ndarray of shape (n, n_bytes), dtype uint8
        ids : array-like of shape (n,), default=None
            Must be new; None continues from the largest. While ids rise, the cost of
            many small additions is that of one large one.

        Returns
        -------
        self

        Raises
        ------
        CodeError, ArgumentError
            As at construction, when an id is there already, or when the index is
            frozen. The index is unchanged.
        """
        self._check_not_frozen()
        codes = self._checked(codes, "codes")
        segments = self._segments
        new = new_ids(ids, len(codes), segments.largest())
        known = new[segments.find(new)[1]]
        if known.size:
            raise ArgumentError(f"ids must be new, the index holds {known[0]} already")
        if len(new):
            self._segments = segments.added(codes, new)
        return self

    def remove(self, ids: ArrayLike) -> Self:
        """Forget some ids; the rows after them move up.

        Rows are marked first, and their memory is free once half a segment is gone.

        Raises
        ------
        ArgumentError
            When an id is unknown, when the ids could be meant as a mask, see `search`,
            or when the index is frozen. The index is unchanged.
        """
        self._check_not_frozen()
        gone = as_ids(ids)
        check_no_mask(np.asarray(ids), len(self), "ids to remove")
        places = self._segments.locate(gone, "ids to remove")
        if places.size:
            self._segments = self._segments.without(places)
        return self

    def _settings(self) -> dict[str, Any]:
        """Return what a subclass keeps beside codes and ids: its own slots."""
        return {name: getattr(self, name) for name in type(self).__slots__}

    def _check_not_frozen(self) -> None:
        if self.is_frozen:
            raise ArgumentError(_FROZEN)

    def _checked(self, codes: CodeArray, name: str) -> CodeArray:
        codes, width = as_codes(codes), self._segments.width
        if codes.shape[1] != width:
            raise CodeError(
                f"{name} have {codes.shape[1]} bytes per code, the index has {width}"
            )
        return codes


AnyIndex = TypeVar("AnyIndex", bound=Contents)


def _restored(
    kind: type[AnyIndex], segments: Segments, settings: dict[str, Any]
) -> AnyIndex:
    """Return an index of the same kind and settings with other contents."""
    index: AnyIndex = object.__new__(kind)
    for name, value in settings.items():
        setattr(index, name, value)
    index._segments, index._frozen = segments, False
    return index


def _unpickled(
    kind: type[AnyIndex],
    codes: CodeArray,
    ids: IdArray,
    settings: dict[str, Any],
    frozen: bool,
) -> AnyIndex:
    index = _restored(kind, Segments.of(codes, ids), settings)
    return index.freeze() if frozen else index


def _warn_of_bits(codes: CodeArray) -> None:
    """Warn of bytes that are 0 or 1, which random codes have in one of 128."""
    some = codes[:: max(1, len(codes) // _LOOKED_AT)]
    if some.size >= _LOOKED_AT and some.max() == 1:
        warn_user(
            f"each code holds {codes.shape[1]:,} bytes that are 0 or 1: if these are "
            "bits, pack them (fewbits.codes.pack, or encode in place of transform), "
            "which takes an eighth of the room"
        )

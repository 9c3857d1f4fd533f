"""Arrays that cannot change.

NumPy's read-only flag alone does not help: the holder of an array that owns its memory
can set the flag back. What cannot change lies in an object that cannot: ``bytes``, or a
memory map opened for reading.
"""

import mmap
from collections.abc import Mapping
from functools import cached_property
from typing import Any, NoReturn, Self, TypeVar

import numpy as np
from numpy.typing import NDArray

from fewbits.errors import ArgumentError

AnyArray = TypeVar("AnyArray", bound=NDArray[Any])


def frozen_array(array: AnyArray) -> AnyArray:
    """Return an array of these values that cannot change: itself, or a copy."""
    if is_frozen(array):
        return array
    if array.dtype.hasobject:
        raise TypeError(f"an array of dtype {array.dtype} cannot be frozen")
    copy: Any = np.ndarray(array.shape, array.dtype, array.tobytes())
    return copy  # type: ignore[no-any-return]


def is_frozen(array: NDArray[Any]) -> bool:
    """Return whether the values of an array cannot change any more."""
    if array.flags.writeable or array.dtype.hasobject:
        return False
    owner: Any = array
    while isinstance(owner, np.ndarray):
        owner = owner.base
    if isinstance(owner, mmap.mmap):
        with memoryview(owner) as view:
            return view.readonly
    if isinstance(owner, bytes):
        return True
    # Arrow's arrays and buffers say so themselves.
    buffers = owner.buffers() if hasattr(owner, "buffers") else [owner]
    known = [getattr(each, "is_mutable", True) for each in buffers if each is not None]
    return bool(known) and not any(known)


def read_only(array: AnyArray) -> AnyArray:
    """Return a view of an array of numbers, whose flag cannot be set back."""
    if is_frozen(array):
        return array.view()
    buffer: Any = array
    view: Any = np.asarray(memoryview(buffer).toreadonly())
    return view.view(array.dtype)  # type: ignore[no-any-return]


class Immutable:
    """Attributes are set once, in the constructor; copies are immutable, too."""

    def __setattr__(self, name: str, value: Any) -> None:
        # What is derived from an attribute and kept would not follow a change.
        if name in self.__dict__ or hasattr(type(self), name):
            raise AttributeError(
                f"{type(self).__name__} is immutable: {name!r} is set already"
            )
        super().__setattr__(name, value)

    def __delattr__(self, name: str) -> None:
        raise AttributeError(
            f"{type(self).__name__} is immutable: {name!r} cannot be deleted"
        )

    def __getstate__(self) -> dict[str, Any]:
        # What is derived and kept can be made again.
        return {
            name: value
            for name, value in self.__dict__.items()
            if not isinstance(getattr(type(self), name, None), cached_property)
        }

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update({name: _frozen(value) for name, value in state.items()})


def _frozen(value: Any) -> Any:
    if isinstance(value, tuple) and type(value) is tuple:
        return tuple(map(_frozen, value))
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        return type(value)(*map(_frozen, value))
    plain = isinstance(value, np.ndarray) and not value.dtype.hasobject
    return frozen_array(value) if plain else value


class ReadOnlyDict(dict[str, Any]):
    """A dict of what JSON knows, which cannot be changed, nor anything in it.

    Lists become tuples, and NumPy's numbers and arrays Python's. Errors call it `name`.
    """

    def __init__(self, *given: Any, name: str = "metadata") -> None:
        values = dict(*given)
        for key in values:
            if not isinstance(key, str):
                raise ArgumentError(f"{name} must have texts as names, got {key!r}")
        super().__init__({key: _read_only(values[key], name) for key in values})

    def _refuse(self, *_: Any, **__: Any) -> NoReturn:
        raise TypeError("facts of a collection do not change: make another")

    __setitem__ = __delitem__ = _refuse
    clear = pop = popitem = setdefault = update = __ior__ = _refuse

    def __copy__(self) -> Self:
        return self

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        return self

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (dict(self),)


def _read_only(value: Any, name: str) -> Any:
    if isinstance(value, np.ndarray | np.generic):
        value = value.tolist()
    if isinstance(value, Mapping):
        return ReadOnlyDict(value, name=name)
    if isinstance(value, list | tuple):
        return tuple(_read_only(each, name) for each in value)
    if value is None or isinstance(value, bool | int | float | str):
        return value
    kind = type(value).__name__
    raise ArgumentError(f"{name} must hold plain values only: got {kind}")

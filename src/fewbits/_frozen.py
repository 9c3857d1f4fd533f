"""Arrays that cannot change.

NumPy's read-only flag alone does not help: whoever holds an array that owns its memory
can set the flag back. What cannot change lies in an object that cannot: ``bytes``, or a
memory map opened for reading.
"""

import mmap
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

AnyArray = TypeVar("AnyArray", bound=NDArray[Any])


def frozen_array(array: AnyArray) -> AnyArray:
    """Return an array with these values that nobody can change.

    Parameters
    ----------
    array : ndarray
        Of any dtype but Python objects.

    Returns
    -------
    ndarray
        `array` itself where `is_frozen` says so already, as for a memory map opened for
        reading; else a copy in C order, of which only views are handed out.

    Raises
    ------
    TypeError
        When the array holds Python objects, which may change themselves.

    Examples
    --------
    >>> import numpy as np
    >>> mine = np.arange(3)
    >>> kept = frozen_array(mine)
    >>> mine[0] = 7
    >>> kept
    array([0, 1, 2])
    >>> kept.flags.writeable = True
    Traceback (most recent call last):
    ValueError: cannot set WRITEABLE flag to True of this array
    """
    if is_frozen(array):
        return array
    if array.dtype.hasobject:
        raise TypeError(f"an array of dtype {array.dtype} cannot be frozen")
    copy: Any = np.ndarray(array.shape, array.dtype, array.tobytes())
    return copy  # type: ignore[no-any-return]


def is_frozen(array: NDArray[Any]) -> bool:
    """Tell whether nobody can change the values of an array.

    Examples
    --------
    >>> import numpy as np
    >>> is_frozen(np.zeros(3)), is_frozen(np.frombuffer(b"abc", np.uint8))
    (False, True)
    """
    if array.flags.writeable or array.dtype.hasobject:
        return False
    owner: Any = array
    while isinstance(owner, np.ndarray):
        owner = owner.base
    return _is_never_written(owner)


def _is_never_written(owner: Any) -> bool:
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
    """Return a view of an array of numbers, whose flag cannot be set back.

    The array itself stays as it is: its owner may still write to it.

    Examples
    --------
    >>> import numpy as np
    >>> view = read_only(np.arange(3))
    >>> view.flags.writeable = True
    Traceback (most recent call last):
    ValueError: cannot set WRITEABLE flag to True of this array
    """
    if is_frozen(array):
        return array.view()
    buffer: Any = array
    view: Any = np.asarray(memoryview(buffer).toreadonly())
    return view.view(array.dtype)  # type: ignore[no-any-return]

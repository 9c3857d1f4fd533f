"""Arrays of Python objects as arrays of numbers, if they hold nothing else."""

from numbers import Number
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fewbits.errors import FeatureError


class NoNumberError(FeatureError, TypeError):
    """A value that should be a number is none; a TypeError as in scikit-learn."""


def as_numbers(array: NDArray[np.object_], name: str) -> NDArray[Any]:
    """Return an array of Python's numbers as float64; of vectors, as a matrix.

    Strings of digits are not numbers.

    Raises
    ------
    FeatureError
        When anything else is among them, or what float64 cannot hold.
    """
    if array.ndim == 1 and len(array) and _is_vector(array[0]):
        return _stacked(array, name)
    for kind in set(map(type, array.ravel().tolist())):
        if not issubclass(kind, Number | np.bool_) or issubclass(kind, complex):
            raise _no_number(array, kind, name)
    try:
        return array.astype(np.float64)
    except OverflowError:
        raise FeatureError(f"{name} hold an integer too large for float64") from None
    except (TypeError, ValueError) as error:
        raise FeatureError(f"{name} must be real numbers: {error}") from None


def _is_vector(value: Any) -> bool:
    return isinstance(value, list | tuple) or (
        isinstance(value, np.ndarray) and value.ndim > 0
    )


def _stacked(array: NDArray[np.object_], name: str) -> NDArray[Any]:
    try:
        matrix = np.asarray(array.tolist())
    except ValueError as error:
        raise FeatureError(f"{name} are not a matrix: {error}") from None
    return as_numbers(matrix, name) if matrix.dtype == object else matrix


def _no_number(array: NDArray[np.object_], kind: type, name: str) -> FeatureError:
    place = next(i for i, value in np.ndenumerate(array) if type(value) is kind)
    where = ", ".join(
        f"{axis} {i}" for axis, i in zip(("row", "column"), place, strict=False)
    )
    message = f"{name} must be real numbers, got "
    if kind is type(None) or kind.__name__ == "NAType":
        return FeatureError(f"{message}no value in {where}")
    message += f"{kind.__name__} in {where}"
    try:
        float(array[place])
    except TypeError as error:
        return NoNumberError(f"{message} ({error})")
    except Exception:  # of whatever class that is
        return NoNumberError(message)
    return NoNumberError(message)

"""Validation of `allowed`: a mask over the rows, or a list of row numbers.

Booleans are a mask and whole numbers are ids, or rows where there are no ids. Some
whole numbers could be meant as a mask, and are refused:

- bytes (uint8, int8), the dtype of masks of images and of packed bits;
- numbers that are all 0 or 1 and repeat, which ids have no reason to do;
- as many numbers as there are rows, of two values that repeat, such as 0 and 255.

``[0, 1]`` repeats nothing: it means the ids 0 and 1 even where there are two rows.
"""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fewbits._typing import Array
from fewbits.errors import ArgumentError


def plain_array(values: ArrayLike, name: str) -> Array:
    """Return a list, column or array as booleans or whole numbers.

    Columns of pandas, polars and pyarrow pass; nothing that is missing or masked does.
    """
    if np.ma.isMaskedArray(values):
        if n_masked := int(np.ma.getmaskarray(values).sum()):
            raise ArgumentError(
                f"{name} has {n_masked} masked entries: fill them, or leave them out "
                "(.compressed())"
            )
        values = np.ma.getdata(values)
    try:
        array = np.asarray(values)
    except ValueError:
        raise ArgumentError(f"{name} must be one list, got rows that differ") from None
    if array.dtype.kind == "O" and array.ndim == 1:
        array = _typed(array, name)
    if array.dtype.kind == "f" and np.isnan(array).any():
        raise _missing(int(np.isnan(array).sum()), name)
    if array.dtype.kind in "iu" and isinstance(values, list | tuple):
        check_unmixed(values, name)
    return array


def as_allowed(allowed: ArrayLike, n: int, unit: str = "ids") -> Array:
    """Return a mask of `n` booleans, or a list of whole numbers."""
    array = plain_array(allowed, "allowed")
    if array.dtype == np.bool_:
        index = getattr(allowed, "index", None)  # of pandas, or a method of a list
        rows = () if index is None or callable(index) else np.asarray(index)
        if not np.array_equal(rows, np.arange(len(rows))):
            raise ArgumentError(
                "allowed is a Series with an index of its own, and a mask is over the "
                "rows in their order: give mask.to_numpy() if it is in that order"
            )
        if array.shape != (n,):
            raise ArgumentError(
                f"an allowed mask must have shape ({n},), got {array.shape}"
            )
        return array
    if array.ndim != 1 or (array.size and array.dtype.kind not in "iu"):
        raise ArgumentError(
            f"allowed must be a list of booleans, a mask, or of whole numbers, {unit}; "
            f"got dtype {array.dtype} and shape {array.shape}"
        )
    check_no_mask(array, n, "allowed", unit)
    return array


def check_no_mask(numbers: Array, n: int, name: str, unit: str = "ids") -> None:
    """Refuse whole numbers that could be meant as a mask over `n` rows."""
    if not numbers.size:
        return
    if numbers.dtype.itemsize == 1:
        what = f"bytes ({numbers.dtype})"
    elif _looks_like_mask(numbers, n):
        values = " and ".join(str(v) for v in sorted({numbers.min(), numbers.max()}))
        what = f"{numbers.size} numbers that are all {values}"
    else:
        return
    raise ArgumentError(
        f"{name} could be a mask or {unit}, got {what}: pass .astype(bool) for a mask, "
        f"or {unit} that do not repeat as int64"
    )


def check_unmixed(values: list[Any] | tuple[Any, ...], name: str) -> None:
    """Refuse True and False among numbers, which NumPy takes for 1 and 0."""
    if any(isinstance(value, bool | np.bool_) for value in values):
        raise ArgumentError(f"{name} must not mix booleans and numbers")


def _looks_like_mask(numbers: Array, n: int) -> bool:
    low, high = numbers.min(), numbers.max()
    if len(numbers) <= (1 if low == high else 2):
        return False  # nothing can be shown to repeat, or there is nothing to say
    if high > 1 and len(numbers) != n:
        return False
    return bool(((numbers == low) | (numbers == high)).all())


def _typed(array: NDArray[np.object_], name: str) -> Array:
    """Return objects as booleans or whole numbers where all of them are that."""
    kinds = {type(value) for value in array.tolist()}
    if kinds <= {bool, np.bool_}:
        return array.astype(np.bool_)
    if all(issubclass(kind, int | np.integer) and kind is not bool for kind in kinds):
        try:
            return array.astype(np.int64)
        except OverflowError:
            return array
    n_missing = sum(_is_missing(value) for value in array.tolist())
    if n_missing:
        raise _missing(n_missing, name)
    return array


def _is_missing(value: Any) -> bool:
    """Return whether a value is None, NaN, NaT or pandas.NA."""
    return (
        value is None
        or type(value).__name__ in {"NAType", "NaTType"}
        or (isinstance(value, float | np.floating) and bool(np.isnan(value)))
    )


def _missing(n_missing: int, name: str) -> ArgumentError:
    return ArgumentError(
        f"{name} has {n_missing} missing values: say what they mean, "
        "as .fillna(False) does for a mask"
    )

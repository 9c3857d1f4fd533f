"""Validation of labels given as Python objects or arrays."""

from typing import Any

import numpy as np

from fewbits._typing import Array
from fewbits.errors import ArgumentError

_COLLECTIONS = (list, tuple, set, frozenset, dict, np.ndarray)
_SEVERAL = (
    "some rows have several labels: pass a matrix (n, n_labels) of 0 and 1, as "
    "scikit-learn's MultiLabelBinarizer makes"
)
_ALLOWED = "strings, whole numbers or booleans"
_END = 1 << 63  # of the integers that a codebook can keep
#: Characters above which strings that differ much in length stay Python objects.
_WIDE = 1 << 24
_NUMPY_FLOAT = 32  # characters that NumPy gives a float among strings


def from_objects(values: list[Any], name: str) -> Array:
    """Return labels of one kind from Python objects."""
    if all(kind is str for kind in set(map(type, values))) and values:
        return check_values(as_strings(values), name, values)
    values = [_plain(value) for value in values]
    missing = [_is_missing(value) for value in values]
    if any(missing):
        _refuse_missing(values, missing, name)
    kinds = [_kind(value, name) for value in values]
    other = next((i for i, kind in enumerate(kinds) if kind != kinds[0]), None)
    if other is not None:
        raise ArgumentError(
            f"{name} must be of one kind, got {kinds[0]} and {kinds[other]}: "
            f"{values[0]!r} in row 0, {values[other]!r} in row {other}"
        )
    if not values or kinds[0] == "numbers":
        return _numbers(values, name)
    if kinds[0] == "booleans":
        return np.array(values, dtype=np.bool_)
    texts = [str.__str__(value) for value in values]
    return check_values(as_strings(texts), name, texts)


def _plain(value: Any) -> Any:
    """Return the Python object of a NumPy number or of a tensor of one number."""
    if isinstance(value, np.datetime64 | np.timedelta64):
        return value  # some would become integers
    if isinstance(value, np.generic) or getattr(value, "shape", None) == ():
        return value.item() if hasattr(value, "item") else value
    return value


def _is_missing(value: Any) -> bool:
    """Return whether a label is None, blank, or not equal to itself (NaN, NA).

    So do NaN and pandas' own marker.
    """
    if isinstance(value, str):
        return not value.strip()
    if isinstance(value, _COLLECTIONS):
        return False
    try:
        return value is None or bool(value != value)
    except (TypeError, ValueError):
        return True


def _kind(value: Any, name: str) -> str:
    if isinstance(value, str):
        return "strings"
    if isinstance(value, bool):
        return "booleans"
    if isinstance(value, int | float):
        return "numbers"
    if isinstance(value, dict):
        _refuse_type(name, "a struct; give one of its fields")
    if isinstance(value, _COLLECTIONS):
        raise ArgumentError(_SEVERAL)
    if isinstance(value, complex):
        raise ArgumentError(f"Complex data not supported: {name} must be classes")
    _refuse_type(name, type(value).__name__)
    raise AssertionError


def refuse_arrow_type(kind: Any, name: str) -> None:
    """Refuse Arrow types that are not labels before their values are looked at."""
    import pyarrow.types as types

    if types.is_temporal(kind):
        _refuse_type(name, f"{kind}; give them as strings or integers")
    if types.is_struct(kind) or types.is_map(kind):
        _refuse_type(name, f"{kind}; give one of its fields as a column of its own")


def _refuse_type(name: str, got: str) -> None:
    hint = "; decode them" if got == "bytes" else ""
    raise ArgumentError(f"{name} must be {_ALLOWED}, got {got}{hint}")


def _numbers(values: list[Any], name: str) -> Array:
    if any(isinstance(value, float) for value in values):
        for value in values:
            if isinstance(value, int) and abs(value) > 1 << 53:
                raise ArgumentError(
                    f"{name} must be of one kind, got {value} among floats"
                )
        return check_values(np.array(values, dtype=np.float64), name)
    for value in values:
        if not -_END <= value < _END:
            raise ArgumentError(f"{name} must be below 2**63, got {value}")
    return np.array(values, dtype=np.int64)


def as_strings(values: list[str]) -> Array:
    """Return an array of strings, of objects where padding would fill the memory."""
    longest = max(map(len, values), default=0)
    total = longest * len(values)
    if total > _WIDE and total > 4 * sum(map(len, values)):
        return np.array(values, dtype=object)
    return np.array(values, dtype=np.str_)


def check_values(array: Array, name: str, values: list[str] | None = None) -> Array:
    """Return an array of a plain dtype that holds classes in every row."""
    kind = array.dtype.kind
    if kind in "UO":
        _check_strings(array, name, array.tolist() if values is None else values)
    elif kind == "f":
        _check_whole(array, name)
    elif kind == "u":
        if array.size and int(array.max()) >= _END:
            raise ArgumentError(f"{name} must be below 2**63, got {array.max()}")
    elif kind == "c":
        raise ArgumentError(f"Complex data not supported: {name} must be classes")
    elif kind in "mM":
        missing = np.isnat(array)
        if missing.any():
            _refuse_missing(array, missing, name)
        _refuse_type(name, f"{array.dtype}; give them as strings or integers")
    elif kind not in "bi":
        _refuse_type(name, "bytes" if kind == "S" else str(array.dtype))
    return array


def _check_whole(array: Array, name: str) -> None:
    missing = np.isnan(array)
    if missing.any():
        _refuse_missing(array, missing, name)
    wrong = ~np.isfinite(array) | (array != np.rint(array))
    if wrong.any():
        raise ArgumentError(
            f"{name} must be classes, got numbers that are not whole, such as "
            f"{array[wrong.argmax()]}"
        )
    large = np.abs(array) > 2.0 ** (np.finfo(array.dtype).nmant + 1)
    if large.any():
        raise ArgumentError(
            f"{name} are numbers such as {array[large.argmax()]}, too large for "
            f"{array.dtype} to distinguish; give integers or strings"
        )


def _check_strings(array: Array, name: str, values: list[str]) -> None:
    distinct = set(values)
    if any(not value.strip() for value in distinct):
        _refuse_missing(values, [not value.strip() for value in values], name)
    if any(value.endswith("\0") for value in distinct):
        raise ArgumentError(f"{name} must not end in NUL, which NumPy would drop")
    try:
        "".join(distinct).encode()
    except UnicodeEncodeError as error:
        raise ArgumentError(f"{name} must be Unicode text: {error}") from None
    if "nan" in distinct and _was_mixed(array, distinct):
        raise ArgumentError(
            f"{name} hold 'nan' in an array of dtype {array.dtype}, which NumPy makes "
            "of a missing number among strings; give a list, or dtype object"
        )


def _was_mixed(array: Array, distinct: set[str]) -> bool:
    """Return whether the width is that of strings NumPy made from floats."""
    return array.dtype == f"U{_NUMPY_FLOAT}" and (
        max(map(len, distinct)) < _NUMPY_FLOAT
    )


def _refuse_missing(values: Any, missing: Any, name: str) -> None:
    there = np.asarray(missing)
    row = int(there.argmax())
    value = values[row]
    shown = repr(value) if isinstance(value, str) else str(value)
    raise ArgumentError(
        f"{name} must be classes, but are missing in {there.sum()} of {len(there)} "
        f"rows: got {shown} in row {row}"
    )

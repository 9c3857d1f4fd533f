"""Conversion of labels of any form to arrays.

A label is a string, a whole number or a boolean, and all labels of a list are of one of
these kinds. Nothing is made a class that is none: what is missing (None, NaN, NaT,
pandas' NA, a null, a masked entry, a blank string) is refused, and so is what would
have to be reinterpreted (numbers among strings, bytes, dates, fractions).
"""

from collections.abc import Sequence
from typing import Any

import numpy as np

from fewbits._lazy import pa
from fewbits._typing import Array, IdArray
from fewbits._warnings import warn_user
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


def as_labels(labels: Any, name: str = "labels", *, n: int | None = None) -> Array:
    """Return one label for each row of a list, an array, a Series or an Arrow column.

    Integers, whole floats, booleans or strings: of dtype str, or object where a few
    long ones would fill the memory with padding. `n` is how many there must be.
    """
    array = _array(labels, name)
    if array.ndim == 2 and array.shape[1] == 1:
        array = array[:, 0]
    if array.ndim != 1:
        raise ArgumentError(f"{name} must have 1 dimension, got shape {array.shape}")
    if n is not None and len(array) != n:
        raise ArgumentError(f"need one label for each of {n} items, got {array.shape}")
    if array.dtype.kind in "OT":
        return _from_objects(array.tolist(), name)
    return _check_values(array, name)


def as_label_rows(labels: Any, name: str = "labels", *, n: int | None = None) -> Array:
    """Return one label for each row, or a 0/1 matrix (n, n_labels) of dtype uint8."""
    array = _array(labels, name)
    if array.ndim != 2 or array.shape[1] == 1:
        if array.ndim > 2:
            raise ArgumentError(
                f"{name} must have shape (n,) or (n, n_labels), got {array.shape}"
            )
        return as_labels(array, name, n=n)
    if n is not None and len(array) != n:
        raise ArgumentError(
            f"need a row of labels for each of {n} items, got shape {array.shape}"
        )
    return np.asarray(check_binary(array, name), np.uint8)


def as_label_names(labels: Any, name: str = "labels") -> Array:
    """Return what `as_label_rows` does, but classes by name, as commands print them."""
    rows = as_label_rows(labels, name)
    if rows.ndim == 2 or label_kind(rows) == "strings":
        return rows
    whole = map(int, rows.tolist()) if rows.dtype.kind == "f" else rows.tolist()
    return _as_strings([*map(str, whole)])


def as_classes(labels: Any, n: int, name: str = "labels") -> tuple[Array, IdArray]:
    """Return the sorted classes and the number of the class of each of `n` items."""
    array = as_labels(labels, name, n=n)
    classes, numbers = np.unique(array, return_inverse=True)
    if classes.dtype.kind == "O":
        classes = _as_strings(classes.tolist())
    return classes, numbers.astype(np.int64, copy=False)


def voting_classes(labels: Any, n: int | None = None) -> tuple[Array, IdArray]:
    """Return what `as_classes` does, with -1 and a warning where labels are missing."""
    array = _array(labels, "labels")
    if array.ndim == 2 and array.shape[1] == 1:
        array = array[:, 0]
    n = np.size(array) if n is None else n
    if array.ndim != 1 or len(array) != n:
        return as_classes(array, n)
    if array.dtype.kind in "OTU":
        missing = np.array([_is_missing(_plain(x)) for x in array.tolist()], np.bool_)
    else:
        missing = array != array  # NaN and NaT
    if not missing.any() or missing.all():
        return as_classes(array, n)
    warn_user(
        f"{missing.sum():,} of {n:,} rows have no label and no vote on the class of "
        "others"
    )
    numbers = np.full(n, -1, np.int64)
    classes, numbers[~missing] = as_classes(array[~missing], int((~missing).sum()))
    return classes, numbers


def as_groups(groups: Any, n: int) -> IdArray:
    """Return the number of the group of each of `n` items, named as labels are."""
    shape = np.shape(groups)
    if shape not in ((n,), (n, 1)):
        raise ArgumentError(f"need one group for each of {n} items, got shape {shape}")
    return as_classes(groups, n, "groups")[1]


def label_kind(labels: Array) -> str:
    """Return whether labels from `as_labels` are strings, booleans or numbers."""
    kinds = {"U": "strings", "O": "strings", "b": "booleans"}
    return kinds.get(labels.dtype.kind, "numbers")


def check_same_kind(first: Array, second: Array, names: tuple[str, str]) -> None:
    """Refuse to compare strings with numbers, or booleans with either."""
    kinds = label_kind(first), label_kind(second)
    if len(first) and len(second) and kinds[0] != kinds[1]:
        raise ArgumentError(f"{names[0]} are {kinds[0]}, {names[1]} {kinds[1]}")


def check_binary(labels: Any, name: str = "labels") -> Any:
    """Return a matrix, dense or sparse as it was, that holds 0 and 1 only."""
    matrix: Any = labels if _is_sparse(labels) else _array(labels, name)
    values: Any = matrix.data if _is_sparse(matrix) else matrix
    needed = "a matrix of labels must hold 0 and 1 only"
    if name != "labels":
        needed = f"{name}: {needed}"
    if values.dtype.kind == "O":
        for value in values.flat:
            if not isinstance(value, int | float | np.number | np.bool_):
                raise ArgumentError(f"{needed}, got {value!r}")
        values = matrix = values.astype(np.float64)
    if values.dtype.kind not in "biuf":
        raise ArgumentError(f"{needed}, got dtype {values.dtype}")
    other = values[~np.isin(values, (0, 1))]
    if other.size:
        raise ArgumentError(f"{needed}, got {other[0].item()!r}")
    return matrix


def _is_sparse(matrix: Any) -> bool:
    return hasattr(matrix, "tocsr")  # without the import of SciPy


def _array(labels: Any, name: str) -> Array:
    """Return labels as an array, of objects where NumPy would guess a dtype."""
    if isinstance(labels, np.ma.MaskedArray):
        if np.ma.getmaskarray(labels).any():  # NumPy reads what lies in its gaps
            raise ArgumentError(
                f"{name} is a masked array; leave out the rows of its gaps"
            )
        return np.asarray(labels.data)
    if isinstance(labels, np.ndarray):
        return np.asarray(labels)
    if _is_sparse(labels):
        return np.asarray(labels.toarray())
    if isinstance(labels, str | bytes):
        raise ArgumentError(f"{name} must be a list, got one string")
    package = type(labels).__module__.partition(".")[0]
    if package == "pandas" and hasattr(labels, "dtype"):
        plain = isinstance(labels.dtype, np.dtype) and labels.dtype.kind != "O"
        return np.asarray(labels, dtype=None if plain else object)
    if package == "polars" and hasattr(labels, "to_list"):
        labels = labels.to_list()
    elif package == "pyarrow" and hasattr(labels, "type"):
        kind = labels.type  # whose values Python may not have
        if pa.types.is_temporal(kind):
            raise _other_type(name, f"{kind}; give them as strings or integers")
        if pa.types.is_struct(kind) or pa.types.is_map(kind):
            raise _other_type(
                name, f"{kind}; give one of its fields as a column of its own"
            )
        labels = labels.to_pylist()
    guesses = isinstance(labels, Sequence) or not hasattr(labels, "__array__")
    try:
        return np.asarray(labels, dtype=object if guesses else None)
    except (TypeError, ValueError) as error:  # such as a tensor on a GPU
        raise ArgumentError(f"{name} are not an array: {error}") from None


def _from_objects(values: list[Any], name: str) -> Array:
    """Return labels of one kind from Python objects."""
    if values and {*map(type, values)} == {str}:
        return _check_values(_as_strings(values), name, values)
    values = [_plain(value) for value in values]
    _refuse_missing(values, [_is_missing(value) for value in values], name)
    kinds = [_kind(value, name) for value in values]
    other = next((i for i, kind in enumerate(kinds) if kind != kinds[0]), None)
    if other is not None:
        raise ArgumentError(
            f"{name} must be of one kind, got {kinds[0]} and {kinds[other]}: "
            f"{values[0]!r} in row 0, {values[other]!r} in row {other}"
        )
    kind = kinds[0] if values else "numbers"
    if kind == "booleans":
        return np.array(values, dtype=np.bool_)
    if kind == "strings":
        texts = [str.__str__(value) for value in values]
        return _check_values(_as_strings(texts), name, texts)
    whole = [value for value in values if isinstance(value, int)]
    if len(whole) < len(values):
        large = next((value for value in whole if abs(value) > 1 << 53), None)
        if large is not None:
            raise ArgumentError(f"{name} must be of one kind, got {large} among floats")
        return _check_values(np.array(values, dtype=np.float64), name)
    for value in values:
        if not -_END <= value < _END:
            raise ArgumentError(f"{name} must be below 2**63, got {value}")
    return np.array(values, dtype=np.int64)


def _plain(value: Any) -> Any:
    """Return the Python object of a NumPy number or of a tensor of one number."""
    if isinstance(value, np.datetime64 | np.timedelta64):
        return value  # some would become integers
    if isinstance(value, np.generic) or getattr(value, "shape", None) == ():
        return value.item() if hasattr(value, "item") else value
    return value


def _is_missing(value: Any) -> bool:
    """Return whether a label is None, blank, or not equal to itself (NaN, NA)."""
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
        raise _other_type(name, "a struct; give one of its fields")
    if isinstance(value, _COLLECTIONS):
        raise ArgumentError(_SEVERAL)
    if isinstance(value, complex):
        raise ArgumentError(f"Complex data not supported: {name} must be classes")
    raise _other_type(name, type(value).__name__)


def _other_type(name: str, got: str) -> ArgumentError:
    hint = "; decode them" if got == "bytes" else ""
    return ArgumentError(f"{name} must be {_ALLOWED}, got {got}{hint}")


def _as_strings(values: list[str]) -> Array:
    """Return an array of strings, of objects where padding would fill the memory."""
    longest = max(map(len, values), default=0)
    total = longest * len(values)
    if total > _WIDE and total > 4 * sum(map(len, values)):
        return np.array(values, dtype=object)
    return np.array(values, dtype=np.str_)


def _check_values(array: Array, name: str, values: list[str] | None = None) -> Array:
    """Return an array of a plain dtype that holds classes in every row."""
    kind = array.dtype.kind
    if kind in "UO":
        _check_strings(array, name, array.tolist() if values is None else values)
    elif kind == "f":
        _refuse_missing(array, np.isnan(array), name)
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
    elif kind == "u":
        if array.size and int(array.max()) >= _END:
            raise ArgumentError(f"{name} must be below 2**63, got {array.max()}")
    elif kind == "c":
        raise ArgumentError(f"Complex data not supported: {name} must be classes")
    elif kind in "mM":
        _refuse_missing(array, np.isnat(array), name)
        raise _other_type(name, f"{array.dtype}; give them as strings or integers")
    elif kind not in "bi":
        raise _other_type(name, "bytes" if kind == "S" else str(array.dtype))
    return array


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
    # The width is that of strings which NumPy made from floats.
    mixed = array.dtype == f"U{_NUMPY_FLOAT}" and "nan" in distinct
    if mixed and max(map(len, distinct)) < _NUMPY_FLOAT:
        raise ArgumentError(
            f"{name} hold 'nan' in an array of dtype {array.dtype}, which NumPy makes "
            "of a missing number among strings; give a list, or dtype object"
        )


def _refuse_missing(values: Any, missing: Any, name: str) -> None:
    mask = np.asarray(missing, np.bool_)
    if mask.any():
        row = int(mask.argmax())
        shown = repr(values[row]) if isinstance(values[row], str) else values[row]
        raise ArgumentError(
            f"{name} must be classes, but are missing in {mask.sum()} of {len(mask)} "
            f"rows: got {shown} in row {row}"
        )

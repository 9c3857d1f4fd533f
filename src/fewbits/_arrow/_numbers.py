"""Feature matrices of any type as NumPy arrays; Arrow columns chunk by chunk."""

import reprlib
from collections.abc import Iterable, Sequence
from numbers import Number
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fewbits._arrow._tables import (
    as_column,
    as_frame,
    as_table,
    is_column,
    is_frame,
    is_list,
    is_number,
    is_text,
    known_names,
)
from fewbits._lazy import pa, pc
from fewbits._warnings import warn_user
from fewbits.errors import FeatureError, a_kind


class NoNumberError(FeatureError, TypeError):
    """A value that should be a number is none; a TypeError as in scikit-learn."""


def as_array(items: Any, name: str = "features") -> NDArray[Any]:
    """Return what holds numbers as an array of them; memory maps stay memory maps.

    The one door of features given in Python: an array, a tensor, a data frame of
    numbers or a column of vectors. FeatureError says what is no real number, missing or
    masked, of another length, or a column that is there twice.
    """
    return named_array(items, name)[0]


def named_array(
    items: Any, name: str = "features"
) -> tuple[NDArray[Any], list[str] | None]:
    """Return what `as_array` does, and the names of columns that lie side by side.

    Columns that are numbered from 0 on have none.
    """
    if not isinstance(items, np.ndarray):
        items = as_frame(items)
    if type(items) is np.ndarray:  # as most are; asking what else it is takes longer
        array = items
    elif is_frame(items):
        return _of_frame(items)
    elif is_column(items):
        column = as_column(items)
        if is_list(column.type):
            array = list_matrix(column.chunks, len(column), "the column")
        elif is_number(column.type):
            array = _numbers(column, "the column")
        else:
            raise FeatureError(f"the column holds {column.type}, not vectors")
    else:
        array = _of_array(items, name)
    if array.dtype == object:
        array = _of_objects(array, name)
    array = widened(array)
    if array.dtype.kind == "c":
        raise FeatureError(
            f"Complex data not supported: {name} must be real numbers, got dtype "
            f"{array.dtype}"
        )
    if array.dtype.kind not in "fiub":
        came = f"dtype {array.dtype}"
        if array.dtype.kind in "SUT" and array.size:
            came = f"texts such as {reprlib.repr(array.flat[0].item())}"
        raise FeatureError(f"{name} must be real numbers, got {came}")
    return array, None


def widened(array: NDArray[Any]) -> NDArray[Any]:
    """Return bfloat16 of the package ml_dtypes, as JAX has it, as the same float32."""
    return array.astype(np.float32) if array.dtype.name == "bfloat16" else array


def _of_frame(frame: Any) -> tuple[NDArray[Any], list[str] | None]:
    if hasattr(frame, "iloc") and all(
        isinstance(dtype, np.dtype) and dtype.kind in "fiub" for dtype in frame.dtypes
    ):
        matrix = np.asarray(frame)  # of objects where truth values are among numbers
        if matrix.dtype != object:
            return _named(matrix, frame.columns)
    table = as_table(frame)
    fields = list(table.schema)
    names = table.column_names
    vectors = [i for i, field in enumerate(fields) if is_list(field.type)]
    texts = [i for i, field in enumerate(fields) if is_text(field.type)]
    if vectors and (len(vectors) > 1 or texts):
        both = known_names(names[i] for i in sorted([*vectors, *texts]))
        raise FeatureError(
            f"the data frame has {len(vectors) + len(texts)} columns of texts or "
            f"vectors ({both}); give one, such as items[{names[vectors[0]]!r}]"
        )
    if vectors:
        (place,) = vectors
        name, column = names[place], table.column(place)
        if others := known_names(repr(x) for i, x in enumerate(names) if i != place):
            warn_user(f"the data frame: column {name!r} taken, left out: {others}")
        return list_matrix(column.chunks, len(column), f"column {name!r}"), None
    matrix = number_matrix(fields, table.columns, len(table), "the data frame")
    return _named(matrix, frame.columns if hasattr(frame, "iloc") else names)


def _named(
    matrix: NDArray[Any], columns: Iterable[Any]
) -> tuple[NDArray[Any], list[str] | None]:
    """Return a matrix with the names of its columns, of which none comes twice."""
    labels = list(columns)
    if labels == [*range(len(labels))]:
        return matrix, None
    names = [*map(str, labels)]
    if len(set(names)) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise FeatureError(
            f"the data frame has several columns called {twice!r}; rename them"
        )
    return matrix, names


def _of_array(items: Any, name: str) -> NDArray[Any]:
    """Return an array of any dtype, of what is neither a frame nor a column."""
    if isinstance(items, np.ma.MaskedArray):
        if np.ma.is_masked(items):
            raise FeatureError(f"{name} are a masked array; fill its gaps first")
        items = items.data
    if isinstance(items, np.ndarray):
        return items if isinstance(items, np.memmap) else np.asarray(items)
    if hasattr(items, "toarray") or getattr(items, "is_sparse", False):
        way = "toarray" if hasattr(items, "toarray") else "to_dense"
        raise FeatureError(
            f"{name} are a sparse {type(items).__name__}; give X.{way}(), block by "
            "block where that is too large"
        )
    try:
        if hasattr(items, "requires_grad"):  # a tensor of torch
            items = items.detach().cpu()
            is_short = str(items.dtype) == "torch.bfloat16"  # which NumPy has not
            items = items.float() if is_short else items
        array = np.asarray(items)
    except (ValueError, TypeError, RuntimeError) as error:
        reason = " ".join(str(error).split())
        if "inhomogeneous" in reason:
            reason = "their rows have several lengths"
        raise FeatureError(f"{name} are not a matrix: {reason}") from None
    if array.dtype == object and array.ndim == 0:
        raise NoNumberError(f"{name} must be a matrix of numbers, got {a_kind(items)}")
    return array


def _of_objects(array: NDArray[np.object_], name: str) -> NDArray[Any]:
    """Return an array of Python's numbers as float64; of vectors, as a matrix."""
    first = array[0] if array.ndim == 1 and len(array) else None
    is_array = isinstance(first, np.ndarray) and first.ndim > 0
    if is_array or isinstance(first, list | tuple):
        try:
            matrix = np.asarray(array.tolist())
        except ValueError as error:
            raise FeatureError(f"{name} are not a matrix: {error}") from None
        return _of_objects(matrix, name) if matrix.dtype == object else matrix
    for kind in set(map(type, array.ravel().tolist())):
        if issubclass(kind, Number | np.bool_) and not issubclass(kind, complex):
            continue
        place = next(i for i, value in np.ndenumerate(array) if type(value) is kind)
        axes = zip(("row", "column"), place, strict=False)
        where = ", ".join(f"{axis} {i}" for axis, i in axes)
        if kind is type(None) or kind.__name__ == "NAType":
            raise FeatureError(f"{name} must be real numbers, got no value in {where}")
        reason = ""
        try:
            float(array[place])
        except TypeError as error:  # scikit-learn's tests look for Python's own words
            reason = f" ({error})"
        except Exception:  # of whatever class that is
            pass
        raise NoNumberError(
            f"{name} must be real numbers, got {kind.__name__} in {where}{reason}"
        )
    try:
        return array.astype(np.float64)
    except OverflowError:
        raise FeatureError(f"{name} hold an integer too large for float64") from None
    except (TypeError, ValueError) as error:
        raise FeatureError(f"{name} must be real numbers: {error}") from None


def number_matrix(
    fields: Sequence[Any], columns: Iterable[Any], n_rows: int, source: str
) -> NDArray[Any]:
    """Return columns of numbers side by side, in the smallest type that holds all.

    They come one after the other, so that not all need be in memory.
    """
    for field in fields:
        if not (is_number(field.type) or pa.types.is_boolean(field.type)):
            kind = "string" if is_text(field.type) else field.type
            raise FeatureError(
                f"column {field.name!r} of {source} holds {kind}, not numbers"
            )
    kinds = {field.type.to_pandas_dtype() for field in fields}
    dtype = np.result_type(*kinds) if kinds else np.float64
    matrix = np.empty((n_rows, len(fields)), dtype)
    for j, (field, column) in enumerate(zip(fields, columns, strict=True)):
        matrix[:, j] = _numbers(column, f"column {field.name!r} of {source}")
    return matrix


def _numbers(column: Any, what: str) -> NDArray[Any]:
    if column.null_count:
        raise FeatureError(missing_message(column, what))
    return np.asarray(column.to_numpy())


def list_matrix(chunks: Iterable[Any], n_rows: int, what: str) -> NDArray[Any]:
    """Return lists of numbers of one length as a matrix; no copy of a single chunk."""
    matrix, start = np.empty((0, 0)), 0
    for chunk in chunks:
        if not len(chunk):
            continue
        if chunk.null_count:
            raise FeatureError(missing_message(chunk, what, start))
        values = chunk.flatten()  # what the rows of a slice hold, and no more
        if pa.types.is_fixed_size_list(chunk.type):
            lengths = np.full(len(chunk), chunk.type.list_size)
        else:
            lengths = chunk.value_lengths().to_numpy(zero_copy_only=False)
        if values.null_count:
            place = pc.index(values.is_null(), True).as_py()
            row = int(np.searchsorted(np.cumsum(lengths), place, side="right"))
            raise FeatureError(f"{what} lacks a number in row {start + row}")
        width = matrix.shape[1] if start else int(lengths[0])
        if (lengths != width).any():
            row = int(np.argmax(lengths != width))
            raise FeatureError(
                f"{what} has vectors of several lengths: {width} numbers in row 0, "
                f"{lengths[row]} in row {start + row}"
            )
        rows = np.asarray(values.to_numpy(zero_copy_only=False))
        rows = rows.reshape(len(chunk), width)
        if len(rows) == n_rows:
            return rows
        if not start:
            matrix = np.empty((n_rows, width), rows.dtype)
        matrix[start : start + len(rows)] = rows
        start += len(rows)
    return matrix


# Checks of columns


def missing_message(column: Any, what: str, first_row: int = 0) -> str:
    """Return the message that a column has gaps."""
    n, row = column.null_count, pc.index(column.is_null(), True).as_py()
    more = f", nor in {n - 1} more" * (n > 1)
    return f"{what} has no value in row {first_row + row}{more}"


def repeated(column: Any) -> tuple[Any, int] | None:
    """Return a value that a column holds more than once, and how often."""
    if len(column) < 2:
        return None
    counts = pc.value_counts(column)
    if len(counts) == len(column):
        return None
    twice = counts.filter(pc.greater(counts.field("counts"), 1))[0]
    return twice["values"].as_py(), twice["counts"].as_py()

"""Feature matrices of any type as NumPy arrays; Arrow columns chunk by chunk."""

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fewbits._arrow._frames import as_column, as_frame, as_table, is_column, is_frame
from fewbits._arrow._kinds import is_flag, is_list, is_number, is_text, known_names
from fewbits._arrow._objects import NoNumberError, as_numbers
from fewbits._warnings import warn_user
from fewbits.errors import ArgumentError, FeatureError, a_kind


def as_array(items: Any, name: str = "features") -> NDArray[Any]:
    """Return what holds numbers as an array of them; memory maps stay memory maps.

    The one door of features given in Python: every function that takes them accepts
    and refuses the same objects with the same words.

    Parameters
    ----------
    items : array-like, tensor, data frame of numbers, or column of vectors
    name : str
        What the numbers are, for messages.

    Raises
    ------
    FeatureError
        When something is not a real number, a value is missing or masked, rows differ
        in length, or columns share a name.

    Examples
    --------
    >>> import pyarrow as pa
    >>> as_array(pa.table({"a": [1, 2], "b": [0.5, 1.0]}))
    array([[1. , 0.5],
           [2. , 1. ]])
    """
    return named_array(items, name)[0]


def named_array(
    items: Any, name: str = "features"
) -> tuple[NDArray[Any], list[str] | None]:
    """Return what `as_array` does, and the names of columns that lie side by side.

    Names that are not texts are none, as in scikit-learn.
    """
    if not isinstance(items, np.ndarray):
        items = as_frame(items)
    if type(items) is np.ndarray:  # as most are; asking what else it is takes longer
        array = items
    elif is_frame(items):
        return _of_frame(items)
    else:
        array = _of_column(items) if is_column(items) else _of_array(items, name)
    if array.dtype == object:
        array = as_numbers(array, name)
    if array.dtype.kind == "c":
        raise FeatureError(
            f"Complex data not supported: {name} must be real numbers, got dtype "
            f"{array.dtype}"
        )
    if array.dtype.kind not in "fiub":
        raise FeatureError(
            f"{name} must be real numbers, got dtype {array.dtype}; convert it"
        )
    return array, None


def _of_frame(frame: Any) -> tuple[NDArray[Any], list[str] | None]:
    plain = _plain_pandas(frame)
    if plain is not None:
        return plain, _checked_names(frame.columns)
    table = as_table(frame)
    if table.num_columns == 1 and is_list(table.schema.field(0).type):
        return list_matrix(table.column(0), f"column {table.column_names[0]!r}"), None
    vectors = [i for i, each in enumerate(table.schema) if is_list(each.type)]
    if vectors:
        return _only_vectors(table, vectors), None
    named = frame.columns if hasattr(frame, "iloc") else table.column_names
    names = _checked_names(named)
    return number_matrix(table, range(table.num_columns), "the data frame"), names


def _only_vectors(table: Any, places: Sequence[int]) -> NDArray[Any]:
    """Return the only column of vectors, if nothing else could be meant."""
    names = table.column_names
    texts = [i for i, each in enumerate(table.schema) if is_text(each.type)]
    if len(places) > 1 or texts:
        found = known_names(names[i] for i in sorted([*places, *texts]))
        raise FeatureError(
            f"the data frame has {len(places) + len(texts)} columns of texts or "
            f"vectors ({found}); give one, such as items[{names[places[0]]!r}]"
        )
    (place,) = places
    left_out = known_names(repr(x) for i, x in enumerate(names) if i != place)
    warn_user(f"the data frame: column {names[place]!r} taken, left out: {left_out}")
    return list_matrix(table.column(place), f"column {names[place]!r}")


def _checked_names(columns: Iterable[Any]) -> list[str] | None:
    """Return the names of columns, if they are texts; none may be there twice."""
    names = list(columns)
    if len(set(names)) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise FeatureError(
            f"the data frame has several columns called {twice!r}; rename them"
        )
    return names if all(isinstance(name, str) for name in names) else None


def _of_column(items: Any) -> NDArray[Any]:
    column = as_column(items)
    if is_list(column.type):
        return list_matrix(column, "the column")
    if is_number(column.type):
        return _numbers(column, "the column")
    raise FeatureError(f"the column holds {column.type}, not vectors")


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
        array = np.asarray(_without_gradient(items))
    except (ValueError, TypeError, RuntimeError) as error:
        reason = " ".join(str(error).split())
        raise FeatureError(f"{name} are not a matrix: {reason}") from None
    if array.dtype == object and array.ndim == 0:
        raise NoNumberError(f"{name} must be a matrix of numbers, got {a_kind(items)}")
    return array


def _without_gradient(items: Any) -> Any:
    """Return a tensor of torch as one that NumPy can read; anything else as it is."""
    if not hasattr(items, "requires_grad"):
        return items
    tensor = items.detach().cpu()
    return tensor.float() if str(tensor.dtype) == "torch.bfloat16" else tensor


def number_matrix(table: Any, places: Sequence[int], source: str) -> NDArray[Any]:
    """Return columns of numbers side by side, in the smallest type that holds all.

    Raises
    ------
    FeatureError
        When one holds something else, or a value is missing.
    """
    fields = [table.schema.field(i) for i in places]
    for field in fields:
        if not (is_number(field.type) or is_flag(field.type)):
            raise FeatureError(
                f"column {field.name!r} of {source} holds {field.type}, not numbers"
            )
    kinds = {field.type.to_pandas_dtype() for field in fields}
    dtype = np.result_type(*kinds) if kinds else np.float64
    matrix = np.empty((table.num_rows, len(fields)), dtype)
    for j, (i, field) in enumerate(zip(places, fields, strict=True)):
        what = f"column {field.name!r} of {source}"
        matrix[:, j] = _numbers(table.column(i), what)
    return matrix


def list_matrix(column: Any, what: str, first_row: int = 0) -> NDArray[Any]:
    """Return a column of lists of numbers as a matrix; no copy of a single chunk.

    Parameters
    ----------
    column : pyarrow.ChunkedArray
        Of lists, all of one length; may hold more numbers than a list column of 32-bit
        offsets.
    what : str
        Names the column in messages.
    first_row : int, default=0
        Number of its first row, where it is a part of a longer one.

    Raises
    ------
    FeatureError
        When a list or a number is missing, or lengths differ.
    """
    if column.null_count:
        raise FeatureError(missing_message(column, what, first_row))
    chunks, start = [], first_row
    for chunk in column.chunks:
        chunks.append(_list_rows(chunk, what, start))
        start += len(chunk)
    widths = {rows.shape[1] for rows in chunks if len(rows)}
    if len(widths) > 1:
        raise FeatureError(f"{what} has vectors of several lengths")
    if len(chunks) == 1:
        return chunks[0]
    width = widths.pop() if widths else 0
    matrix = np.empty((len(column), width), chunks[0].dtype if chunks else np.float64)
    start = 0
    for rows in chunks:
        matrix[start : start + len(rows)] = rows if len(rows) else 0
        start += len(rows)
    return matrix


def missing_message(column: Any, what: str, first_row: int = 0) -> str:
    """Return the message that a column has gaps."""
    import pyarrow.compute as pc

    n, row = column.null_count, pc.index(column.is_null(), True).as_py()
    more = f", nor in {n - 1} more" * (n > 1)
    return f"{what} has no value in row {first_row + row}{more}"


def check_no_blank(column: Any, what: str) -> None:
    """Refuse ids that are white space alone, or nothing."""
    import pyarrow.compute as pc

    row = pc.index(pc.match_substring_regex(column, r"^\s*$"), True).as_py()
    if row >= 0:
        raise ArgumentError(f"{what} has a blank id in row {row}")


def repeated(column: Any) -> tuple[Any, int] | None:
    """Return a value that a column holds more than once, and how often."""
    import pyarrow.compute as pc

    counts = pc.value_counts(column)
    if len(counts) == len(column):
        return None
    twice = counts.filter(pc.greater(counts.field("counts"), 1))[0]
    return twice["values"].as_py(), twice["counts"].as_py()


def _list_rows(chunk: Any, what: str, first_row: int) -> NDArray[Any]:
    import pyarrow.compute as pc
    import pyarrow.types as types

    values = chunk.flatten()  # what the rows of a slice hold, and no more
    if types.is_fixed_size_list(chunk.type):
        lengths = np.full(len(chunk), chunk.type.list_size)
    else:
        lengths = chunk.value_lengths().to_numpy(zero_copy_only=False)
    if values.null_count:
        place = pc.index(values.is_null(), True).as_py()
        row = int(np.searchsorted(np.cumsum(lengths), place, side="right"))
        raise FeatureError(f"{what} lacks a number in row {first_row + row}")
    if len(lengths) and (lengths != lengths[0]).any():
        row = int(np.argmax(lengths != lengths[0]))
        raise FeatureError(
            f"{what} has vectors of several lengths: {lengths[0]} numbers in row "
            f"{first_row}, {lengths[row]} in row {first_row + row}"
        )
    width = int(lengths[0]) if len(lengths) else 0
    flat = values.to_numpy(zero_copy_only=False)
    return np.asarray(flat).reshape(len(chunk), width)


def _numbers(column: Any, what: str) -> NDArray[Any]:
    if column.null_count:
        raise FeatureError(missing_message(column, what))
    return np.asarray(column.to_numpy())


def _plain_pandas(frame: Any) -> NDArray[Any] | None:
    """Return a frame of NumPy's own numbers as it is, None for any other."""
    if not hasattr(frame, "iloc"):
        return None
    if all(isinstance(each, np.dtype) and each.kind in "fiub" for each in frame.dtypes):
        matrix = np.asarray(frame)  # of objects where truth values are among numbers
        return None if matrix.dtype == object else matrix
    return None

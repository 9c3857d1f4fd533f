"""Columns as values of Python, to be shown and written as JSON."""

from collections.abc import Iterator
from typing import Any

from fewbits._arrow._kinds import is_text


def python_values(column: Any) -> list[Any]:
    """Return the values of a column as plain Python has them.

    Times that Python's `datetime` cannot hold become texts in ISO 8601: those with
    nanoseconds, and years beyond 9999. Floats of 32 and 16 bits become the shortest
    number that is the same in that many bits: .4, not 0.4000000059604645.

    Examples
    --------
    >>> import pyarrow as pa
    >>> python_values(pa.chunked_array([pa.array([0.4, None], pa.float32())]))
    [0.4, None]
    >>> python_values(pa.chunked_array([pa.array([1], pa.timestamp("ns"))]))
    ['1970-01-01T00:00:00.000000001']
    """
    import pyarrow as pa
    import pyarrow.types as types

    kind = column.type
    if types.is_dictionary(kind) and not is_text(kind.value_type):
        column, kind = column.cast(kind.value_type), kind.value_type
    lists = (types.is_list, types.is_large_list, types.is_fixed_size_list)
    if any(is_one(kind) for is_one in lists):
        return [row for chunk in column.chunks for row in _rows_of_lists(chunk)]
    if types.is_struct(kind):
        return [row for chunk in column.chunks for row in _rows_of_structs(chunk)]
    if types.is_float32(kind) or types.is_float16(kind):
        return _shortest(column)
    if types.is_date(kind) or types.is_timestamp(kind):
        column = column if _fits_python(column) else column.cast(pa.string())
    if getattr(column.type, "unit", None) == "ns":
        return _of_nanoseconds(column)
    if types.is_temporal(kind) and pa.types.is_string(column.type):
        return _iso(column)
    values: list[Any] = column.to_pylist()
    return values


def _rows_of_lists(chunk: Any) -> Iterator[Any]:
    import pyarrow as pa

    members = python_values(pa.chunked_array([chunk.flatten()]))
    start = 0
    for length in _lengths(chunk):
        yield None if length is None else members[start : start + length]
        start += length or 0


def _lengths(chunk: Any) -> list[int | None]:
    if not hasattr(chunk, "value_lengths"):  # all lists are of one length
        size = chunk.type.list_size
        return [None if gap else size for gap in chunk.is_null().to_pylist()]
    lengths: list[int | None] = chunk.value_lengths().to_pylist()
    return lengths


def _rows_of_structs(chunk: Any) -> Iterator[Any]:
    import pyarrow as pa

    names = [field.name for field in chunk.type]
    columns = [python_values(pa.chunked_array([each])) for each in chunk.flatten()]
    for row, is_missing in enumerate(chunk.is_null().to_pylist()):
        found = {name: x[row] for name, x in zip(names, columns, strict=True)}
        yield None if is_missing else found


def _shortest(column: Any) -> list[Any]:
    numbers = column.to_numpy(zero_copy_only=False)
    dtype = column.type.to_pandas_dtype()
    found = [float(str(dtype(number))) for number in numbers]
    if column.null_count:
        gaps = column.is_null().to_pylist()
        return [None if gap else x for gap, x in zip(gaps, found, strict=True)]
    return found


def _fits_python(column: Any) -> bool:
    """Return whether years lie between 1 and 9999, as those of `datetime` do."""
    import pyarrow as pa
    import pyarrow.compute as pc
    import pyarrow.types as types

    if types.is_timestamp(column.type):
        column = column.cast(pa.timestamp(column.type.unit))  # UTC needs no zones
    years = pc.min_max(pc.year(column))
    low, high = years["min"].as_py(), years["max"].as_py()
    return low is None or 1 <= low <= high <= 9999


def _of_nanoseconds(column: Any) -> list[Any]:
    """Return times of Python where they are whole microseconds; else texts."""
    import pyarrow as pa
    import pyarrow.compute as pc
    import pyarrow.types as types

    kind = column.type
    if types.is_timestamp(kind):
        wanted = pa.timestamp("us", kind.tz)
    else:
        wanted = pa.time64("us") if types.is_time(kind) else pa.duration("us")
    whole = column.cast(wanted, safe=False)
    exact = pc.equal(whole.cast(kind), column).to_pylist()
    times, texts = whole.to_pylist(), _iso(column.cast(pa.string()))
    return [
        text if is_exact is False else time
        for time, text, is_exact in zip(times, texts, exact, strict=True)
    ]


def _iso(column: Any) -> list[str | None]:
    """Return times written by Arrow as ISO 8601 has them."""
    texts = column.to_pylist()
    return [None if text is None else text.replace(" ", "T", 1) for text in texts]

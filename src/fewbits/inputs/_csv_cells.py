"""Columns of CSV as numbers or dates, where nothing is lost by it."""

from typing import Any

from fewbits._arrow import is_text
from fewbits.inputs._cells import PLAIN_NUMBER, matches

_FIRST = 50  # rows examined to recognise words
#: ISO 8601 as Arrow reads it, to microseconds.
_DATE = r"\d{4}-\d{2}-\d{2}"
_TIME = r"[T ]\d{2}:\d{2}(?::\d{2}(?:\.\d{1,6})?)?"
_OFFSET = r"(?:Z|[+-]\d{2}(?::?\d{2})?)"
#: What stands for a missing number.
MISSING = ("", "NA", "N/A", "n/a", "#N/A", "NaN", "nan", "NULL", "null", "None")


def as_typed(column: Any, *, dates: bool = True) -> Any:
    """Return a column of texts as what all of its cells are, if nothing is lost by it.

    Truth values, integers, floats, dates or timestamps; empty cells are missing.

    Examples
    --------
    >>> import pyarrow as pa
    >>> texts = pa.chunked_array([["1", "2.5", "NA"]], pa.large_string())
    >>> as_typed(texts).to_pylist(), as_typed(pa.chunked_array([["007"]])).to_pylist()
    ([1.0, 2.5, None], ['007'])
    """
    if not len(column) or _begins_with_words(column, dates):
        return without_empty(column)
    numbers = _as_numbers(column)
    if numbers is not None:
        return numbers
    known = without_empty(column)
    moments = _as_moments(known) if dates else None
    return known if moments is None else moments


def _as_numbers(column: Any) -> Any:
    """Return truth values, integers or floats, if all cells are such or gaps."""
    import pyarrow as pa
    import pyarrow.compute as pc

    trimmed = pc.ascii_trim_whitespace(column)
    gap = _is_gap(column)
    if pc.all(gap).as_py():
        return None
    known = pc.if_else(gap, _missing(), trimmed)
    if pc.all(matches(known, "^(true|false|True|False|TRUE|FALSE)$")).as_py():
        return known.cast(pa.bool_())
    for kind in (pa.int64(), pa.float64()):
        try:
            numbers = known.cast(kind)
        except pa.ArrowInvalid:
            continue
        return None if _changed(known, kind) else numbers
    return None


def _as_moments(column: Any) -> Any:
    """Return dates or timestamps, if all texts are such in ISO 8601, to the last one.

    Those with an offset become UTC. Years are those that Python has, 1 to 9999.
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    for pattern, kind in (
        (f"^{_DATE}$", pa.date32()),
        (f"^{_DATE}{_TIME}$", pa.timestamp("us")),
        (f"^{_DATE}{_TIME}{_OFFSET}$", pa.timestamp("us", "UTC")),
    ):
        if not pc.all(matches(column, pattern)).as_py():
            continue
        try:
            found = column.cast(kind)
        except pa.ArrowInvalid:  # such as of February 30
            return None
        years = pc.min_max(pc.year(found))
        return (
            found if 1 <= years["min"].as_py() <= years["max"].as_py() <= 9999 else None
        )
    return None


def without_empty(column: Any) -> Any:
    """Return a column of texts whose empty cells are missing, quoted or not.

    As pandas and DuckDB read them: CSV cannot distinguish the two.
    """
    import pyarrow.compute as pc

    empty = pc.equal(pc.binary_length(column), 0)
    return pc.if_else(empty, _missing(), column) if pc.any(empty).as_py() else column


def without_gaps(column: Any) -> Any:
    """Return labels as they are written, but for ``NA`` and the like among numbers."""
    import pyarrow.compute as pc

    gap = _is_gap(column)
    if not pc.all(pc.or_(gap, matches(column, PLAIN_NUMBER))).as_py():
        return without_empty(column)
    return pc.if_else(gap, _missing(), pc.ascii_trim_whitespace(column))


def _missing() -> Any:
    import pyarrow as pa

    return pa.scalar(None, pa.large_string())


def _is_gap(column: Any) -> Any:
    """Return for each cell of a column whether it stands for a missing number."""
    import pyarrow as pa
    import pyarrow.compute as pc

    gaps = pa.array(MISSING, pa.large_string())
    return pc.is_in(pc.ascii_trim_whitespace(column), value_set=gaps)


def _begins_with_words(column: Any, dates: bool) -> bool:
    """Return whether the first text is a word, to spare reading all."""
    import pyarrow.compute as pc

    head = column[:_FIRST]
    if len(head) == len(column) or pc.all(_is_gap(head)).as_py():
        return False
    return is_text(as_typed(head, dates=dates).type)


def _changed(texts: Any, kind: Any) -> bool:
    """Return whether numbers would lose leading zeros or digits."""
    import pyarrow as pa
    import pyarrow.compute as pc

    led = pc.match_substring_regex(texts, r"^[+-]?0[\dxX]")
    if pc.any(led).as_py():
        return True
    if kind == pa.int64():
        return False
    whole = pc.match_substring_regex(texts, r"^[+-]?\d{16,}$")
    too_large = pc.and_(
        pc.is_inf(texts.cast(kind)), pc.match_substring_regex(texts, r"\d")
    )
    return bool(pc.any(pc.or_(whole, too_large)).as_py())

"""Columns of CSV as numbers, where nothing is lost by it."""

from typing import Any

from fewbits._arrow import is_text
from fewbits.inputs._cells import PLAIN_NUMBER, matches

_FIRST = 50  # rows that tell words
#: What stands for a missing number.
MISSING = ("", "NA", "N/A", "n/a", "#N/A", "NaN", "nan", "NULL", "null", "None")


def as_typed(column: Any) -> Any:
    """Return a column of texts as truth values or numbers where nothing is lost by it.

    Examples
    --------
    >>> import pyarrow as pa
    >>> texts = pa.chunked_array([["1", "2.5", "NA"]], pa.large_string())
    >>> as_typed(texts).to_pylist(), as_typed(pa.chunked_array([["007"]])).to_pylist()
    ([1.0, 2.5, None], ['007'])
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    if not len(column) or _begins_with_words(column):
        return column
    trimmed = pc.ascii_trim_whitespace(column)
    gap = _is_gap(column)
    if pc.all(gap).as_py():
        return column
    known = pc.if_else(gap, pa.scalar(None, pa.large_string()), trimmed)
    if pc.all(matches(known, "^(true|false|True|False|TRUE|FALSE)$")).as_py():
        return known.cast(pa.bool_())
    for kind in (pa.int64(), pa.float64()):
        try:
            numbers = known.cast(kind)
        except pa.ArrowInvalid:
            continue
        return column if _changed(known, kind) else numbers
    return column


def without_gaps(column: Any) -> Any:
    """Return labels as they are written, but for ``NA`` and the like among numbers."""
    import pyarrow as pa
    import pyarrow.compute as pc

    gap = _is_gap(column)
    if not pc.all(pc.or_(gap, matches(column, PLAIN_NUMBER))).as_py():
        return column
    trimmed = pc.ascii_trim_whitespace(column)
    return pc.if_else(gap, pa.scalar(None, pa.large_string()), trimmed)


def _is_gap(column: Any) -> Any:
    """Tell for each cell of a column whether it stands for a missing number."""
    import pyarrow as pa
    import pyarrow.compute as pc

    gaps = pa.array(MISSING, pa.large_string())
    return pc.is_in(pc.ascii_trim_whitespace(column), value_set=gaps)


def _begins_with_words(column: Any) -> bool:
    """Tell a column of texts by the first of them, which spares reading all."""
    import pyarrow.compute as pc

    head = column[:_FIRST]
    if len(head) == len(column) or pc.all(_is_gap(head)).as_py():
        return False
    return is_text(as_typed(head).type)


def _changed(texts: Any, kind: Any) -> bool:
    """Tell whether numbers would lose what is written: leading zeros, or digits."""
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

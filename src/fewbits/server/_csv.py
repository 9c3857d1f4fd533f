"""Tables as CSV that a spreadsheet does not take for formulas."""

import io
from typing import Any

from fewbits._json import to_json
from fewbits.errors import ArgumentError, one_line

CSV = "text/csv"
#: What begins a formula in a spreadsheet (OWASP, "CSV Injection").
_FORMULA = "^[=+\\-@\t\r\n＝＋－＠]"


def csv_of(table: Any, *, header: bool = True) -> bytes:
    """Return a table as CSV; codes in hexadecimal, lists and bytes as JSON.

    Texts that a spreadsheet would compute, and such names of columns, begin with an
    apostrophe. Numbers stay as they are.

    Parameters
    ----------
    table : pyarrow.Table
    header : bool, default=True
        Begin with the names of the columns.
    """
    import pyarrow as pa
    from pyarrow import csv

    columns = [
        _plain(name, column)
        for name, column in zip(table.column_names, table.columns, strict=True)
    ]
    names = _quoted(pa.array(table.column_names, pa.string())).to_pylist()
    sink = io.BytesIO()
    options = csv.WriteOptions(include_header=header)
    try:
        csv.write_csv(pa.table(columns, names), sink, options)
    except pa.ArrowException as error:
        raise ArgumentError(f"CSV cannot hold this: {one_line(error)}") from None
    return sink.getvalue()


def _plain(name: str, column: Any) -> Any:
    """Return a column whose values CSV has a form for."""
    import pyarrow as pa

    from fewbits._arrow import is_text

    if name == "_code":
        return pa.array([code.hex() for code in column.to_pylist()], pa.string())
    if pa.types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    if pa.types.is_string_view(column.type):
        column = column.cast(pa.string())
    if pa.types.is_nested(column.type) or pa.types.is_binary(column.type):
        texts = [None if x is None else to_json(x) for x in column.to_pylist()]
        column = pa.chunked_array([pa.array(texts, pa.string())])
    return _quoted(column) if is_text(column.type) else column


def _quoted(texts: Any) -> Any:
    import pyarrow as pa
    import pyarrow.compute as pc

    apart = pc.binary_join_element_wise(
        pa.scalar("'", texts.type), texts, pa.scalar("", texts.type)
    )
    return pc.if_else(pc.match_substring_regex(texts, _FORMULA), apart, texts)

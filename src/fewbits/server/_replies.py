"""Answers as JSON, Arrow, CSV, Parquet or bytes."""

import io
from typing import Any

from fastapi import Request, Response

from fewbits._arrow import is_text
from fewbits._json import to_json
from fewbits.client.wire import ARROW, JSON, write_stream
from fewbits.errors import ArgumentError, one_line
from fewbits.server._items import records_of
from fewbits.store import CODE

CSV = "text/csv"
PARQUET = "application/vnd.apache.parquet"
_PIECE = 1000  # values of a list that are written at a time
#: What begins a formula in a spreadsheet (OWASP, "CSV Injection").
_FORMULA = "^[=+\\-@\t\r\n＝＋－＠]"


def in_bytes(size: int) -> str:
    """Return a number of bytes in the unit that it is read in.

    Examples
    --------
    >>> in_bytes(33_554_432), in_bytes(900)
    ('33.6 MB', '900 bytes')
    """
    return f"{size / 1e6:,.1f} MB" if size >= 1e5 else f"{size:,} bytes"


def accepts(request: Request, kind: str) -> bool:
    """Return whether a request names a media type as what it takes."""
    header = request.headers.get("accept", "").split(",")
    return kind in (part.split(";")[0].strip().lower() for part in header)


class Json(Response):
    """A JSON response of plain values, whatever the user's columns hold.

    Its lists are written in pieces: a writer keeps all other threads from Python.
    """

    media_type = JSON

    def render(self, content: Any) -> bytes:
        if isinstance(content, bytes):
            return content
        fields = (f"{to_json(x)}: {_json_text(value)}" for x, value in content.items())
        return f"{{{', '.join(fields)}}}".encode()


def _json_text(value: Any) -> str:
    if not isinstance(value, list):
        return to_json(value)
    size = 1 if value and isinstance(value[0], list) else _PIECE
    pieces = (to_json(value[i : i + size])[1:-1] for i in range(0, len(value), size))
    return f"[{', '.join(pieces)}]"


def arrow_reply(table: Any, **fields: Any) -> Response:
    """Return a table, and other fields of the answer, as a stream."""
    return Response(write_stream(table, to_json(fields)), media_type=ARROW)


# Items: the tables of `tools.take`.


def items_reply(table: Any, request: Request, default: str) -> Response:
    """Return items in the form that a request accepts, of a size that memory holds."""
    most: int = request.app.state.settings.max_held_bytes
    if table.nbytes > most:
        raise ArgumentError(
            f"these items have {in_bytes(table.nbytes)}; {in_bytes(most)} are allowed: "
            "ask in parts"
        )
    kinds = [kind for kind in (ARROW, PARQUET, CSV, JSON) if accepts(request, kind)]
    kind = kinds[0] if kinds else default
    if kind == ARROW:
        return arrow_reply(table)
    if kind == PARQUET:
        from pyarrow import parquet

        sink = io.BytesIO()
        parquet.write_table(table, sink)
        return Response(sink.getvalue(), media_type=PARQUET)
    if kind == CSV:
        return Response(csv_of(table), media_type=CSV)
    return Json({"items": records_of(table)})


def csv_of(table: Any, *, header: bool = True) -> bytes:
    """Return a table as CSV that a spreadsheet does not take for formulas.

    Codes are in hexadecimal, lists and bytes JSON. Texts that a spreadsheet would
    compute, and such names of columns, begin with an apostrophe. Numbers stay as they
    are.
    """
    import pyarrow as pa
    from pyarrow import csv

    columns = []
    for name, column in zip(table.column_names, table.columns, strict=True):
        if name == CODE:
            column = pa.array([code.hex() for code in column.to_pylist()], pa.string())
            columns.append(column)
            continue
        if pa.types.is_dictionary(column.type):
            column = column.cast(column.type.value_type)
        if pa.types.is_string_view(column.type):
            column = column.cast(pa.string())
        if pa.types.is_nested(column.type) or pa.types.is_binary(column.type):
            texts = [None if x is None else to_json(x) for x in column.to_pylist()]
            column = pa.chunked_array([pa.array(texts, pa.string())])
        columns.append(_quoted(column) if is_text(column.type) else column)
    names = _quoted(pa.array(table.column_names, pa.string())).to_pylist()
    sink = io.BytesIO()
    options = csv.WriteOptions(include_header=header)
    try:
        csv.write_csv(pa.table(columns, names), sink, options)
    except pa.ArrowException as error:
        raise ArgumentError(f"CSV cannot hold this: {one_line(error)}") from None
    return sink.getvalue()


def _quoted(texts: Any) -> Any:
    import pyarrow as pa
    import pyarrow.compute as pc

    apart = pc.binary_join_element_wise(
        pa.scalar("'", texts.type), texts, pa.scalar("", texts.type)
    )
    return pc.if_else(pc.match_substring_regex(texts, _FORMULA), apart, texts)

"""Items as files that other tools read."""

import io
from typing import Any

import numpy as np
from fastapi import Request, Response

from fewbits import engine
from fewbits._typing import IdArray
from fewbits.client.wire import ARROW
from fewbits.engine.rows import item_rows
from fewbits.errors import ArgumentError
from fewbits.server._arrow import items_table
from fewbits.server._csv import CSV, csv_of
from fewbits.server._errors import in_bytes
from fewbits.server._models import ItemsBody
from fewbits.server._reply import Json, accepts, arrow_reply
from fewbits.server._served import Served

_MOST_BYTES = 256 << 20  # of a table, before it is written
_FEW = 1000  # items whose size is not looked at first
PARQUET = "application/vnd.apache.parquet"


def items_answer(served: Served, body: ItemsBody, request: Request) -> Response:
    """Return items in the form that a request accepts."""
    asked = engine.ItemsRequest(body.ids, body.positions)
    count = len(body.ids if body.positions is None else body.positions)  # type: ignore[arg-type]
    if count > served.settings.max_hits:
        raise ArgumentError(f"at most {served.settings.max_hits:,} items, got {count}")
    if body.skip_unknown and body.ids is not None:
        known = served.bundle.collection.known_rows(body.ids)
        asked = engine.ItemsRequest(positions=known)
    rows = item_rows(served.bundle, asked)
    check_distinct(rows)
    for kind, write in ((CSV, csv_of), (PARQUET, _parquet), (ARROW, None)):
        if accepts(request, kind):
            table = checked_size(items_table(served.bundle, rows))
            if write is None:
                return arrow_reply(table)
            return Response(write(table), media_type=kind)
    return items_json(served, rows)


def items_json(served: Served, rows: IdArray) -> Response:
    """Return items by their rows."""
    if len(rows) > _FEW:
        checked_size(served.bundle.collection.table_at(rows))
    asked = engine.ItemsRequest(positions=rows)
    return Json(engine.items(served.bundle, asked).to_dict())


def check_distinct(rows: IdArray) -> None:
    """Refuse items that are asked for twice: an answer has each once."""
    if len(np.unique(rows)) < len(rows):
        raise ArgumentError("ask for each item once")


def checked_size(table: Any) -> Any:
    """Return a table that is not too large to be written in memory."""
    if table.nbytes > _MOST_BYTES:
        raise ArgumentError(
            f"these items have {in_bytes(table.nbytes)}; {in_bytes(_MOST_BYTES)} are "
            "allowed: ask in parts"
        )
    return table


def table_answer(table: Any, request: Request) -> Response:
    """Return a table in the form that a request accepts, or as CSV."""
    checked_size(table)
    if accepts(request, ARROW):
        return arrow_reply(table)
    if accepts(request, PARQUET):
        return Response(_parquet(table), media_type=PARQUET)
    return Response(csv_of(table), media_type=CSV)


def _parquet(table: Any) -> bytes:
    from pyarrow import parquet

    sink = io.BytesIO()
    parquet.write_table(table, sink)
    return sink.getvalue()

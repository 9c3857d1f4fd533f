"""Bodies of requests, read once and in bounds: JSON, Arrow, or an image."""

import asyncio
import difflib
import json
import math
import reprlib
import struct
from typing import Any, TypeVar

from fastapi import Request
from pydantic import ValidationError

from fewbits.client.wire import ARROW, JSON, read_stream
from fewbits.errors import ArgumentError, one_line
from fewbits.server._bodies import Body
from fewbits.server._errors import ApiError
from fewbits.server._replies import in_bytes

B = TypeVar("B", bound=Body)
_INLINE = 64 << 10  # bytes that are parsed in less than a millisecond or two
_SHORT_FILTER = 200  # characters that are parsed in a millisecond or two
_FAULTS = 100  # that are looked at


async def read_body(
    request: Request, model: type[B], *, arrow: bool = False, image: bool = False
) -> B:
    """Return the body of a request.

    It may be a stream of Arrow, or an image, whose other fields are then parameters of
    the address.
    """
    header = request.headers.get("content-type", "")
    kind = header.split(";")[0].strip().lower()
    is_image = image and kind.startswith("image/")
    if not is_image and kind not in ((JSON, ARROW) if arrow else (JSON,)):
        hint = " (curl sends it by --json, not -d)" if "form" in kind else ""
        message = f"expected {JSON}, got {kind!r}{hint}"
        raise ApiError("unsupported_media_type", message)
    data = await request.body()
    if image and not is_image and request.scope["query_string"]:
        name = next(iter(request.query_params), "?")
        raise ArgumentError(
            f"{name[:100]!r} belongs in the body, not in the query string"
        )

    def parse() -> B:
        most: int = request.app.state.settings.max_json_bytes
        try:
            if is_image:
                params = request.query_params
                _refuse_duplicate_keys(params.multi_items())
                body = model.model_validate_strings(dict(params))
                body._image = data
            elif kind == ARROW:
                table, fields = request_stream(data)
                body = _of_json(model, fields, most)
                body._table = table
            else:
                body = _of_json(model, data, most)
        except ValidationError as error:
            if error.error_count() > _FAULTS:  # each would be described
                raise ArgumentError(
                    f"more than {_FAULTS} fields are unknown or of the wrong type"
                ) from None
            faults = error.errors(include_url=False)
            unknown = [fault for fault in faults if fault["type"] == "extra_forbidden"]
            fault = (unknown or faults)[0]
            where = ".".join(str(part) for part in fault["loc"])
            message = str(fault["msg"])
            if where:
                message = f"{where}: {message}, got {reprlib.repr(fault['input'])}"
            if unknown:
                message = f"unknown field {where[:100]!r}"
                if len(fault["loc"]) == 1:  # what is known within others is not told
                    names = [*model.model_fields]
                    near = difflib.get_close_matches(where[:100], names, 1)
                    hint = f" (did you mean {near[0]!r}?)" if near else ""
                    message += hint or f"; known: {', '.join(names)}"
            raise ArgumentError(message) from None
        body._size = len(data)
        return body

    inline = is_image or len(data) <= _INLINE
    body = parse() if inline else await asyncio.to_thread(parse)
    if len(vars(body).get("filter") or "") > _SHORT_FILTER:
        await asyncio.to_thread(body.check_patterns)
    else:
        body.check_patterns()
    return body


# JSON, and parameters of an address.


def _of_json(model: type[B], data: bytes, most: int) -> B:
    if len(data) > most:
        raise ApiError(
            "body_too_large",
            f"JSON has at most {in_bytes(most)}: ask in parts, send {ARROW}, or an "
            "image by itself, as image/png or whatever it is",
        )
    body = model.model_validate_json(data)  # which nests at most 200 deep
    # Each key brings a colon: where there are no more than fields, none comes twice,
    # and all numbers have been looked at.
    if data.count(b":") > len(body.model_fields_set):
        json.loads(
            data,
            object_pairs_hook=_refuse_duplicate_keys,
            parse_int=str,
            parse_float=_check_finite,
            parse_constant=_check_finite,
        )
    return body


def _refuse_duplicate_keys(pairs: list[tuple[str, Any]]) -> None:
    """Refuse a key that comes twice, of which others take either."""
    names = set()
    for name, _ in pairs:
        if name in names:
            raise ArgumentError(f"give {name[:100]!r} once")
        names.add(name)


def _check_finite(number: str) -> None:
    """Refuse NaN and infinity, which JSON does not have."""
    if not math.isfinite(float(number)):
        raise ArgumentError(f"a number must be finite, got {number[:20]}")


# Streams of Arrow: only such as take no more memory than they bring.

#: Of the tables Message and RecordBatch of Arrow's format, the places of fields.
_HEADER, _COMPRESSION = 2, 3


def request_stream(data: bytes) -> tuple[Any, bytes]:
    """Return what `read_stream` does, of a stream that is not larger than it seems.

    Compressed buffers are refused before they are unpacked. So are types whose values
    are stored once and stand in many rows, such as dictionaries and views.
    """
    import pyarrow as pa

    columns: list[Any] = []
    try:
        for message in pa.ipc.MessageReader.open_stream(data):
            if message.type == "schema":
                columns += pa.ipc.read_schema(message)
            if message.type == "record batch":  # whose head pyarrow has checked
                head = message.metadata.to_pybytes()
                (root,) = struct.unpack_from("<I", head, 0)
                if place := _field(head, root, _HEADER):
                    (offset,) = struct.unpack_from("<I", head, place)
                    if _field(head, place + offset, _COMPRESSION):
                        raise ArgumentError("send Arrow streams uncompressed")
    except ArgumentError:
        raise
    except (pa.ArrowException, OSError, ValueError, struct.error) as error:
        raise ArgumentError(f"not a stream of Arrow: {one_line(error)}") from None
    for column in columns:
        if not (pa.types.is_null(column.type) or _takes_memory(column.type)):
            raise ArgumentError(
                f"column {column.name!r} is of type {column.type}: send numbers, "
                "texts, bytes, times, or lists or structs of them"
            )
    table, fields = read_stream(data)
    if table.num_rows > len(data):  # which some types need no bytes for
        raise ArgumentError(f"{table.num_rows:,} rows are more than were sent")
    return table, fields


def _field(head: bytes, table: int, number: int) -> int:
    """Return where a field of a table of FlatBuffers is, or 0 if it has none."""
    (back,) = struct.unpack_from("<i", head, table)
    names = table - back
    (size,) = struct.unpack_from("<H", head, names)
    slot = 4 + 2 * number
    if slot >= size:
        return 0
    (offset,) = struct.unpack_from("<H", head, names + slot)
    return table + int(offset) if offset else 0


def _takes_memory(kind: Any) -> bool:
    """Return whether each value of a type takes memory of its own."""
    import pyarrow.types as types

    if types.is_fixed_size_list(kind):
        return bool(kind.list_size) and _takes_memory(kind.value_type)
    if types.is_list(kind) or types.is_large_list(kind) or types.is_map(kind):
        values = (kind.key_type, kind.item_type) if types.is_map(kind) else ()
        return all(map(_takes_memory, values or (kind.value_type,)))
    if types.is_struct(kind):
        return bool(kind.num_fields) and all(_takes_memory(x.type) for x in kind)
    if types.is_fixed_size_binary(kind):
        return bool(kind.byte_width)
    texts = types.is_string, types.is_large_string, types.is_decimal
    plain = *texts, types.is_binary, types.is_large_binary, types.is_primitive
    return any(is_one(kind) for is_one in plain)

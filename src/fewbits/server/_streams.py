"""Arrow streams of requests: only such as take no more memory than they bring."""

import struct
from typing import Any

from fewbits.client.wire import read_stream
from fewbits.errors import ArgumentError, one_line

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
            batch = message.type == "record batch"
            if batch and _is_compressed(message.metadata.to_pybytes()):
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


def _is_compressed(head: bytes) -> bool:
    """Look into the head of a record batch, which pyarrow has checked."""
    (root,) = struct.unpack_from("<I", head, 0)
    place = _field(head, root, _HEADER)
    if not place:
        return False
    (offset,) = struct.unpack_from("<I", head, place)
    return _field(head, place + offset, _COMPRESSION) != 0


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
